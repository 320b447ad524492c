/**
 * Brings a database to the schema of this program.
 *
 * 1. A newer one is refused: this program does not know what is in it.
 * 2. One that has data is copied first, into the file `snitch.db.before-upgrade-from-N` next to it, where N is its
 *    schema version. Without that copy nothing is changed, because there is no other way back to the older program.
 * 3. The migrations that it has not seen run in one transaction: all of them or none.
 *
 * The caller holds the data directory, so that nobody writes between the copy and the migrations. A start that was
 * interrupted anywhere begins again: while the database has the old version, a new copy replaces the existing one,
 * because the older program may have written in the meantime.
 */
import { readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { createPrivateFileNow, syncNow } from '../../system/private-file.ts';
import { changeOf, type Migration, type Step, type Walk } from '../migrations/migration.ts';
import { unavailable } from './faults.ts';
import { finished } from './parts.ts';
import { statementOf } from './quicker-walks.ts';

/** An upgrade of a database that had data. */
export interface Migrated {
  from: number;
  to: number;
  /** The file with the database from before the upgrade. */
  copy: string;
}

/** Progress through the rows of a table, by their ids; a table may be walked more than once. */
export interface MigrationProgress {
  table: string;
  done: number;
  total: number;
}

/** The database was written by a newer program than this one. */
export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';

  constructor(path: string, found: number, known: number) {
    const copy = newestCopyFor(path, known);
    const wayBack =
      copy === null
        ? `restore a backup from before the upgrade (${copyPath(path, known)} would be one, and is not there)`
        : `go back to the state from before the upgrade with \`snitch restore ${copy}\``;
    super(
      `the database ${path} has schema version ${found}, and this program knows versions up to ${known}: run the newer snitch that made it, or ${wayBack}`,
    );
  }
}

/** The database was not upgraded, and is as it was; the message says why and what to do. */
export class UpgradeFailed extends Error {
  override readonly name = 'UpgradeFailed';
}

/**
 * @returns what was done to a database that had data; null if nothing had to be done, or the database was empty
 * @throws NewerDatabase, UpgradeFailed, and SqliteError if the disk refuses the migrations
 */
export function migrate(
  db: Database.Database,
  migrations: readonly Migration[],
  onProgress: (progress: MigrationProgress) => void = () => {},
): Migrated | null {
  return finished(migrateInParts(db, migrations, onProgress));
}

/**
 * As `migrate`, in parts of a few seconds at most. If the caller stops between two parts, nothing has changed.
 *
 * @param onCopied called between the copy and the migrations, if there is a copy
 */
export function* migrateInParts(
  db: Database.Database,
  migrations: readonly Migration[],
  onProgress: (progress: MigrationProgress) => void,
  onCopied: () => void = () => {},
): Generator<void, Migrated | null> {
  const from = versionOf(db, 'main');
  const to = migrations.length;
  if (from > to) throw new NewerDatabase(db.name, from, to);
  if (from === to) return null;
  if (from === 0) {
    yield* run(db, migrations, from, onProgress);
    return null;
  }
  const copy = copyBeforeUpgrade(db, from, to);
  onCopied();
  yield;
  try {
    yield* run(db, migrations, from, onProgress);
  } catch (error) {
    if (unavailable(error)) throw error;
    throw new UpgradeFailed(
      `the upgrade of ${db.name} from schema version ${from} to ${to} failed (${reason(error)}) and was undone: run the snitch from before, and report this`,
      { cause: error },
    );
  }
  removeOlderCopies(db.name, copy);
  return { from, to, copy };
}

