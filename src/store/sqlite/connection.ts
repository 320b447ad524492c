import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makePrivateDirectory } from '../../system/directory.ts';
import { createPrivateFileNow } from '../../system/private-file.ts';
import { adviceForWriting } from '../../system/writing.ts';
import { migrations } from '../migrations/index.ts';
import { countCommits } from './acknowledged.ts';
import { openFile } from './addon.ts';
import { damageOf } from './integrity.ts';
import { type Migrated, type MigrationProgress, migrateInParts, reason } from './migrate.ts';
import { finished } from './parts.ts';
import { isSuspect, trustAgain } from './suspicion.ts';
import { refusalToBegin } from './traces.ts';

/** The database cannot be used as it is; the message says what to do. */
export class DatabaseUnusable extends Error {
  override readonly name: string = 'DatabaseUnusable';
}

/** What is stored is inconsistent. */
export class DatabaseDamaged extends DatabaseUnusable {
  override readonly name: string = 'DatabaseDamaged';

  constructor(path: string, details: string) {
    super(
      `the database ${path} is damaged (${details}): put a backup in its place with \`snitch restore FILE\``,
    );
  }
}

export function databasePath(dataDir: string): string {
  return join(dataDir, 'snitch.db');
}

/** Creates the data directory if it is missing, readable only by its owner. */
export function prepareDataDir(dataDir: string): void {
  try {
    makePrivateDirectory(dataDir);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isForbidden = ['EROFS', 'EACCES', 'EPERM'].includes(code);
    const why = isForbidden ? `${reason(error)}; ${adviceForWriting(dataDir)}` : reason(error);
    throw new DatabaseUnusable(`cannot create the data directory ${dataDir}: ${why}`, { cause: error });
  }
}

/**
 * Creates a file of the store if it is missing: with SQLite's own mode, others could read the tokens and secrets in it
 * wherever the directory lets them in. An existing file is not opened, because closing it would release the locks that
 * this process has on it.
 */
