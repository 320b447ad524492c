/**
 * A database for each data directory of a test, in place of the SQLite file there. All are on one cluster: the one that
 * SNITCH_TEST_POSTGRES names, which the runner starts for all files, or one of this process that ends with it. A database
 * is copied from one that has the schema already; that of a directory which is gone is emptied for the next, because that
 * takes a hundredth of the time.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { parsePostgresUrl } from '../../../src/core/database/postgres-url.ts';
import { migrate } from '../../../src/store/postgres/migrate.ts';
import type { Pool } from '../../../src/store/postgres/session.ts';
import { type Cluster, startCluster } from './clusters/cluster.ts';

/** Tests of many stores at once and not of durability; rows come and go too quickly for a vacuum to keep up. */
const CONFIGURATION = ['max_connections = 300', 'max_locks_per_transaction = 256', 'autovacuum = off'];

/** How many connections a store has here. */
const CONNECTIONS = 10;

/** Connections of this name do not keep a database from being emptied: they only wait for the next test. */
const KEPT = 'snitch tests';

const TEMPLATE = 'snitch_template';

export function startSharedCluster(): Promise<Cluster> {
  return startCluster({ configuration: CONFIGURATION, keepsInitialized: true });
}

/** What `SNITCH_TEST_POSTGRES` is set to for the processes that use a cluster. */
export function addressOf({ socketDirectory, port }: Cluster, database = 'postgres'): string {
  return urlOf({ host: socketDirectory, port }, database);
}

/** A condition on `pid`: other test files have databases on the same cluster, and must be left alone. */
export const HERE = 'pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())';

interface Place {
  host: string;
  port: number;
}

function urlOf({ host, port }: Place, database: string): string {
  return `postgres://postgres@/${database}?host=${host}&port=${port}`;
}

let place: Promise<Place> | null = null;

function placeOfAll(): Promise<Place> {
  place ??= findPlace();
  return place;
}

async function findPlace(): Promise<Place> {
  const given = process.env.SNITCH_TEST_POSTGRES;
  const [host] = given === undefined ? [] : parsePostgresUrl(given).hosts;
  if (host) return host;
  const own = await startSharedCluster();
  own.unref();
  // For the processes that a test starts.
  process.env.SNITCH_TEST_POSTGRES = addressOf(own);
  return { host: own.socketDirectory, port: own.port };
}

/** The database of one directory. */
interface Room {
  directory: string;
  database: string;
  /** Pools of connections that wait for the next store. */
  idle: pg.Pool[];
  lent: number;
  /**
   * Empties it between two tests, with one connection that stays: a new one would first have to get to know all tables, which
   * takes the server a tenth of a second.
   */
  cleaner: pg.Pool | null;
}

const rooms: Room[] = [];
const roomOf = new Map<string, Promise<Room>>();

/** @param isEmpty whether a new one is left without the schema */
function findRoom(directory: string, isEmpty = false): Promise<Room> {
  const found = roomOf.get(directory) ?? givenRoom(directory) ?? makeRoom(directory, isEmpty);
  roomOf.set(directory, found);
  return found;
}

/** Where processes that a test starts find the databases of its directories, by their names. */
const GIVEN = 'SNITCH_TEST_DATABASES';

function namesGiven(): Record<string, string> {
  return JSON.parse(process.env[GIVEN] ?? '{}') as Record<string, string>;
}

/** One that the process which started this one has made, and will empty. */
function givenRoom(directory: string): Promise<Room> | null {
  const database = namesGiven()[directory];
  return database === undefined
    ? null
    : Promise.resolve({ directory, database, idle: [], lent: 0, cleaner: null });
}

async function makeRoom(directory: string, isEmpty: boolean): Promise<Room> {
  const room = await takeRoom(directory, isEmpty);
  process.env[GIVEN] = JSON.stringify(Object.fromEntries(rooms.map((one) => [one.directory, one.database])));
  return room;
}

