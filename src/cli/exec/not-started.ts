/** Says why a command could not be started, in words, with the exit code that a shell would have. */

/** A kernel reads no more of the line that names an interpreter. */
const LONGEST_FIRST_LINE = 256;

const REASONS: Record<string, string> = {
  ENOENT: 'command not found',
  EACCES: 'permission denied',
  E2BIG: 'too many arguments',
};

/**
 * @param file the command as it was typed
 * @param path where commands without a slash are looked for: `PATH`
 * @returns 127 for a command that is not there or lacks its interpreter, 126 for one that cannot be run
 */
export function whyNotStarted(
  error: NodeJS.ErrnoException,
  file: string,
  path: string,
): { code: number; failure: string } {
  if (file === '') return { code: 127, failure: REASONS.ENOENT ?? '' };
  const { code = '' } = error;
  if (code !== 'ENOENT') return { code: 126, failure: REASONS[code] ?? (code || 'not a command') };
  return { code: 127, failure: missingInterpreter(file, path) ?? 'command not found' };
}

/**
 * The error is the same if the file exists but its interpreter does not, as for a script that was saved on Windows:
 * "not found" would make people look for a file that is where it should be.
 */
function missingInterpreter(file: string, path: string): string | null {
  const places = file.includes('/') ? [file] : path.split(':').map((folder) => `${folder || '.'}/${file}`);
  const line = places.map(firstLine).find((found) => found !== null);
  if (line === undefined || line === null) return null;
  const [, interpreter] = /^#![ \t]*([^ \t]+)/.exec(line) ?? [];
  if (interpreter === undefined) return 'its dynamic loader is missing';
  if (!interpreter.endsWith('\r')) return `its interpreter ${interpreter} does not exist`;
  return `its first line has a Windows line ending, and ${interpreter.slice(0, -1)}\\r does not exist`;
}

/** Null if it cannot be read, or is not a file. */
function firstLine(file: string): string | null {
  const { closeSync, openSync, readSync, statSync } = process.getBuiltinModule('node:fs');
  try {
    // Reading a pipe would block.
    if (!statSync(file).isFile()) return null;
    const fd = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(LONGEST_FIRST_LINE);
      const length = readSync(fd, bytes, 0, bytes.length, 0);
      return bytes.toString('utf8', 0, length).split('\n', 1)[0] ?? '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}
