/**
 * A table that somebody has to himself for seconds, as `VACUUM FULL` does: a sweep that waited for it meanwhile must not accuse
 * the jobs whose check-ins were refused. Time limit: 120 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { BlindWindow } from '../../../../src/core/blind-window.ts';
import { NoAnswer } from '../../../../src/store/postgres/faults.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { alertsOf, checkIn, HOUR, healthySnitch, newCase, rejection } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { type OpenedNode, openNode } from './opened.ts';

const test = suite<{ cluster: Cluster }>('a sweep behind a refusal');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

/** What a node waits for an answer that refuses a check-in, and one that only sweeps; in milliseconds. */
const SOON = 1_500;
const LATER = 30_000;

async function waiting(cluster: Cluster, database: string, count: number): Promise<void> {
  await until(async () => {
    const rows = await cluster.query(
      `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name LIKE 'snitch%'`,
      [],
      database,
    );
    return rows.length === count;
  }, `${count} wait for the table`);
}

for (const [who, isOwn] of [
  ['another node', false],
  ['the same node', true],
] as const) {
  test(`a sweep of ${who} that waited for the table meanwhile accuses nobody`, async ({ cluster }) => {
    const database = await cluster.newDatabase();
    await using hears = await openNode(cluster.port, database, { deadline: isOwn ? LATER : SOON });
    await using other = await openNode(cluster.port, database, { deadline: LATER });
    const sweeps = isOwn ? hears : other;
    await until(async () => {
      const unsure = await cluster.query('SELECT 1 FROM nodes WHERE unsure_from IS NOT NULL', [], database);
      return unsure.length === 0;
    }, 'it is known that the one lived when the other began');
    const now = Date.now();
    const owner = await newCase(hears.store, {}, now);
    const { token } = await healthySnitch(hears.store, owner, {}, now);
    await using holder = await cluster.connected(database);
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE snitch_states IN ACCESS EXCLUSIVE MODE');
    const swept = sweeps.store.applyDue(now + 12 * HOUR, null, 100);
    await waiting(cluster, database, 1);
    if (isOwn) {
      const cancelled = Object.assign(new Error(), { code: '57014' });
      hears.store.node?.noteLostCheckIn(now, new NoAnswer('', SOON, cancelled));
    } else {
      assert.instance(await rejection(checkIn(hears.store, token, Date.now())), NoAnswer);
      assert.ok(await hears.store.node?.answerForRefused(), 'its window is open');
    }
    await holder.query('ROLLBACK');
    assert.is((await swept).changed, 0);
    assert.equal(await alertsOf(hears.store, owner), ['snitch.reporting from pending']);
  });
}

/** A snitch that is late in twelve hours, and a node that already waits with its sweep for the table that somebody has. */
async function sweptBehind(
  cluster: Cluster,
  database: string,
  hears: OpenedNode,
  sweeps: OpenedNode,
  mode: 'ACCESS EXCLUSIVE' | 'SHARE' = 'ACCESS EXCLUSIVE',
) {
  await until(async () => {
    const unsure = await cluster.query('SELECT 1 FROM nodes WHERE unsure_from IS NOT NULL', [], database);
    return unsure.length === 0;
  }, 'it is known that the one lived when the other began');
  const now = Date.now();
  const owner = await newCase(hears.store, {}, now);
  const { token } = await healthySnitch(hears.store, owner, {}, now);
  const holder = await cluster.connected(database);
  await holder.query('BEGIN');
  await holder.query(`LOCK TABLE snitch_states IN ${mode} MODE`);
  const swept = sweeps.store.applyDue(now + 12 * HOUR, null, 100);
  await waiting(cluster, database, 1);
  return { owner, token, holder, swept };
}

test('a node need not be asked what it refused: the sweep of another one waits until that is said', async ({
  cluster,
}) => {
  const database = await cluster.newDatabase();
  await using hears = await openNode(cluster.port, database, { deadline: SOON });
  await using sweeps = await openNode(cluster.port, database, { deadline: LATER });
  const { owner, token, holder, swept } = await sweptBehind(cluster, database, hears, sweeps);
  await using _ = holder;
  assert.instance(await rejection(checkIn(hears.store, token, Date.now())), NoAnswer);
  await holder.query('ROLLBACK');
  assert.is((await swept).changed, 0);
  assert.equal(await alertsOf(hears.store, owner), ['snitch.reporting from pending']);
});

test('what is refused while the first of it is still to be excused is one window, and told as one', async ({
  cluster,
}) => {
  const database = await cluster.newDatabase();
  await using hears = await openNode(cluster.port, database, { deadline: SOON });
  await using other = await openNode(cluster.port, database, { deadline: SOON });
  const { token, holder, swept } = await sweptBehind(cluster, database, hears, other);
  await using _ = holder;
  await rejection(swept);
  const windows = () =>
    cluster.query<{ from: number; to: number }>(
      'SELECT started_at::float8 AS from, ended_at::float8 AS to FROM blind_windows',
      [],
      database,
    );
  let end = 0;
  for (let times = 0; times < 3; times += 1) {
    assert.instance(await rejection(checkIn(hears.store, token, Date.now())), NoAnswer);
    await until(async () => ((await windows())[0]?.to ?? 0) > end, 'it is written down');
    end = (await windows())[0]?.to ?? 0;
  }
  const found = await windows();
  assert.is(found.length, 1, JSON.stringify(found));
  const told: BlindWindow[] = [];
  const tell = async () => (await hears.store.node?.answerForRefused()) ?? null;
  for (let one = await tell(); one !== null; one = await tell()) told.push(one);
  assert.equal(
    told,
    found.map(({ from: start, to: end }) => ({ start, end })),
  );
});

