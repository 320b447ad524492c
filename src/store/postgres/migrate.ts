/**
 * Brings a database to the schema of this program, by the same texts as SQLite, in one transaction. If several programs
 * start at once, an advisory lock lets one of them do it; the others find it done.
 */
import type pg from 'pg';
import { migrations as all } from '../migrations/index.ts';
import { changeOf, type Migration, oldestAfter, type Step } from '../migrations/migration.ts';
import { holderOf, untilMine } from './alone.ts';
import { translated, translatedSchema } from './dialect.ts';
import { fenceOlderNodes } from './nodes/older.ts';
import { missingColumn } from './nodes/schema.ts';
import { isTooOld, NewerSchema, type SchemaVersion } from './nodes/versions.ts';
import { LOCKS } from './postgres-transaction.ts';

export { NewerSchema };

const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS schema_version (
  one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one), version INTEGER NOT NULL,
  oldest INTEGER NOT NULL DEFAULT 0);
${missingColumn('schema_version', 'oldest', 'INTEGER NOT NULL DEFAULT 0')}`;

const HAS_COLUMN = `SELECT 1 FROM information_schema.columns
  WHERE table_schema = current_schema() AND table_name = $1 AND column_name = $2`;

/** The advisory lock for having the whole database to oneself: `snitch move` takes it too, and a start waits for it. */
export const MIGRATIONS = 'migrations';

const TRY = 'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS mine';

export interface MigrateOptions {
  /** Called with the holder while another program migrates and this one waits: at once, and then each minute. */
  onWait?: (what: string, holder: string | null) => void;
  /** Creates what only PostgreSQL has, if it is missing. */
  also?: string;
  /** All that this program knows. */
  migrations?: readonly Migration[];
}

/**
 * A database that is newer than this program is left as it is, if this program can work with it. In a database that is
 * already in use, what only PostgreSQL has comes first, in a transaction of its own: nodes of an older version use it
 * each second and at each new connection, and would otherwise have to wait until the last migration is done. They can
 * go on if no migration follows. A new database gets everything or nothing, so that a program that starts meanwhile, or
 * again after an interruption, does not take it for some other program's database.
 *
 * @throws NewerSchema, OlderNodesLive, and whatever the database refuses; the migrations have then changed nothing
 */
export async function migrate(
  client: pg.ClientBase,
  { onWait = () => {}, also = '', migrations = all }: MigrateOptions = {},
): Promise<{ from: number; to: number }> {
  const first = `${VERSION_TABLE}\n${also}`;
  if (also !== '' && (await isUsed(client))) await alone(client, onWait, () => client.query(first));
  return alone(client, onWait, () => migrateInTransaction(client, also, migrations));
}

async function isUsed(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(
    "SELECT to_regclass('schema_version') IS NOT NULL AS is_there",
  );
  return rows[0]?.is_there ?? false;
}

/** In a transaction that has the database to itself. */
async function alone<T>(
  client: pg.ClientBase,
  onWait: Required<MigrateOptions>['onWait'],
  work: () => Promise<T>,
): Promise<T> {
  await client.query('BEGIN');
  try {
    const attempt = async () => {
      const { rows } = await client.query<{ mine: boolean }>(TRY, [LOCKS, MIGRATIONS]);
      return rows[0]?.mine === true;
    };
    await untilMine(attempt, async () => onWait(MIGRATIONS, await holderOf(client, MIGRATIONS)));
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/**
 * As `migrate`, in a transaction that is already open on the connection and has the lock `MIGRATIONS`.
 *
 * @throws NewerSchema, OlderNodesLive, and whatever the database refuses; the transaction must then be rolled back
 */
export async function migrateInTransaction(
  client: pg.ClientBase,
  also: string,
  migrations: readonly Migration[] = all,
): Promise<{ from: number; to: number }> {
  await client.query(VERSION_TABLE);
  if (also !== '') await client.query(also);
  const { rows } = await client.query<SchemaVersion>('SELECT version, oldest FROM schema_version');
  const [found = { version: 0, oldest: 0 }] = rows;
  const { version: from, oldest } = found;
  const to = Math.max(from, migrations.length);
  if (isTooOld(migrations.length, found)) throw new NewerSchema(from, migrations.length);
  if (from < to) await runAll(client, migrations, from, oldest);
  return { from, to };
}

async function runAll(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  from: number,
  before: number,
): Promise<void> {
  const oldest = Math.max(before, oldestAfter(migrations, from));
  if (from > 0) await fenceOlderNodes(client, from, oldest);
  for (const migration of migrations.slice(from)) {
    for (const step of await stepsOf(client, migration)) await run(client, step, from === 0);
  }
  await client.query(
    `INSERT INTO schema_version (version, oldest) VALUES ($1, $2)
     ON CONFLICT (one) DO UPDATE SET version = excluded.version, oldest = excluded.oldest`,
    [migrations.length, oldest],
  );
}

async function stepsOf(client: pg.ClientBase, migration: Migration): Promise<readonly Step[]> {
  const change = changeOf(migration);
  if (typeof change === 'string') return [change];
  if (typeof change !== 'function') return change;
  // A migration that was once committed in several forms asks which columns exist: all of them are looked up
  // beforehand.
  const asked: [string, string][] = [];
  change((table, column) => asked.push([table, column]) < 0);
  const has = new Set<string>();
  for (const [table, column] of asked) {
    const { rowCount } = await client.query(HAS_COLUMN, [table, column]);
    if (rowCount) has.add(`${table}.${column}`);
  }
  return [change((table, column) => has.has(`${table}.${column}`))];
}

/** A new database has no rows to walk through. */
async function run(client: pg.ClientBase, step: Step, isNew: boolean): Promise<void> {
  if (typeof step === 'string') await client.query(translatedSchema(step));
  else if (!isNew)
    await client.query(translated(step.sql).text, [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
}
