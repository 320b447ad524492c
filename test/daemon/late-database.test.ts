/** A daemon whose database on PostgreSQL is not there when it starts. Time limit: 180 s. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { MIGRATIONS } from '../../src/store/postgres/migrate.ts';
import { LOCKS } from '../../src/store/postgres/postgres-transaction.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { freePort } from '../free-port.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';

interface Context {
  cluster: Cluster;
  database: string;
}

const test = suite<Context>('a late database');

test.before(async (context) => {
  context.cluster = await startCluster({ access: ['host all locked 127.0.0.1/32 scram-sha-256'] });
  await context.cluster.query(`CREATE ROLE locked LOGIN PASSWORD 'right'`);
});
test.before.each(async (context) => {
  context.database = await context.cluster.newDatabase();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

interface Starting extends AsyncDisposable {
  url: string;
  dataDir: string;
  starting: Promise<Daemon>;
  /** What it logged. */
  log: { level: number; msg: string; reason?: string }[];
  /** Ends it as SIGTERM does. */
  end(): void;
}

/** @param given a data directory that somebody else takes away */
async function start(storeUrl: string, given?: string): Promise<Starting> {
  const dataDir = given ?? newDataDir();
  const port = await freePort();
  const env = {
    SNITCH_LISTEN: `127.0.0.1:${port}`,
    SNITCH_DATA_DIR: dataDir,
    SNITCH_STORE_URL: storeUrl,
  };
  const log: Starting['log'] = [];
  const logger = pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const stopped = new AbortController();
  const starting = startDaemon(await loadConfig({ env }), logger, { stopped: stopped.signal });
  starting.catch(() => {});
  return {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    starting,
    log,
    end: () => stopped.abort(),
    [Symbol.asyncDispose]: async () => {
      stopped.abort();
      await starting.then(
        (daemon) => daemon.stop(),
        () => {},
      );
      if (given === undefined) removeDataDir(dataDir);
    },
  };
}

async function statusOf(url: string, method = 'GET'): Promise<number> {
  const response = await fetch(url, { method }).catch(() => null);
  await response?.arrayBuffer();
  return response?.status ?? 0;
}

async function failureOf(starting: Promise<Daemon>): Promise<Error> {
  const [{ reason }] = (await Promise.allSettled([starting])) as [PromiseRejectedResult];
  assert.instance(reason, Error, 'it did not start');
  return reason as Error;
}

test('it answers that it lives and is not ready, refuses check-ins, and goes on when the database is there', async ({
  cluster,
  database,
}) => {
  await cluster.server.stop('SIGINT');
  await using daemon = await start(cluster.url(database));
  const { url, log } = daemon;
  await until(async () => (await statusOf(`${url}/healthz`)) === 200, 'it listens');
  const readiness = await fetch(`${url}/readyz`);
  assert.is(readiness.status, 503);
  assert.match(await readiness.text(), /the database cannot be reached/);
  assert.is(await statusOf(`${url}/c/0123456789`, 'POST'), 503);
  assert.is(await statusOf(`${url}/v1/snitches`), 401);
  const waits = () => log.filter(({ msg }) => /cannot be reached.*tried again each second/.test(msg));
  assert.is(waits().length, 1);
  assert.match(waits()[0]?.reason ?? '', /ECONNREFUSED/);
  await cluster.server.start();
  await daemon.starting;
  await until(async () => (await statusOf(`${url}/readyz`)) === 200, 'it is ready');
  assert.is(await statusOf(`${url}/c/0123456789`, 'POST'), 404, 'it looks at the database');
  assert.is(waits().length, 1, 'it says so once');
  assert.ok(log.some(({ msg }) => msg === 'listening'));
});

test('it ends at once on request, even with a request under way', async () => {
  await using daemon = await start('postgres://nobody@nowhere.invalid/snitch?connect_timeout=30');
  await until(async () => (await statusOf(`${daemon.url}/healthz`)) === 200, 'it waits for an unknown host');
  daemon.end();
  assert.is((await failureOf(daemon.starting)).name, 'OpeningStopped');
  assert.is(await statusOf(`${daemon.url}/healthz`), 0);
});

