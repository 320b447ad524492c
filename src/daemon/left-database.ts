/** Whether the data were moved away from a data directory: a database knows nothing of its successor. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SEEN_FILE } from '../store/postgres/hosts/seen-file.ts';
import { databasePath } from '../store/sqlite/connection.ts';
import type { Concern } from './data-directory.ts';

/**
 * A daemon on PostgreSQL leaves a file in its data directory. One that is younger than the SQLite database beside it says
 * that the data have been in PostgreSQL since, and that `store.url` got lost.
 *
 * @returns null where there is no such file, or where the database was put in place or used since
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

/** In milliseconds; minus infinity where there is no such file, or nobody may look. */
function changedAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
