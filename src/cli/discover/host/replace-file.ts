/** Replaces files of the host in one step. */
import { chmodSync, chownSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createPrivateFileNow, syncNow } from '../../../system/private-file.ts';

/**
 * Replaces the text of a file, or makes the file. Whoever reads it meanwhile sees either the old text or the new one.
 *
 * @param check runs at the last moment; if it throws, the old file stays
 */
export function replaceFile(path: string, text: string | Buffer, check: () => void = () => {}): void {
  const old = lstatSync(path, { throwIfNoEntry: false });
  // Cron and systemd ignore names that begin with a dot.
  const drafts = `.${basename(path)}.snitch-`;
  const draft = join(dirname(path), `${drafts}${process.pid}`);
  // A crash may have left some. Nobody else is at work, because the host is locked.
  for (const name of readdirSync(dirname(path))) {
    const isDraft = name.startsWith(drafts) && /^\d+$/.test(name.slice(drafts.length));
    if (isDraft) rmSync(join(dirname(path), name), { force: true });
  }
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
