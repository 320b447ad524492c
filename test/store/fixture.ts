/** Shared by the suites of the store: stores in their own directories, and the rows that tests begin with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite, type Test } from 'uvu';
import type { Case, CaseSettings } from '../../src/core/case.ts';
import type { CheckIn } from '../../src/core/check-in.ts';
import type { Snitch, SnitchFields } from '../../src/core/snitch.ts';
import { databasePath } from '../../src/store/sqlite/connection.ts';
import type { Store } from './acting.ts';
import { openStore, type SqliteOptions } from './acting.ts';
import { contentOnPostgres, ON_POSTGRES, queryOnPostgres } from './postgres/open.ts';
import { beginDatabase } from './sqlite-template.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Milliseconds of an ISO time in UTC. */
export const utc = (iso: string): number => Date.parse(`${iso}Z`);

/** A Wednesday morning: the moment at which most tests begin. */
export const NOW = utc('2025-07-09T10:20:00');

/** A store that `await using` closes at the end of its block; it can be closed more than once. */
export type Closing = Store & AsyncDisposable;

/** An empty store, and what a test can do to its database directly. */
export interface Opened extends AsyncDisposable {
  dataDir: string;
  store: Store;
  /** What the store takes for the present time. */
  clock: { now: number };
  /** Runs SQL on a separate connection. */
  query<Row = unknown>(sql: string, ...values: (string | number | null)[]): Promise<Row[]>;
  /** All rows of all tables, to be compared. */
  content(): Promise<string>;
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
}

interface Implementation {
  name: string;
  open(): Promise<Opened>;
}

/** Every implementation of `Store`: each runs the whole contract. */
const IMPLEMENTATIONS: readonly Implementation[] = [
  { name: ON_POSTGRES ? 'postgres' : 'sqlite', open: openEmpty },
];

/** Defines and runs a suite once for every implementation; each test has an empty store. */
export function contract(behaviour: string, define: (test: Test<Opened>) => void): void {
  for (const { name, open } of IMPLEMENTATIONS) {
    const test = suite<Opened>(`${behaviour} (${name})`);
    test.before.each(async (context) => {
      Object.assign(context, await open());
    });
    test.after.each((context) => context.dispose());
    define(test);
    test.run();
  }
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'snitch-store-'));
}

/** For tests that are not about how a database begins: there already is one without any rows. */
export async function openEmpty(): Promise<Opened> {
  const dataDir = temporaryDirectory();
  if (!ON_POSTGRES) beginDatabase(dataDir);
  return openSqlite({ dataDir });
}

export async function openSqlite(options: Partial<SqliteOptions> = {}): Promise<Opened> {
  const dataDir = options.dataDir ?? temporaryDirectory();
  const clock = { now: NOW };
  const open = () => openIn(dataDir, { clock: () => clock.now, ...options });
  let store = open();
  const dispose = async () => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return {
    dataDir,
    store,
    clock,
    query: async (sql, ...values) =>
      ON_POSTGRES ? queryOnPostgres(dataDir, sql, ...values) : queryDirectory(dataDir, sql, ...values),
    content: async () => (ON_POSTGRES ? contentOnPostgres(dataDir) : contentOfDirectory(dataDir)),
    reopen: async () => {
      await store.close();
      store = open();
      return store;
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Opens the database in a directory, or creates it: `await using store = openIn(dataDir)`. */
export function openIn(dataDir: string, options: Partial<SqliteOptions> = {}): Closing {
  const store = openStore({ clock: () => NOW, ...options, dataDir });
  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= store.close();
    return closed;
  };
  return { ...store, close, [Symbol.asyncDispose]: close };
}

/** Runs SQL on a separate connection to the database in `dataDir`, whether or not a store has it open. */
export function queryDirectory<Row>(
  dataDir: string,
  sql: string,
  ...values: (string | number | null)[]
): Row[] {
  const db = new Database(databasePath(dataDir), { fileMustExist: true });
  try {
    db.pragma('wal_autocheckpoint = 0');
    const statement = db.prepare<(string | number | null)[], Row>(sql);
    if (statement.reader) return statement.all(...values);
    statement.run(...values);
    return [];
  } finally {
    db.close();
  }
}

function contentOfDirectory(dataDir: string): string {
  const tables = queryDirectory<{ name: string }>(
    dataDir,
    `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`,
  );
  return JSON.stringify(tables.map(({ name }) => [name, queryDirectory(dataDir, `SELECT * FROM ${name}`)]));
}

export function newCase(store: Store, settings: Partial<CaseSettings> = {}, now = NOW): Promise<Case> {
  return store.createCase(
    {
      name: 'Operations',
      timezone: 'UTC',
      members: [],
      reminders: 'period',
      errorNotices: true,
      maxSnitches: null,
      onHold: false,
      ...settings,
    },
    now,
  );
}

export function newSnitch(
  store: Store,
  { id }: Pick<Case, 'id'>,
  fields: Partial<SnitchFields> = {},
  now = NOW,
): Promise<Snitch> {
  const described = { name: 'nightly-backup', notes: '', tags: [], alertEmail: [] };
  return store.createSnitch(id, { ...described, interval: 'hourly', alertType: 'basic', ...fields }, now);
}

export function checkIn(
  store: Store,
  token: string,
  at: number,
  details: Partial<CheckIn> = {},
): Promise<boolean> {
  const nothing = { exitStatus: null, message: null, source: null, runId: null, output: null };
  return store.applyCheckIn({ token, now: at, at, outcome: 'healthy', ...nothing, ...details });
}

/** A snitch that checked in at `at`. */
export async function healthySnitch(
  store: Store,
  owner: Pick<Case, 'id'>,
  fields: Partial<SnitchFields> = {},
  at = NOW,
): Promise<Snitch> {
  const { token } = await newSnitch(store, owner, fields, at);
  await checkIn(store, token, at);
  return snitchOf(store, owner, token);
}

export async function snitchOf(store: Store, { id }: Pick<Case, 'id'>, token: string): Promise<Snitch> {
  const snitch = await store.getSnitch(id, token);
  if (!snitch) throw new Error(`the case has no snitch ${token}`);
  return snitch;
}

/** Types and previous statuses of a case's alerts, oldest first: `snitch.missing from healthy`. */
export async function alertsOf(store: Store, { id }: Pick<Case, 'id'>, token: string | null = null) {
  const listed = await store.listAlerts(id, token, { limit: 1_000, before: null });
  return listed
    .reverse()
    .map(({ alert }) => `${alert.type} from ${alert.snitch?.previous_status ?? 'nothing'}`);
}

/** One sweep of everything that is due, in slices of `limit`; answers how many snitches changed. */
export async function sweep(store: Store, now: number, limit = 100): Promise<number> {
  let changed = 0;
  let after = null;
  do {
    const result = await store.applyDue(now, after, limit);
    changed += result.changed;
    after = result.next;
  } while (after);
  return changed;
}

/** What `promise` is rejected with; it fails when the promise is kept. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, and got ${JSON.stringify(value)}`);
}
