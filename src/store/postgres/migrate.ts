/**
 * Brings a database to the schema of this program, by the same texts as SQLite, in one transaction. An advisory lock
 * lets one of several programs do it that start at once; the others find it done.
 */
import type pg from 'pg';
import { migrations } from '../migrations/index.ts';
import type { Migration, Step } from '../migrations/migration.ts';
import { translated, translatedSchema } from './dialect.ts';
import { LOCKS } from './postgres-transaction.ts';

/** The database was written by a newer program than this one. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';

  constructor(found: number, known: number) {
    super(
      `the database has schema version ${found}, and this program knows versions up to ${known}: run the newer snitch that made it, or bring back a dump from before the upgrade`,
    );
  }
}

const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS schema_version (
  one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one), version INTEGER NOT NULL)`;

const HAS_COLUMN = `SELECT 1 FROM information_schema.columns
  WHERE table_schema = current_schema() AND table_name = $1 AND column_name = $2`;

/** The advisory lock of who has the whole database to itself: `snitch move` takes it too, and a start waits for it. */
export const MIGRATIONS = 'migrations';

const TRY = 'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS mine';
const WAIT = 'SELECT pg_advisory_xact_lock($1, hashtext($2))';

/**
 * @param onWait told that another program is at it, and is waited for
 * @param also makes what only PostgreSQL has, where it is missing
 * @throws NewerSchema, and whatever the database refuses; then nothing has changed
 */
export async function migrate(
  client: pg.ClientBase,
  onWait: () => void = () => {},
  also = '',
): Promise<{ from: number; to: number }> {
  await client.query('BEGIN');
  try {
    const { rows: tried } = await client.query<{ mine: boolean }>(TRY, [LOCKS, MIGRATIONS]);
    if (!tried[0]?.mine) {
      onWait();
      await client.query(WAIT, [LOCKS, MIGRATIONS]);
    }
    const migrated = await migrateInTransaction(client, also);
    await client.query('COMMIT');
    return migrated;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/**
 * As `migrate`, in a transaction that is open on the connection, which has the lock `MIGRATIONS`.
 *
 * @throws NewerSchema, and whatever the database refuses; then the transaction has to be undone
 */
export async function migrateInTransaction(
  client: pg.ClientBase,
  also: string,
): Promise<{ from: number; to: number }> {
  const to = migrations.length;
  await client.query(VERSION_TABLE);
  if (also !== '') await client.query(also);
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  const from = rows[0]?.version ?? 0;
  if (from > to) throw new NewerSchema(from, to);
  for (const migration of migrations.slice(from)) {
    for (const step of await stepsOf(client, migration)) await run(client, step, from === 0);
  }
  await client.query(
    'INSERT INTO schema_version (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = excluded.version',
    [to],
  );
  return { from, to };
}

async function stepsOf(client: pg.ClientBase, migration: Migration): Promise<readonly Step[]> {
  if (typeof migration === 'string') return [migration];
  if (typeof migration !== 'function') return migration;
  // A schema that was committed in several forms is asked for its columns, all of which are read before.
  const asked: [string, string][] = [];
  migration((table, column) => asked.push([table, column]) < 0);
  const has = new Set<string>();
  for (const [table, column] of asked) {
    const { rowCount } = await client.query(HAS_COLUMN, [table, column]);
    if (rowCount) has.add(`${table}.${column}`);
  }
  return [migration((table, column) => has.has(`${table}.${column}`))];
}

/** A new database has no rows to walk through. */
async function run(client: pg.ClientBase, step: Step, isNew: boolean): Promise<void> {
  if (typeof step === 'string') await client.query(translatedSchema(step));
  else if (!isNew)
    await client.query(translated(step.sql).text, [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
}