/** As the server says it of a statement that was cancelled. */
const cancelled = () => new NoAnswer('', SOON, Object.assign(new Error(), { code: '57014' }));

test('a flood of refusals keeps back no sweep, and is written down now and then', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  let commits = 0;
  let isFlooded = true;
  const refuse = () => node.store.node?.noteLostCheckIn(Date.now(), cancelled());
  const onCommit = () => {
    commits += 1;
    // The next one is there before the one before it is known to be written.
    if (isFlooded) refuse();
  };
  await using node = await openNode(cluster.port, database, { onCommit });
  const began = Date.now();
  const signs = async () => {
    const [row] = await cluster.query<{ at: number }>(
      'SELECT alive_at::float8 AS at FROM nodes',
      [],
      database,
    );
    return ((row?.at ?? 0) - began) / 1_000;
  };
  refuse();
  await until(async () => (await signs()) > 2, 'signs of life go on');
  const [written, seconds] = [commits, await signs()];
  const answered = node.store.node?.answerForRefused();
  const isAnswered = await Promise.race([
    answered?.then(() => true),
    until(async () => (await signs()) > seconds + 3, 'it has had three seconds').then(() => false),
  ]);
  isFlooded = false;
  await answered;
  assert.ok(isAnswered, 'it waits for the end of the flood');
  assert.ok(written < 20 * seconds, `${written} writes in ${seconds} s`);
});

test('what another node has said already in the midst of it is not said twice', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database);
  const now = Date.now();
  await cluster.query(
    'INSERT INTO blind_windows (started_at, ended_at, cursor) VALUES ($1, $2, NULL)',
    [now - 40_000, now - 30_000],
    database,
  );
  node.store.node?.noteLostCheckIn(now - 60_000, cancelled());
  await until(() => node.store.refused() === null, 'it is written down');
  const found = await cluster.query<{ start: number; end: number }>(
    `SELECT started_at::float8 AS start, ended_at::float8 AS "end" FROM blind_windows ORDER BY start`,
    [],
    database,
  );
  assert.equal(
    found.map(({ start }) => start - now),
    [-60_000, -40_000, -30_000],
  );
  assert.equal(
    found.slice(0, 2).map(({ end }) => end - now),
    [-40_000, -30_000],
  );
});

test('a sweep that only waited to write waits as well for what others have refused', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using hears = await openNode(cluster.port, database, { deadline: LATER });
  await using sweeps = await openNode(cluster.port, database, { deadline: LATER });
  // As `CREATE INDEX` has it: others may read, and lock rows.
  const { owner, holder, swept } = await sweptBehind(cluster, database, hears, sweeps, 'SHARE');
  await using _ = holder;
  const since = performance.now();
  await until(() => performance.now() - since > SOON, 'it has waited');
  await holder.query('ROLLBACK');
  const now = Date.now();
  await holder.query('INSERT INTO blind_windows (started_at, ended_at, cursor) VALUES ($1, $2, 0)', [
    now - SOON,
    now,
  ]);
  assert.is((await swept).changed, 0);
  assert.equal(await alertsOf(hears.store, owner), ['snitch.reporting from pending']);
});

test('a sweep that waited, and while which nothing was refused, accuses as ever', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using hears = await openNode(cluster.port, database, { deadline: LATER });
  await using sweeps = await openNode(cluster.port, database, { deadline: LATER });
  const { owner, holder, swept } = await sweptBehind(cluster, database, hears, sweeps);
  await using _ = holder;
  const since = performance.now();
  await until(() => performance.now() - since > SOON, 'it has waited');
  await holder.query('ROLLBACK');
  assert.is((await swept).changed, 1);
  assert.is((await alertsOf(hears.store, owner)).length, 2);
});

test('a check-in that was refused with what the node does by itself is made up for as well', async ({
  cluster,
}) => {
  const database = await cluster.newDatabase();
  await using hears = await openNode(cluster.port, database, { deadline: SOON });
  await using _ = await openNode(cluster.port, database);
  const { store } = hears;
  const now = Date.now();
  const { token } = await healthySnitch(store, await newCase(store, {}, now), {}, now);
  await using holder = await cluster.connected(database);
  await holder.query('BEGIN');
  await holder.query('SELECT id FROM snitch_states FOR UPDATE');
  await holder.query('LOCK TABLE alerts');
  const pruned = rejection(store.prune({ checkIns: 100, olderThan: 0, now }));
  await waiting(cluster, database, 1);
  // On a busy machine this one may be refused as well, before the row is free.
  const first = checkIn(store, token, Date.now()).catch(() => undefined);
  await waiting(cluster, database, 2);
  const second = rejection(checkIn(store, token, Date.now()));
  assert.instance(await pruned, NoAnswer);
  assert.instance(await second, NoAnswer);
  await holder.query('ROLLBACK');
  await first;
  assert.ok(await store.node?.answerForRefused());
});

runUnless(WITHOUT_POSTGRES, test, 'a sweep behind a refusal');
