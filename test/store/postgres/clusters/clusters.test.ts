/** The clusters that other tests build on fail over like real ones, and leave nothing behind. Time limit: 180 s. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ending } from '../../../closing.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { startCluster } from './cluster.ts';
import { openLink } from './link.ts';
import { WITHOUT_POSTGRES } from './programs.ts';

const test = suite('clusters of PostgreSQL');

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

test('one that is killed comes back with what was committed, and goes with its block', async () => {
  let directory = '';
  let pid = 0;
  {
    await using cluster = await startCluster({ fsync: true });
    directory = cluster.socketDirectory;
    const database = await cluster.newDatabase();
    await cluster.query('CREATE TABLE t AS SELECT 7 AS seven', [], database);
    const before = cluster.server.pid;
    await cluster.server.kill();
    assert.not(isAlive(before));
    const refused = await cluster.query('SELECT 1').catch((error: NodeJS.ErrnoException) => error.code);
    assert.ok(['ECONNREFUSED', 'ENOENT'].includes(String(refused)), String(refused));
    await cluster.server.start();
    assert.equal(await cluster.query('SELECT seven FROM t', [], database), [{ seven: 7 }]);
    assert.equal(await cluster.query('SHOW fsync'), [{ fsync: 'on' }]);
    pid = cluster.server.pid;
    assert.ok(isAlive(pid));
  }
  assert.not(isAlive(pid));
  assert.not(existsSync(directory));
});

test('a synchronous standby has what was acknowledged, and the old primary can come back', async () => {
  await using primary = await startCluster({ fsync: true });
  const standby = await primary.standby({ synchronous: true });
  await primary.query('CREATE TABLE t (n integer)');
  assert.equal(await primary.query('SELECT sync_state FROM pg_stat_replication'), [{ sync_state: 'sync' }]);
  await primary.query('INSERT INTO t VALUES (1)');
  await primary.server.kill();
  assert.ok(await standby.isStandby());
  await standby.promote();
  assert.equal(await standby.query('SELECT n FROM t'), [{ n: 1 }]);
  await standby.query('INSERT INTO t VALUES (2)');
  await primary.server.start();
  assert.not(await primary.isStandby());
  assert.equal(await primary.query('SELECT n FROM t'), [{ n: 1 }]);
});

test('an asynchronous standby behind a slow link lacks what was acknowledged meanwhile', async () => {
  await using primary = await startCluster();
  const standby = await primary.standby({ linked: true });
  await primary.query('CREATE TABLE t (n integer)');
  const seen = async () => (await standby.query('SELECT n FROM t').catch(() => [])).length;
  const known = async () => (await standby.query(`SELECT 1 FROM pg_class WHERE relname = 't'`)).length === 1;
  await until(known, 'the table has reached the standby');
  standby.link?.hang();
  await primary.query('INSERT INTO t VALUES (1)');
  assert.is(await seen(), 0);
  standby.link?.restore();
  await until(async () => (await seen()) === 1, 'the row has reached the standby');
});

test('a link delays, hangs, cuts and restores', async () => {
  await using cluster = await startCluster();
  await using link = await openLink(cluster.port);
  const open = async () => {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: link.port,
      user: 'postgres',
      database: 'postgres',
    });
    client.on('error', () => undefined);
    await client.connect();
    return ending(client, () => client.end());
  };
  await using client = await open();
  link.delay(40);
  const begun = performance.now();
  await client.query('SELECT 1');
  assert.ok(performance.now() - begun >= 79, 'each way takes 40 ms longer');
  link.delay(0);
  link.hang();
  let answered = false;
  const answer = client.query('SELECT 2 AS two').then(({ rows }) => {
    answered = true;
    return rows;
  });
  await cluster.query('SELECT pg_sleep(0.2)');
  assert.not(answered);
  link.restore();
  assert.equal(await answer, [{ two: 2 }]);
  link.cut();
  const refused = await open().catch((error: Error) => error);
  assert.instance(refused, Error);
  assert.instance(await client.query('SELECT 3').catch((error: Error) => error), Error);
  link.restore();
  await using again = await open();
  assert.equal((await again.query('SELECT 4 AS four')).rows, [{ four: 4 }]);
});

test('a test that is killed leaves neither a server nor a directory behind', async () => {
  await using child = ending(
    spawn(process.execPath, [join(import.meta.dirname, 'lone.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    }),
    (started) => started.kill('SIGKILL'),
  );
  const [line] = await once(child.stdout, 'data');
  const { pid, directory } = JSON.parse(String(line)) as { pid: number; directory: string };
  assert.ok(isAlive(pid) && existsSync(directory));
  // As the runner does it: the whole group of the test.
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await until(() => !isAlive(pid) && !existsSync(directory), 'the server is gone with its directory');
});

runUnless(WITHOUT_POSTGRES, test, 'clusters of PostgreSQL');