async function takeRoom(directory: string, isEmpty: boolean): Promise<Room> {
  const left = isEmpty ? undefined : rooms.find((room) => room.lent === 0 && !existsSync(room.directory));
  if (left) {
    roomOf.delete(left.directory);
    left.directory = directory;
    if (await emptied(left)) return left;
  }
  const database = `test_${randomBytes(8).toString('hex')}`;
  const room: Room = { directory, database, idle: [], lent: 0, cleaner: null };
  rooms.push(room);
  if (!isEmpty) await withClient('postgres', provideTemplate);
  const from = isEmpty ? 'template1' : TEMPLATE;
  await withClient('postgres', (client) =>
    client.query(`CREATE DATABASE ${database} TEMPLATE ${from} STRATEGY file_copy`),
  );
  return room;
}

const EMPTY = `DO $$
  DECLARE name TEXT;
  BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version' LOOP
      EXECUTE format('DELETE FROM %I', name);
    END LOOP;
    -- A test may have put another clock in the place of the server's own.
    FOREACH name IN ARRAY '{clock_timestamp,statement_timestamp}'::text[] LOOP
      IF to_regprocedure(format('pg_catalog.host_%s()', name)) IS NOT NULL THEN
        EXECUTE format('DROP FUNCTION pg_catalog.%I()', name);
        EXECUTE format('ALTER FUNCTION pg_catalog.host_%s() RENAME TO %I', name, name);
      END IF;
    END LOOP;
    PERFORM setval(oid::regclass, 1, FALSE) FROM pg_class WHERE relkind = 'S';
  END $$`;

/** Whether no session is active in it any more, such as a server process of a daemon that was killed a moment ago. */
async function emptied(room: Room): Promise<boolean> {
  room.cleaner ??= newPool({ ...(await settingsOf(room.database)), max: 1, allowExitOnIdle: true });
  const { rows } = await room.cleaner.query(
    'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name <> $1',
    [KEPT],
  );
  if (rows.length > 0) return false;
  await room.cleaner.query(EMPTY);
  return true;
}

/** One process makes it, and the others wait for that. It is renamed when nobody is connected to it any more. */
async function provideTemplate(client: pg.Client): Promise<void> {
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [TEMPLATE]);
  const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [TEMPLATE]);
  if (rows.length > 0) return;
  const unfinished = `${TEMPLATE}_${randomBytes(8).toString('hex')}`;
  await client.query(`CREATE DATABASE ${unfinished}`);
  await withClient(unfinished, migrate);
  const isLeft = async () => {
    const { rows: left } = await client.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [
      unfinished,
    ]);
    return left.length === 0;
  };
  while (!(await isLeft())) await sleep(5);
  await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${TEMPLATE}`);
}

async function withClient<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(await settingsOf(database));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function settingsOf(database: string) {
  const { host, port } = await placeOfAll();
  return { host, port, user: 'postgres', database, application_name: KEPT, pipeline: true, ssl: false };
}

/** Connections to the database of a directory that end with the test. */
export async function poolOf(directory: string, settings: pg.PoolConfig = {}): Promise<pg.Pool> {
  const { database } = await findRoom(directory);
  return newPool({ ...(await settingsOf(database)), ...settings });
}

function newPool(settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ max: CONNECTIONS, ...settings });
  pool.on('error', () => {});
  return pool;
}

/** Connections that outlive the store which they are lent to: with what they have prepared, the next one begins sooner. */
export async function lentPool(directory: string): Promise<Pool> {
  const room = await findRoom(directory);
  room.lent += 1;
  const pool = room.idle.pop() ?? newPool({ ...(await settingsOf(room.database)), allowExitOnIdle: true });
  let isEnded = false;
  return {
    connect: () => (isEnded ? Promise.reject(new Error('the pool was given back')) : pool.connect()),
    end: async () => {
      isEnded = true;
      while (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) await sleep(1);
      room.idle.push(pool);
      room.lent -= 1;
    },
  };
}

/** Takes a database for the directory that has not even the schema. */
export async function takeEmpty(directory: string): Promise<void> {
  await findRoom(directory, true);
}

/** The environment that names the store of a daemon on this directory: empty if the tests run on SQLite. */
export async function storeSettings(directory: string): Promise<{ SNITCH_STORE_URL?: string }> {
  if (process.env.SNITCH_TEST_STORE !== 'postgres') return {};
  const { database } = await findRoom(directory);
  const { port } = await placeOfAll();
  // A socket cannot be reached from another root directory.
  return { SNITCH_STORE_URL: `postgres://postgres@127.0.0.1:${port}/${database}` };
}