function* run(
  db: Database.Database,
  migrations: readonly Migration[],
  from: number,
  onProgress: (progress: MigrationProgress) => void,
): Generator<void, void> {
  const columns = db.prepare('SELECT name FROM pragma_table_info(?)').pluck();
  const hasColumn = (table: string, column: string) => columns.all(table).includes(column);
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of migrations.slice(from)) {
      for (const step of stepsOf(migration, hasColumn)) {
        if (typeof step === 'string') db.exec(step);
        else yield* walk(db, step, onProgress);
        yield;
      }
    }
    db.pragma(`user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } finally {
    // Also if nobody asks for the next part. SQLite itself undoes a transaction that the disk refused.
    if (db.inTransaction) db.exec('ROLLBACK');
  }
}

function stepsOf(
  migration: Migration,
  hasColumn: (table: string, column: string) => boolean,
): readonly Step[] {
  const change = changeOf(migration);
  if (typeof change === 'string') return [change];
  return typeof change === 'function' ? [change(hasColumn)] : change;
}

/** Ids that one part of a walk covers: a second's work at most, so that progress is seen and a stop is noticed. */
const STRETCH = 50_000;

function* walk(
  db: Database.Database,
  step: Walk,
  onProgress: (progress: MigrationProgress) => void,
): Generator<void, void> {
  const { over } = step;
  const statement = db.prepare(statementOf(step));
  // As a single SELECT of both, this would read the whole table.
  const ends = db.prepare(
    `SELECT (SELECT MIN(id) FROM ${over}) AS first, (SELECT MAX(id) FROM ${over}) AS last`,
  );
  const { first, last } = ends.get() as { first: number | null; last: number | null };
  if (first === null || last === null) return;
  const total = last - first + 1;
  for (let done = 0; done < total; done += STRETCH) {
    const end = Math.min(done + STRETCH, total);
    statement.run(first - 1 + done, first - 1 + end);
    onProgress({ table: over, done: end, total });
    yield;
  }
}

function versionOf(db: Database.Database, schema: 'main' | 'copy'): number {
  return Number(db.pragma(`${schema}.user_version`, { simple: true }));
}

/** Written as a draft and renamed when it is whole and on the disk: half a copy never has a copy's name. */
function copyBeforeUpgrade(db: Database.Database, from: number, to: number): string {
  const copy = copyPath(db.name, from);
  const draft = `${copy}.partial`;
  try {
    discard(draft);
    // Created first, so that it is private before anything is in it.
    createPrivateFileNow(draft);
    // Reads through this connection, so what is only in the log gets into the copy too.
    db.prepare('VACUUM INTO ?').run(draft);
    verify(db, draft, from);
    syncNow(draft);
    renameSync(draft, copy);
    syncNow(dirname(copy));
    return copy;
  } catch (error) {
    discard(draft);
    throw new UpgradeFailed(
      `the database ${db.name} must be upgraded from schema version ${from} to ${to}, and the copy that is made of it first cannot be written to ${copy}: ${reason(error)}. Nothing was changed. ${roomFor(db)}`,
      { cause: error },
    );
  }
}

function discard(draft: string): void {
  for (const file of [draft, `${draft}-journal`]) rmSync(file, { force: true, recursive: true });
}

function verify(db: Database.Database, file: string, version: number): void {
  db.prepare('ATTACH ? AS copy').run(file);
  try {
    const answer = String(db.pragma('copy.quick_check(1)', { simple: true }));
    if (answer !== 'ok') throw new Error(`it came out damaged (${answer})`);
    if (versionOf(db, 'copy') !== version) throw new Error('it came out with another schema version');
  } finally {
    db.exec('DETACH copy');
  }
}

function roomFor(db: Database.Database): string {
  const pragma = (name: string) => Number(db.pragma(name, { simple: true }));
  const needed = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  const directory = dirname(db.name);
  const { bavail, bsize } = statfsSync(directory);
  return `The copy needs ${needed} bytes, and ${directory} has ${bavail * bsize} free: free some space, or fix whatever else is in its way, and start again`;
}

/** The name has the version of the database, so that it is clear which program can use it. */
function copyPath(database: string, version: number): string {
  return `${database}.before-upgrade-from-${version}`;
}

function copiesOf(database: string): { path: string; version: number }[] {
  const directory = dirname(database);
  const prefix = basename(copyPath(database, 0)).slice(0, -1);
  return readdirSync(directory).flatMap((name) => {
    const version = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    return /^\d+$/.test(version) ? [{ path: join(directory, name), version: Number(version) }] : [];
  });
}

function newestCopyFor(database: string, known: number): string | null {
  const usable = copiesOf(database).filter(({ version }) => version <= known);
  return usable.sort((one, other) => other.version - one.version)[0]?.path ?? null;
}

/**
 * Keeps the new copy and the latest one before it. A bad upgrade is often followed at once by another that is meant to
 * fix it: then the copy from before both is wanted. More would fill the disk.
 */
function removeOlderCopies(database: string, made: string): void {
  try {
    const older = copiesOf(database)
      .filter(({ path }) => basename(path) !== basename(made))
      .map(({ path }) => ({ path, writtenAt: statSync(path).mtimeMs }))
      .sort((one, other) => other.writtenAt - one.writtenAt);
    for (const { path } of older.slice(1)) rmSync(path);
  } catch {
    // The upgrade is done: a copy that cannot be removed only takes up room.
  }
}

/** The message of whatever was thrown. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
