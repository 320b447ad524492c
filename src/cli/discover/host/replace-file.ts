/** Replaces files of the host in one step. */
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
 * Replaces the text of a file, or makes the file. Whoever reads it meanwhile sees either the old text or the new one.
 *
 * @param check runs at the last moment; if it throws, the old file stays
 */
export function replaceFile(path: string, text: string, check: () => void = () => {}): void {
  const old = lstatSync(path, { throwIfNoEntry: false });
  // Cron and systemd ignore names that begin with a dot.
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
