/** Replaces files of the host in one step. */
import { chmodSync, chownSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createPrivateFileNow, syncNow } from '../../../system/private-file.ts';

/**
 * Replaces the text of a file, or makes the file. Whoever reads it meanwhile sees either the old text or the new one.
 *
 * @param check runs at the last moment; if it throws, the old file stays
 */
export function replaceFile(path: string, text: string, check: () => void = () => {}): void {
  const old = lstatSync(path, { throwIfNoEntry: false });
  // Cron and systemd ignore names that begin with a dot.
  const draft = join(dirname(path), `.${basename(path)}.snitch-${process.pid}`);
  // A crash may have left one.
  rmSync(draft, { force: true });
  createPrivateFileNow(draft, text);
  try {
    if (old) chownSync(draft, old.uid, old.gid);
    chmodSync(draft, old ? old.mode & 0o7777 : 0o644);
    check();
    renameSync(draft, path);
    syncNow(dirname(path));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
