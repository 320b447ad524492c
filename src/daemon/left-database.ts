/** Whether the data were moved away from a data directory: the old database itself cannot know. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SEEN_FILE } from '../store/postgres/hosts/seen-file.ts';
import { databasePath } from '../store/sqlite/connection.ts';
import type { Concern } from './data-directory.ts';

/**
 * A daemon on PostgreSQL leaves a file in its data directory. If that file is newer than the SQLite database next to
 * it, the data have since been in PostgreSQL, and `store.url` got lost.
 *
 * @returns null if there is no such file, or the database was put in place or used since
 */
export function concernOfLeftDatabase(dataDir: string): Concern | null {
  const path = databasePath(dataDir);
  const used = Math.max(...[path, `${path}-wal`, join(dataDir, 'snitch.acknowledged')].map(changedAt));
  if (used === Number.NEGATIVE_INFINITY || changedAt(join(dataDir, SEEN_FILE)) <= used) return null;
  return {
    message: `the database ${path} was left: a daemon with this data directory has worked on PostgreSQL since. Everything reported there since is missing here, and false alarms may be raised because of it`,
    remedy:
      'unless you went back on purpose, stop this daemon now, set store.url again (SNITCH_STORE_URL), and start it',
    refused: false,
  };
}

/** In milliseconds; minus infinity if there is no such file, or it cannot be examined. */
function changedAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
