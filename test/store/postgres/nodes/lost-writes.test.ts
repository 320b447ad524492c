/**
 * A standby that was promoted before it had received everything: nodes that go on know that it lacks what they wrote, and
 * whose check-in is among that is not accused. Time limit: 120 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { checkIn, HOUR, healthySnitch, newCase } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf } from '../hosts/fixture.ts';
import { openNode } from './opened.ts';

const test = suite('lost writes');

const lastSign = async (cluster: Cluster, database: string) => {
  const [row] = await cluster.query<{ at: number }>(
    'SELECT max(alive_at)::float8 AS at FROM nodes',
    [],
    database,
  );
  return row?.at ?? 0;
};

const windowsOf = (cluster: Cluster, database: string) =>
  cluster.query<{ start: number; end: number }>(
    'SELECT started_at::float8 AS start, ended_at::float8 AS "end" FROM blind_windows ORDER BY id',
    [],
    database,
  );

test('check-ins that only the old primary has lie in a blind window, and nobody is accused before', async () => {
  await using cluster = await startCluster();
  const database = await cluster.newDatabase();
  const standby = await cluster.standby();
  await using link = await openLink(standby.port);
  const address = addressOf([cluster.port, link.port], { database, options: 'connect_timeout=3' });
  await using node = await openNode(cluster.port, database, { address });
  const { store } = node;
  const now = Date.now();
  const { token } = await healthySnitch(store, await newCase(store, {}, now), {}, now);
  await until(async () => (await lastSign(standby, database)) > now, 'the standby has all of that');
  link.hang();
  await standby.promote();
  const split = await lastSign(standby, database);
  await until(async () => (await lastSign(cluster, database)) > split, 'the old one takes a sign');
  const at = Date.now();
  assert.is(await checkIn(store, token, at), true, 'and a check-in');
  // What the old one does is not the matter here.
  await cluster.query(
    'INSERT INTO blind_windows (started_at, ended_at, cursor) VALUES (1, 2, 0)',
    [],
    database,
  );
  link.restore();
  const accused: number[] = [];
  await until(async () => {
    accused.push((await store.applyDue(at + 12 * HOUR, null, 100).catch(() => ({ changed: 0 }))).changed);
    return (await lastSign(standby, database)) > at;
  }, 'it has found the new one');
  await until(async () => (await windowsOf(standby, database)).length > 0, 'it says what is lost');
  const [window, ...more] = await windowsOf(standby, database);
  assert.ok(window && window.start <= at && window.end >= at, JSON.stringify({ at, window }));
  assert.equal(more, []);
  assert.equal(new Set(accused), new Set([0]));
  assert.ok(node.told.some((words) => /lacks what this node wrote/.test(words)));
});

test('a failover that loses nothing is no blind time', async () => {
  await using cluster = await startCluster();
  const database = await cluster.newDatabase();
  const standby = await cluster.standby({ synchronous: true });
  const address = addressOf([cluster.port, standby.port], { database, options: 'connect_timeout=3' });
  await using node = await openNode(cluster.port, database, { address });
  const { store } = node;
  const now = Date.now();
  const { token } = await healthySnitch(store, await newCase(store, {}, now), {}, now);
  const isKilled = async () => (await lastSign(cluster, database)) > now + 2_000;
  await until(isKilled, 'it has given some signs');
  await cluster.server.stop('SIGQUIT');
  await standby.promote();
  const since = Date.now();
  await until(() => checkIn(store, token, Date.now()).catch(() => false), 'the new one takes check-ins');
  await until(async () => (await lastSign(standby, database)) > since + 2_000, 'and signs');
  assert.equal(await windowsOf(standby, database), []);
});

test('an older copy that takes the place of the database is told as such, and is one blind window', async () => {
  await using cluster = await startCluster();
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database);
  const started = Date.now();
  await until(async () => (await lastSign(cluster, database)) > started + 1_000, 'it has given some signs');
  const [copied] = await cluster.query<{ at: number }>(
    `UPDATE nodes SET alive_at = alive_at - ${HOUR} RETURNING alive_at::float8 AS at`,
    [],
    database,
  );
  await until(() => node.told.some((words) => /an older copy was restored/.test(words)), 'it says so');
  await until(() => node.store.refused() === null, 'it has written down what is to be');
  const windows = await windowsOf(cluster, database);
  assert.is(windows.length, 1, JSON.stringify(windows));
  assert.is(windows[0]?.start, copied?.at);
});

runUnless(WITHOUT_POSTGRES, test, 'lost writes');
