/** Whether this process has a terminal, which decides who sends signals to the job. */

export interface Terminal {
  /** Whether this process has a controlling terminal, even if none of its streams is one. */
  controls: boolean;
  /** Whether keys typed there (Ctrl-C, Ctrl-\) signal the group of this process. */
  foreground: boolean;
}

export function terminalOf(): Terminal {
  try {
    const text = process.getBuiltinModule('node:fs').readFileSync('/proc/self/stat', 'latin1');
    // The fields follow the name of the program, which is in parentheses and may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [, , group, , terminal, foregroundGroup] = fields;
    return { controls: terminal !== '0', foreground: terminal !== '0' && group === foregroundGroup };
  } catch {
    const { isatty } = process.getBuiltinModule('node:tty');
    const some = [0, 1, 2].some((fd) => isatty(fd));
    return { controls: some, foreground: some };
  }
}