test('it listens while a host says nothing, and ends at once when it is told to', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  const sockets: Socket[] = [];
  silent.on('connection', (socket) => void sockets.push(socket.on('error', () => undefined)));
  await once(silent, 'listening');
  try {
    const { port } = silent.address() as AddressInfo;
    await using daemon = await start(`postgres://nobody@127.0.0.1:${port}/snitch?connect_timeout=60`);
    const { url } = daemon;
    await until(async () => (await statusOf(`${url}/healthz`)) === 200, 'it listens');
    assert.is(await statusOf(`${url}/c/0123456789`, 'POST'), 503);
    assert.match(await (await fetch(`${url}/readyz`)).text(), /the database is being opened/);
    daemon.end();
    assert.is((await failureOf(daemon.starting)).name, 'OpeningStopped');
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test('it listens while another program has the database to itself, says so, and goes on afterwards', async ({
  cluster,
  database,
}) => {
  await using other = await cluster.connected(database);
  await other.query('BEGIN');
  await other.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCKS, MIGRATIONS]);
  await using daemon = await start(cluster.url(database));
  const { url, log } = daemon;
  await until(async () => (await statusOf(`${url}/healthz`)) === 200, 'it listens');
  assert.is(await statusOf(`${url}/c/0123456789`, 'POST'), 503);
  assert.match(await (await fetch(`${url}/readyz`)).text(), /another program has the database to itself/);
  await other.query('COMMIT');
  await daemon.starting;
  await until(async () => (await statusOf(`${url}/readyz`)) === 200, 'it is ready');
  assert.ok(log.some(({ msg }) => msg.startsWith('the database is there')));
  const opened = log.filter(({ msg }) => msg.startsWith('the data are in PostgreSQL'));
  assert.is(opened.length, 1, 'it was opened once');
});

test('a problem that only a person can fix ends the start at once, explained and without the password', async ({
  cluster,
}) => {
  const at = `127.0.0.1:${cluster.port}`;
  const wrong = [
    [`postgres://locked:wrong@${at}/postgres`, /password authentication failed for user "locked"/],
    [`postgres://postgres@${at}/missing`, /database "missing" does not exist/],
  ] as const;
  for (const [address, words] of wrong) {
    await using daemon = await start(address);
    const { message } = await failureOf(daemon.starting);
    assert.match(message, words);
    assert.not.match(message, /wrong/);
    assert.is(await statusOf(`${daemon.url}/healthz`), 0, 'it never listened');
  }
});

test('a daemon locks the data directory even while it waits, and releases it however it ends', async ({
  cluster,
  database,
}) => {
  const there = cluster.url(database);
  await using waiting = await start('postgres://nobody@nowhere.invalid/snitch');
  const { dataDir } = waiting;
  const failureAt = async (address: string) => {
    await using daemon = await start(address, dataDir);
    return await failureOf(daemon.starting);
  };
  await until(async () => (await statusOf(`${waiting.url}/healthz`)) === 200, 'it waits');
  const refused = await failureAt(there);
  assert.is(refused.name, 'DataDirLocked');
  assert.match(refused.message, `another snitch daemon is using ${dataDir}`);
  waiting.end();
  await failureOf(waiting.starting);
  const denied = await failureAt(`postgres://locked:wrong@127.0.0.1:${cluster.port}/postgres`);
  assert.match(denied.message, /password authentication failed/);
  for (let restart = 0; restart < 2; restart += 1) {
    await using daemon = await start(there, dataDir);
    await daemon.starting;
    assert.is((await failureAt(there)).name, 'DataDirLocked');
  }
});

test('a node works even if its data directory cannot be locked', async ({ cluster, database }) => {
  const dataDir = newDataDir();
  try {
    writeFileSync(join(dataDir, 'snitch.lock'), 'something else, and long enough to look at '.repeat(40));
    await using daemon = await start(cluster.url(database), dataDir);
    await daemon.starting;
    const told = daemon.log.find(({ msg }) => msg.startsWith('the data directory cannot be locked'));
    assert.match(told?.reason ?? '', 'snitch.lock');
  } finally {
    removeDataDir(dataDir);
  }
});

runUnless(WITHOUT_POSTGRES, test, 'a late database');
