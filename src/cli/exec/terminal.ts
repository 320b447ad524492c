/** Whether a terminal stands behind this process, which decides who sends the job its signals. */

export interface Terminal {
  /** A terminal controls this process, even if none of its streams is one. */
  controls: boolean;
  /** What is typed there (Ctrl-C, Ctrl-\) goes to the process group that this process belongs to. */
  foreground: boolean;
}

export function terminalOf(): Terminal {
  try {
    const text = process.getBuiltinModule('node:fs').readFileSync('/proc/self/stat', 'latin1');
    // The name of the program comes before, in parentheses, and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [, , group, , terminal, foregroundGroup] = fields;
    return { controls: terminal !== '0', foreground: terminal !== '0' && group === foregroundGroup };
  } catch {
    const { isatty } = process.getBuiltinModule('node:tty');
    const some = [0, 1, 2].some((fd) => isatty(fd));
    return { controls: some, foreground: some };
  }
}
