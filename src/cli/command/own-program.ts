/** Which file starts this program, so that crontabs, units and help texts can call it. */
import { fileURLToPath } from 'node:url';
import { shellWord } from '../../text/shell-word.ts';

const fs = process.getBuiltinModule('node:fs');
const { basename, dirname, join } = process.getBuiltinModule('node:path');

/** Where cron looks for programs unless a crontab says otherwise. */
export const CRON_PATH = '/usr/bin:/bin';

/** Where the package installs the program, and where docs/install.md copies it to. */
export const USUAL_PROGRAM = '/usr/bin/snitch';

/** The absolute path of the executable; null if the program runs from its sources or from a bare bundle. */
export function ownProgram(): string | null {
  if (process.getBuiltinModule('node:sea').isSea()) return process.execPath;
  // The bundles of a build are in dist/, next to bin/ with the command that starts them.
  const directory = dirname(fileURLToPath(import.meta.url));
  const command = join(dirname(directory), 'bin', 'snitch');
  return basename(directory) === 'dist' && isExecutable(command) ? command : null;
}

/**
 * The first executable of that name that a shell would find.
 *
 * @param path directories as in `$PATH`; relative ones depend on where the call is made and are ignored
 * @param root the directory that stands for `/`
 */
export function findOnPath(name: string, path: string, root = '/'): string | null {
  const directories = path.split(':').filter((directory) => directory.startsWith('/'));
  const found = directories.map((directory) => join(directory, name));
  return found.find((file) => isExecutable(join(root, file))) ?? null;
}

/** Whether both names lead to the same file. */
export function isSameFile(one: string, other: string): boolean {
  try {
    const [first, second] = [fs.statSync(one), fs.statSync(other)];
    return first.dev === second.dev && first.ino === second.ino;
  } catch {
    return false;
  }
}

/** Who has the right to execute it does not matter here, because root can run anything that anybody can. */
function isExecutable(file: string): boolean {
  try {
    const stats = fs.statSync(file);
    return stats.isFile() && (stats.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** The path by which cron and systemd on this host have to call the program; its usual place if that is not known. */
export function installedProgram(): string {
  const own = ownProgram();
  if (own === null) return USUAL_PROGRAM;
  const found = findOnPath('snitch', CRON_PATH);
  return found !== null && isSameFile(found, own) ? found : own;
}

/** The same, as it has to be written in a crontab. */
export function programForCron(): string {
  return shellWord(installedProgram()).replaceAll('%', '\\%');
}
