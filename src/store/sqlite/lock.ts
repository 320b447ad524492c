import { type Stats, statSync } from 'node:fs';
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

/** A data directory that this process has for itself. */
export interface DirectoryLock {
  release(): void;
  /** False if the name of the lock leads to another file or to none, so that another process can have it as well. */
  isInPlace(): boolean;
}

/**
 * Holds the data directory for this process alone, until the process ends, however it ends.
 *
 * @returns a function that releases the directory
 * @throws DataDirLocked, or DatabaseUnusable if the directory cannot be written
 */
export function lockDataDir(dataDir: string): () => void {
  return takeLock(dataDir).release;
}

export function lockPath(dataDir: string): string {
  return join(dataDir, 'snitch.lock');
}

/**
 * As `lockDataDir`. SQLite's lock on a small separate file is what Node offers as an operating-system lock; the
 * database itself stays open to readers.
 */
export function takeLock(dataDir: string): DirectoryLock {
  const path = lockPath(dataDir);
  createPrivateFile(path);
  let file: Database.Database | undefined;
  try {
    file = openFile(path, { timeout: 0 });
    file.exec('BEGIN EXCLUSIVE');
    const held = file;
    const locked = statSync(path, { throwIfNoEntry: false });
    return {
      release: () => void held.close(),
      isInPlace: () => locked !== undefined && leadsTo(path, locked),
    };
  } catch (error) {
    file?.close();
    if (!(error instanceof Database.SqliteError)) throw error;
    if (error.code === 'SQLITE_BUSY') throw new DataDirLocked(dataDir);
    throw unwritable(path, `${error.message} (${error.code})`, error);
  }
}

/** While the locked file is open, no other file can get its number. */
function leadsTo(path: string, locked: Stats): boolean {
  try {
    const named = statSync(path, { throwIfNoEntry: false });
    return named !== undefined && named.ino === locked.ino && named.dev === locked.dev;
  } catch {
    // If a directory on the way is not accessible, that proves nothing.
    return true;
  }
}
