import { join } from 'node:path';
import Database from 'better-sqlite3';

/** Another daemon works on the same data directory. */
export class DataDirLocked extends Error {
  override readonly name = 'DataDirLocked';

  constructor(dataDir: string) {
    super(`another snitch daemon is using ${dataDir}: stop it first, or give this one a data_dir of its own`);
  }
}

/**
 * Holds the data directory for this process alone, until the process ends, by whatever end. SQLite's lock on a small
 * file of its own is what Node offers of operating-system locks; the database itself stays open to readers.
 *
 * @returns a function that gives the directory back
 */
export function lockDataDir(dataDir: string): () => void {
  const file = new Database(join(dataDir, 'snitch.lock'), { timeout: 0 });
  try {
    file.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') {
      throw new DataDirLocked(dataDir);
    }
    throw error;
  }
  return () => file.close();
}
