/**
 * A table that somebody has to himself for seconds, as `VACUUM FULL` does: a sweep that waited for it meanwhile must not accuse
 * the jobs whose check-ins were refused. Time limit: 120 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NoAnswer } from '../../../../src/store/postgres/faults.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { alertsOf, checkIn, HOUR, healthySnitch, newCase, rejection } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { openNode } from './opened.ts';

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
  // On a busy machine it may be refused as well, before the row is free.
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
