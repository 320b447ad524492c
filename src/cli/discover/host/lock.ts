/** Keeps two processes from changing the jobs of a host at the same time. */
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../../../system/libc.ts';
import { Failure } from '../../failure/failure.ts';

/**
 * Two processes that find the same job at once would make two snitches for it.
 *
 * @param root the directory that stands for `/`
 * @throws Failure if another process is at work there
 */
export function lockHost(root: string): Disposable {
  const fd = openLock(root);
  if (!lockFile(fd)) {
    closeSync(fd);
    throw new Failure(
      'nothing was changed: another `snitch discover --apply` is running on this host: run this again when it is done',
    );
  }
  return { [Symbol.dispose]: () => closeSync(fd) };
}

/** A file that nobody but root can open, so that nobody else can hold it. Others lock the directory itself. */
function openLock(root: string): number {
  const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
  const directory = join(root, 'run');
  if (process.getuid?.() !== 0 || !existsSync(directory)) return openSync(root, O_RDONLY);
  return openSync(join(directory, 'snitch-discover.lock'), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
}