export function createPrivateFile(path: string): void {
  try {
    createPrivateFileNow(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw unwritable(path, reason(error), error);
  }
}

/** What takes long before the store is open; reported as it begins, and repeatedly if there is progress. */
export type Opening =
  | { doing: 'checking'; bytes: number }
  | { doing: 'copying'; bytes: number }
  | ({ doing: 'upgrading' } & MigrationProgress);

export interface OpenOptions {
  /** Called after an upgrade, with the place of the copy from before it. */
  onMigrated?: ((migrated: Migrated) => void) | undefined;
  onOpening?: ((opening: Opening) => void) | undefined;
  clock?: (() => number) | undefined;
  /** Whether a large database can be opened unchecked because it is checked later. */
  canCheckLater?: boolean | undefined;
}

/** Checking a smaller database takes less time than reporting it; in bytes. */
const CHECKED_AT_ONCE = 32 << 20;

/**
 * Opens the database, checks it, brings it to the present version and proves that it can be written. SQLite itself
 * syncs everything here (`synchronous=FULL`), including the directory entries of its files.
 *
 * @throws DatabaseUnusable, NewerDatabase, UpgradeFailed
 */
export function openDatabase(
  dataDir: string,
  options: Omit<OpenOptions, 'canCheckLater'> = {},
): Database.Database {
  return finished(openInParts(dataDir, options)).db;
}

/** An open database, and whether it was checked. */
export interface Opened {
  db: Database.Database;
  checked: boolean;
}

/**
 * As `openDatabase`, in parts; it also returns whether the database was checked. A large one is not checked if that can
 * be done later, except before an upgrade, which would carry damage along, and if damage was found when it was last
 * used. A caller that stops between two parts leaves the database closed and as it was.
 */
export function* openInParts(
  dataDir: string,
  { onMigrated, onOpening = () => {}, clock = Date.now, canCheckLater = false }: OpenOptions,
): Generator<void, Opened> {
  const path = databasePath(dataDir);
  refuseLink(path);
  mayBegin(path);
  createPrivateFile(path);
  let db: Database.Database | undefined;
  let isOpen = false;
  try {
    db = openFile(path, { timeout: 250 });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('wal_autocheckpoint = 0');
    db.pragma(`cache_size = -${CACHE}`);
    db.pragma('temp_store = MEMORY');
    const version = Number(db.pragma('user_version', { simple: true }));
    const bytes = sizeOf(db);
    const checked =
      !canCheckLater || bytes <= CHECKED_AT_ONCE || version !== migrations.length || isSuspect(dataDir);
    if (checked) {
      onOpening({ doing: 'checking', bytes });
      yield;
      check(db, path);
      trustAgain(dataDir);
    }
    if (version === 0) mayBegin(path, false);
    yield* upgrade(db, version, { onMigrated, onOpening });
    db.exec(`INSERT INTO settings (name, value) VALUES ('canary', '1')
             ON CONFLICT (name) DO UPDATE SET value = value + 1`);
    countCommits(db, clock());
    db.pragma('wal_checkpoint(TRUNCATE)');
    // Creates a new log, header first, and syncs it: from here on the group commit does its own syncing.
    db.exec(`UPDATE settings SET value = value + 1 WHERE name = 'canary'`);
    isOpen = true;
    return { db, checked };
  } catch (error) {
    throw usable(error, path);
  } finally {
    if (!isOpen) db?.close();
  }
}

function* upgrade(
  db: Database.Database,
  version: number,
  { onMigrated, onOpening = () => {} }: OpenOptions,
): Generator<void, void> {
  if (version > 0 && version < migrations.length) onOpening({ doing: 'copying', bytes: sizeOf(db) });
  yield;
  const tell = (progress: MigrationProgress) => onOpening({ doing: 'upgrading', ...progress });
  const migrated = yield* migrateInParts(db, migrations, tell, () => {
    // Not earlier: the copy is written from front to back, and its own cache would become as large.
    db.pragma(`cache_size = -${cacheForUpgrade()}`);
  });
  if (!migrated) return;
  db.pragma(`cache_size = -${CACHE}`);
  db.pragma('shrink_memory');
  onMigrated?.(migrated);
}

/** How much of the file SQLite can keep in memory, in KiB. */
const CACHE = 64 << 10;

/**
 * The same for an upgrade, which looks up every row of the log by an index: faster if that stays in memory. A quarter
 * of what the host, or the service's own limit, has available, within bounds.
 */
function cacheForUpgrade(): number {
  const free = process.availableMemory() / 1024;
  return Math.max(CACHE, Math.min(4 * CACHE, Math.floor(free / 4)));
}

function sizeOf(db: Database.Database): number {
  return Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }));
}

/**
 * SQLite keeps the log beside the file that a link leads to, where this program would neither find nor sync it, and two
 * data directories with one database would not notice each other.
 *
 * @throws DatabaseUnusable if the database is a link, unless its log is one too
 */
function refuseLink(path: string): void {
  if (!isLink(path) || isLink(`${path}-wal`)) return;
  throw new DatabaseUnusable(
    `the database ${path} is a link to ${readlinkSync(path)}, and its log would be elsewhere: move the whole data directory instead, and name its new place in data_dir, or let the directory itself be the link`,
  );
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** @throws DatabaseUnusable if creating a new database would hide that one is missing */
function mayBegin(path: string, hasTables?: boolean): void {
  const refusal = refusalToBegin(path, hasTables);
  if (refusal) throw new DatabaseUnusable(refusal);
}

function check(db: Database.Database, path: string): void {
  const damage = damageOf(db);
  if (damage !== null) throw new DatabaseDamaged(path, damage);
}

function usable(error: unknown, path: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (error.code === 'SQLITE_CORRUPT' || error.code === 'SQLITE_NOTADB')
    return new DatabaseDamaged(path, error.message);
  return unwritable(path, `${error.message} (${error.code})`, error);
}

export function unwritable(path: string, details: string, cause: unknown): DatabaseUnusable {
  return new DatabaseUnusable(`cannot write ${path}: ${details}; ${adviceForWriting(path)}`, { cause });
}
