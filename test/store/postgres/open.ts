/** Stores on PostgreSQL instead of SQLite: each directory has a database. */
import { acts } from '../../../src/store/methods/acts.ts';
import { methodsOf } from '../../../src/store/methods/methods.ts';
import { TYPES, translated } from '../../../src/store/postgres/dialect.ts';
import { openPostgresStore, type PostgresOptions } from '../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { lentPool, poolOf } from './databases.ts';

export type DirectoryOptions = Omit<PostgresOptions, 'pool'> & { dataDir: string };

/** The suites of the store run on PostgreSQL with this. */
export const ON_POSTGRES = process.env.SNITCH_TEST_STORE === 'postgres';

/** Why a test that reads SQLite's file, or fills its disk, is not run on PostgreSQL; null on SQLite. */
export const WITHOUT_SQLITE = ON_POSTGRES ? 'it is about the file of SQLite' : null;

/** Why a test that lets the host's clock run faster is not run on PostgreSQL; null on SQLite. */
export const WITHOUT_OWN_CLOCK = ON_POSTGRES ? 'the clock of the database decides there what is due' : null;

export async function openOnPostgres({ dataDir, ...options }: DirectoryOptions): Promise<Store> {
  // Connections keep the deadline that they were first used with.
  const pool = options.deadline === undefined ? await lentPool(dataDir) : await poolOf(dataDir);
  return openPostgresStore({ ...options, pool });
}

/** A store that can be used before it is open, since the tests of the contract open theirs without waiting. */
export function lazily(opening: Promise<Store>): Store {
  opening.catch(() => {});
  let opened: Store | null = null;
  const ready = opening.then((store) => {
    opened = store;
    return store;
  });
  ready.catch(() => {});
  const later =
    (choose: (store: Store) => object, name: string) =>
    async (...values: unknown[]) => {
      const from = choose(opened ?? (await ready)) as Record<string, (...given: unknown[]) => unknown>;
      return from[name]?.(...values);
    };
  const methods = Object.keys(methodsOf(null as never)).filter((name) => name !== 'by' && name !== 'refused');
  return {
    ...Object.fromEntries(methods.map((name) => [name, later((store) => store, name)])),
    by: (actor: never, at: number) =>
      Object.fromEntries(
        Object.keys(acts).map((name) => [name, later((store) => store.by(actor, at), name)]),
      ),
    refused: () => opened?.refused() ?? null,
    health: () => opened?.health() ?? { failingSince: null, commits: 0, syncs: 0 },
    misplaced: () => null,
    isContested: () => false,
    isSaving: () => false,
    lost: null,
    check: () => {},
    checking: () => null,
    node: null,
    onChange: (listener: Parameters<Store['onChange']>[0]) =>
      opened ? opened.onChange(listener) : void ready.then((store) => store.onChange(listener)),
    failed: new Promise(() => {}),
    close: async () => (await ready).close(),
  } as unknown as Store;
}

/** Runs SQL on a separate connection, in the dialect of the shared operations. */
export async function queryOnPostgres<Row>(
  dataDir: string,
  sql: string,
  ...values: (string | number | null)[]
): Promise<Row[]> {
  const pool = await lentPool(dataDir);
  const client = await pool.connect();
  try {
    const { rows } = await client.query({ text: translated(sql).text, values, types: TYPES });
    return rows as Row[];
  } finally {
    client.release();
    await pool.end();
  }
}

/** All rows of all tables, to be compared. */
export async function contentOnPostgres(dataDir: string): Promise<string> {
  const tables = await queryOnPostgres<{ name: string }>(
    dataDir,
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() ORDER BY table_name`,
  );
  const rows: unknown[] = [];
  for (const { name } of tables) {
    rows.push(
      name,
      await queryOnPostgres(dataDir, `SELECT CAST(t AS TEXT) AS row FROM ${name} AS t ORDER BY 1`),
    );
  }
  return JSON.stringify(rows);
}
