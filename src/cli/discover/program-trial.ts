/** Tries whether a job could start this program: as its user, with its shell, and with its `PATH`. */
import { accessSync, constants } from 'node:fs';
import { type Account, ownAccount } from './accounts.ts';

/** How a job runs. */
export interface Surroundings {
  account: Account;
  /** Absolute. */
  shell: string;
  path: string;
}

/** Starting the program takes time on a busy host; milliseconds. */
const LONGEST_TRIAL = 30_000;

const tried = new Map<string, string | null>();

/**
 * @param word the program as it would be in the job's line, quoted for a shell
 * @returns why it does not run there, in words; null if it does
 */
export function faultOfProgram(word: string, surroundings: Surroundings): string | null {
  const { account, shell, path } = surroundings;
  const key = [word, account.uid, shell, path].join('\n');
  const known = tried.get(key);
  if (known !== undefined) return known;
  const fault = tryProgram(word, surroundings);
  tried.set(key, fault);
  return fault;
}

function tryProgram(word: string, { account, shell, path }: Surroundings): string | null {
  const own = ownAccount().uid;
  // Only root can become another user. Otherwise it is tried as the present user, which is better than nothing.
  const as = own === 0 && account.uid !== 0 ? { uid: account.uid, gid: account.gid } : {};
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const options = {
    ...as,
    cwd: '/',
    env: { PATH: path, HOME: account.home, LOGNAME: account.name, USER: account.name, SHELL: shell },
    encoding: 'utf8' as const,
    timeout: LONGEST_TRIAL,
    killSignal: 'SIGKILL' as const,
    // A session of its own, because another user must not get hold of our terminal.
    detached: true,
    maxBuffer: 64 * 1024,
  };
  const { error, status, signal, stdout, stderr } = spawnSync(shell, ['-c', `${word} --version`], options);
  if (error) return `${shell}: ${(error as NodeJS.ErrnoException).code ?? error.message}`;
  if (status === 0 && /^snitch \d\S*\n$/.test(stdout)) return null;
  if (status === 0) return 'it is another program of that name';
  const [line = ''] = stderr.trim().split('\n', 1);
  return line.slice(0, 200) || `it ended with ${signal ?? status}`;
}

/** Whether a file is executable, for files of another host, which cannot be tried here. */
export function isThere(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
