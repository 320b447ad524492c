/**
 * Brings a database to the schema of this program, by the same texts as SQLite, in one transaction. An advisory lock
 * lets one of several programs do it that start at once; the others find it done.
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

/** The advisory lock of who has the whole database to itself: `snitch move` takes it too, and a start waits for it. */
export const MIGRATIONS = 'migrations';

const TRY = 'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS mine';

export interface MigrateOptions {
  /** Told that another program is at it, and is waited for; at once, and each minute. */
  onWait?: (what: string, holder: string | null) => void;
  /** Makes what only PostgreSQL has, where it is missing. */
  also?: string;
  /** Those that this program knows. */
  migrations?: readonly Migration[];
}

/**
 * A database that is newer than this program is left as it is, where this program may go on with it. In one that is used
 * already, what only PostgreSQL has comes first and by itself: nodes of an older version, which use it each second and at
 * each new connection, would have to wait until the last of the migrations is done. They may go on where none follows. A
 * new one has all of it or nothing, so that whoever else starts, or starts again after a cut, does not take it for that of
 * another program.
 *
 * @throws NewerSchema, OlderNodesLive, and whatever the database refuses; then the migrations have changed nothing
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
 * As `migrate`, in a transaction that is open on the connection, which has the lock `MIGRATIONS`.
 *
 * @throws NewerSchema, OlderNodesLive, and whatever the database refuses; then the transaction has to be undone
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
  // A schema that was committed in several forms is asked for its columns, all of which are read before.
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
