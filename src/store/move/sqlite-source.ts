/** Reads the database of a data directory that no daemon uses, and writes nothing into it. */
import type Database from 'better-sqlite3';
import { migrations } from '../migrations/index.ts';
import { openFile } from '../sqlite/addon.ts';
import { databasePath } from '../sqlite/connection.ts';
import { inspectDatabase, refusalOfSource } from '../sqlite/copy.ts';
import type { Cell, Row } from './digest.ts';
import { MoveFailed } from './move.ts';
import { selectionOf, type Table } from './tables.ts';

/** Rows are passed on in parts of about this size, in bytes, however long a row is. */
const PART = 1 << 20;
const MOST_ROWS = 2_000;

/** What a value costs besides its text, in bytes. */
const CELL = 8;

/** Counts what had to be changed because the two databases differ in the values they accept. */
export interface Mended {
  withNul: number;
}

/** @throws MoveFailed if there is no database, or it cannot be seen */
export function refuseAbsent(dataDir: string): void {
  const refusal = refusalOfSource(dataDir);
  if (refusal !== null) throw new MoveFailed(refusal);
}

/**
 * Opens it for reading, as one state that nobody changes.
 *
 * @throws MoveFailed, CopyFailed if it is not whole, or has another version
 */
export function openSource(dataDir: string): Database.Database {
  const path = databasePath(dataDir);
  const content = inspectDatabase(dataDir);
  if (content !== null && content.schema < migrations.length)
    throw new MoveFailed(
      `${path} has schema version ${content.schema}, and this program moves version ${migrations.length}: start \`snitch serve\` of this version once, which upgrades the database, stop it, and move then`,
    );
  const db = openFile(path, { readonly: true, fileMustExist: true, timeout: 5_000 });
  db.exec('BEGIN');
  return db;
}

export function countRows(db: Database.Database, { name, where }: Table): number {
  return Number(db.prepare(`SELECT count(*) FROM "${name}" WHERE ${where}`).pluck().get());
}

/** All rows of a table that are moved, in the order of its key, in parts. */
export function* readRows(db: Database.Database, table: Table, mended: Mended): Generator<Row[]> {
  const statement = db.prepare(selectionOf(table)).raw(true).safeIntegers(true);
  let part: Row[] = [];
  let size = 0;
  for (const values of statement.iterate() as IterableIterator<unknown[]>) {
    const row = values.map((value, index) => {
      const cell = cellOf(value, table, index, mended);
      size += CELL + (typeof cell === 'string' || cell instanceof Buffer ? cell.length : 0);
      return cell;
    });
    part.push(row);
    if (part.length < MOST_ROWS && size < PART) continue;
    yield part;
    part = [];
    size = 0;
  }
  if (part.length > 0) yield part;
}

/** SQLite stores any value in any column. */
function cellOf(value: unknown, table: Table, index: number, mended: Mended): Cell {
  if (value === null || typeof value === 'bigint') return value;
  const column = table.columns[index];
  if (typeof value === 'string' && column?.kind === 'text') {
    if (!value.includes('\0')) return value;
    mended.withNul += 1;
    // As the store on PostgreSQL writes such a text.
    return value.replaceAll('\0', '\uFFFD');
  }
  if (Buffer.isBuffer(value) && column?.kind === 'bytes') return value;
  if (typeof value === 'number' && column?.kind === 'integer' && Number.isFinite(value))
    return BigInt(Math.round(value));
  throw new MoveFailed(
    `a row of ${table.name} has a value in ${column?.name} that is no ${column?.kind}, which PostgreSQL does not keep: nothing was moved; report this`,
  );
}

/** The highest number that SQLite ever gave to a row, for tables that never reuse one. */
export function lastNumber(db: Database.Database, { name }: Table): bigint {
  const given = db
    .prepare('SELECT seq FROM sqlite_sequence WHERE name = ?')
    .pluck()
    .safeIntegers()
    .get(name) as bigint | undefined;
  const highest = db.prepare(`SELECT max(id) FROM "${name}"`).pluck().safeIntegers().get() as bigint | null;
  const [one, other] = [given ?? 0n, highest ?? 0n];
  return one > other ? one : other;
}

/** When the daemon is known to have been alive last, in milliseconds. */
export function livenessIn(db: Database.Database): number | null {
  const value = db.prepare(`SELECT value FROM settings WHERE name = 'liveness'`).pluck().get();
  const at = Number(value ?? Number.NaN);
  return Number.isSafeInteger(at) ? at : null;
}
