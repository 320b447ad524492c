import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openFile } from './addon.ts';
import { createPrivateFile, unwritable } from './connection.ts';

/** Another daemon uses the same data directory, or a command that needs it exclusively. */
export class DataDirLocked extends Error {
  override readonly name = 'DataDirLocked';

  /** Who has it, without an article: for callers that cannot work anywhere else. */
  readonly holder: string;

  constructor(dataDir: string) {
    const holder = `snitch daemon is using ${dataDir} (or \`snitch move\` or \`restore\`, which end by themselves)`;
    super(`another ${holder}: stop it first, or give this one a data_dir of its own`);
    this.holder = holder;
  }
}

/**
 * Holds the data directory for this process alone, until the process ends, however it ends. SQLite's lock on a small
 * separate file is what Node offers as an operating-system lock; the database itself stays open to readers.
 *
 * @returns a function that releases the directory
 * @throws DataDirLocked, or DatabaseUnusable if the directory cannot be written
 */
export function lockDataDir(dataDir: string): () => void {
  const path = join(dataDir, 'snitch.lock');
  createPrivateFile(path);
  let file: Database.Database | undefined;
  try {
    file = openFile(path, { timeout: 0 });
    file.exec('BEGIN EXCLUSIVE');
    const held = file;
    return () => held.close();
  } catch (error) {
    file?.close();
    if (!(error instanceof Database.SqliteError)) throw error;
    if (error.code === 'SQLITE_BUSY') throw new DataDirLocked(dataDir);
    throw unwritable(path, `${error.message} (${error.code})`, error);
  }
}
