/** Files that become a copy of the database once they are complete. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAlive } from '../../system/process-alive.ts';

/** Files that SQLite keeps next to a database, and that belong to it alone. */
export const BESIDE = ['-wal', '-shm', '-journal'];

/**
 * Each process writes a draft of its own, so that two backups to one file do not disturb each other. Drafts of the same
 * file are removed if the process that wrote them is gone.
 */
export function newDraft(file: string): string {
  const directory = dirname(file);
  const begin = `${basename(file)}.partial`;
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(begin)) continue;
    const [isDraft, pid] = /^(?:-(\d+))?(?:-wal|-shm|-journal)?$/.exec(name.slice(begin.length)) ?? [];
    if (isDraft === undefined) continue;
    const isOwn = pid === String(process.pid);
    // Older versions gave all of them one name.
    if (pid === undefined || isOwn || !isAlive(Number(pid))) rmSync(join(directory, name), { force: true });
  }
  return `${file}.partial-${process.pid}`;
}

/** What a restore writes before it takes the place of the database; only whoever has the data directory may touch it. */
export function restoreDraft(database: string): string {
  return `${database}.restoring`;
}

export function discard(draft: string): void {
  for (const suffix of ['', ...BESIDE]) rmSync(`${draft}${suffix}`, { force: true });
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Whether a hard link failed because not every file system has them. */
export function isForWantOfLinks(error: unknown): boolean {
  return NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '');
}
