/** Which file starts this very program: what crontabs, units and help texts are to call. */
import { fileURLToPath } from 'node:url';

const fs = process.getBuiltinModule('node:fs');
const { basename, dirname, join } = process.getBuiltinModule('node:path');

/** Where cron looks for programs unless a crontab says otherwise. */
export const CRON_PATH = '/usr/bin:/bin';

/** Where the package puts the program, and docs/install.md a copy. */
export const USUAL_PROGRAM = '/usr/bin/snitch';

/** The absolute path of the executable; null where the program runs from its sources or from a bare bundle. */
export function ownProgram(): string | null {
  if (process.getBuiltinModule('node:sea').isSea()) return process.execPath;
  // The bundles of a build lie in dist/, beside bin/ with the command that starts them.
  const directory = dirname(fileURLToPath(import.meta.url));
  const command = join(dirname(directory), 'bin', 'snitch');
  return basename(directory) === 'dist' && isExecutable(command) ? command : null;
}

/**
 * The first executable of that name that a shell would find.
 *
 * @param path directories as in `$PATH`; those that are not absolute depend on the place of the call and do not count
 * @param root the directory that stands for `/`
 */
export function findOnPath(name: string, path: string, root = '/'): string | null {
  const directories = path.split(':').filter((directory) => directory.startsWith('/'));
  const found = directories.map((directory) => join(directory, name));
  return found.find((file) => isExecutable(join(root, file))) ?? null;
}

/** Whether both names lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  try {
    const [first, second] = [fs.statSync(one), fs.statSync(other)];
    return first.dev === second.dev && first.ino === second.ino;
  } catch {
    return false;
  }
}

/** By whom does not matter here: root may run whatever anybody may. */
function isExecutable(file: string): boolean {
  try {
    const stats = fs.statSync(file);
    return stats.isFile() && (stats.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** One word for a shell. */
export function shellWord(text: string): string {
  return /^[\w%+,./:=@[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The program as a line of a crontab has to call it on this host; its usual place where that is not known. */
export function programForCron(): string {
  const own = ownProgram();
  if (own === null) return USUAL_PROGRAM;
  const found = findOnPath('snitch', CRON_PATH);
  if (found !== null && isSameFile(found, own)) return found;
  return shellWord(own).replaceAll('%', '\\%');
}
