/** Changes a file of the host, so that it is never there in part. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Puts `text` in the place of a file, or makes it. Whoever reads it meanwhile sees the old one or the new one.
 *
 * @param check runs at the last moment, and keeps the old file where it throws
 */
export function replaceFile(path: string, text: string, check: () => void = () => {}): void {
  const old = lstatSync(path, { throwIfNoEntry: false });
  // A name with a dot in front is one that cron and systemd pass over.
  const draft = join(dirname(path), `.${basename(path)}.snitch-${process.pid}`);
  const fd = openSync(draft, 'wx', 0o600);
  try {
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (old) chownSync(draft, old.uid, old.gid);
    chmodSync(draft, old ? old.mode & 0o7777 : 0o644);
    check();
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
