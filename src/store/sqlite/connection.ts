import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makePrivateDirectory } from '../../system/directory.ts';
import { createPrivateFileNow } from '../../system/private-file.ts';
import { migrations } from '../migrations/index.ts';
import { countCommits } from './acknowledged.ts';
import { openFile } from './addon.ts';
import { type Migrated, migrate } from './migrate.ts';
import { refusalToBegin } from './traces.ts';

/** The database cannot be used as it is; the message says what to do. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}

export function databasePath(dataDir: string): string {
  return join(dataDir, 'snitch.db');
}

/** Creates the data directory where it is missing, readable by its owner alone. */
export function prepareDataDir(dataDir: string): void {
  try {
    makePrivateDirectory(dataDir);
  } catch (error) {
    const advice = 'under systemd keep the data in /var/lib/snitch, or allow the place with ReadWritePaths=';
    const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS';
    const why = isReadOnly ? `${reason(error)}; ${advice}` : reason(error);
    throw new DatabaseUnusable(`cannot create the data directory ${dataDir}: ${why}`, { cause: error });
  }
}

/**
 * Creates a file of the store where it is missing: with SQLite's own mode, others could read the tokens and secrets
 * in it wherever the directory lets them in. A file that is there is not opened, because closing it would end the
 * locks that this process has on it.
 */
export function createPrivateFile(path: string): void {
  try {
    createPrivateFileNow(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw unwritable(path, reason(error), error);
  }
}

/**
 * Opens the database, checks it, brings it to the present version and proves that it can be written. Everything
 * here is synced by SQLite itself (`synchronous=FULL`), the directory entries of its files included.
 *
 * @param onMigrated is told of an upgrade, and where the copy from before it is
 * @throws DatabaseUnusable, NewerDatabase, UpgradeFailed
 */
export function openDatabase(
  dataDir: string,
  onMigrated: (migrated: Migrated) => void = () => {},
  clock: () => number = Date.now,
): Database.Database {
  const path = databasePath(dataDir);
  mayBegin(path);
  createPrivateFile(path);
  let db: Database.Database | undefined;
  try {
    db = openFile(path, { timeout: 250 });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('wal_autocheckpoint = 0');
    db.pragma('cache_size = -65536');
    db.pragma('temp_store = MEMORY');
    check(db, path);
    if (db.pragma('user_version', { simple: true }) === 0) mayBegin(path, false);
    const migrated = migrate(db, migrations);
    if (migrated) onMigrated(migrated);
    db.exec(`INSERT INTO settings (name, value) VALUES ('canary', '1')
             ON CONFLICT (name) DO UPDATE SET value = value + 1`);
    countCommits(db, clock());
    db.pragma('wal_checkpoint(TRUNCATE)');
    // Creates the log anew, header first, and syncs it: from here on the group commit syncs on its own.
    db.exec(`UPDATE settings SET value = value + 1 WHERE name = 'canary'`);
    return db;
  } catch (error) {
    db?.close();
    throw usable(error, path);
  }
}

/** @throws DatabaseUnusable where a new database would hide that one is missing */
function mayBegin(path: string, hasTables?: boolean): void {
  const refusal = refusalToBegin(path, hasTables);
  if (refusal) throw new DatabaseUnusable(refusal);
}

function check(db: Database.Database, path: string): void {
  const answer = db.pragma('quick_check(1)', { simple: true });
  if (answer !== 'ok') throw damaged(path, String(answer));
}

function damaged(path: string, details: string): DatabaseUnusable {
  return new DatabaseUnusable(
    `the database ${path} is damaged (${details}): put a backup in its place with \`snitch restore FILE\``,
  );
}

function usable(error: unknown, path: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (error.code === 'SQLITE_CORRUPT' || error.code === 'SQLITE_NOTADB') return damaged(path, error.message);
  return unwritable(path, `${error.message} (${error.code})`, error);
}

export function unwritable(path: string, details: string, cause: unknown): DatabaseUnusable {
  return new DatabaseUnusable(
    `cannot write ${path}: ${details}; check the owner, the mode and the free space of its directory`,
    { cause },
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
