import { rmSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CheckIn } from '../../../src/core/check-in.ts';
import { Calendar } from '../../../src/core/interval.ts';
import { listActivity } from '../../../src/store/operations/activity/list.ts';
import { listAlerts } from '../../../src/store/operations/alerts.ts';
import { findApiKey } from '../../../src/store/operations/api-keys.ts';
import { listPostponements, postponeSlice } from '../../../src/store/operations/blind-windows.ts';
import { emptyCaseSlice } from '../../../src/store/operations/cases.ts';
import { takeCensus } from '../../../src/store/operations/census.ts';
import { applyCheckIn, listCheckIns } from '../../../src/store/operations/check-ins.ts';
import { claimDeliveries, nextDeliveryAt, settleDelivery } from '../../../src/store/operations/claims.ts';
import { setAnewSlice } from '../../../src/store/operations/clock-ahead.ts';
import { listDeliveries } from '../../../src/store/operations/deliveries.ts';
import { listSnitches } from '../../../src/store/operations/listed/list.ts';
import { listMeasured, listReported } from '../../../src/store/operations/measured/list.ts';
import { listOwnership, roomForSnitches } from '../../../src/store/operations/ownership.ts';
import { findTokenByName } from '../../../src/store/operations/provisioning.ts';
import { prune } from '../../../src/store/operations/retention/retention.ts';
import { lookAnew } from '../../../src/store/operations/routes/look-anew.ts';
import { updateRoute } from '../../../src/store/operations/routes/rules.ts';
import { dropWaiting, findOutage, waitingFor } from '../../../src/store/operations/routes/waiting.ts';
import { deleteSnitch, getSnitch, updateSnitch } from '../../../src/store/operations/snitches.ts';
import { getState } from '../../../src/store/operations/states.ts';
import { applyDue } from '../../../src/store/operations/sweeping/due.ts';
import { moveLooks } from '../../../src/store/operations/sweeping/looks.ts';
import { relieveSlice, rescheduleSlice } from '../../../src/store/operations/sweeping/slices.ts';
import { addTags } from '../../../src/store/operations/tags.ts';
import { pauseSnitch } from '../../../src/store/operations/triggers.ts';
import { openDatabase } from '../../../src/store/sqlite/connection.ts';
import { SqliteTransaction } from '../../../src/store/sqlite/sqlite-transaction.ts';
import type { Operation, Value } from '../../../src/store/transaction.ts';
import { TESTER } from '../acting.ts';
import {
  checkIn,
  HOUR,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  openIn,
  SECOND,
  temporaryDirectory,
} from '../fixture.ts';

/** Runs statements as the store does, and notes SQLite's plan for each. */
class PlannedTransaction extends SqliteTransaction {
  readonly plans = new Map<string, string[]>();
  readonly values = new Map<string, Value[]>();
  readonly #db: Database.Database;

  constructor(db: Database.Database) {
    super(db, new Calendar());
    this.#db = db;
  }

  override get<Row>(sql: string, ...values: Value[]): Row | undefined {
    this.#explain(sql, values);
    return super.get<Row>(sql, ...values);
  }

  override all<Row>(sql: string, ...values: Value[]): Row[] {
    this.#explain(sql, values);
    return super.all<Row>(sql, ...values);
  }

  override run(sql: string, ...values: Value[]): number {
    this.#explain(sql, values);
    return super.run(sql, ...values);
  }

  #explain(sql: string, values: Value[]): void {
    this.values.set(sql, values);
    const steps = this.#db.prepare<Value[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    this.plans.set(
      sql,
      steps.map(({ detail }) => detail),
    );
  }
}

interface World {
  dataDir: string;
  db: Database.Database;
  caseId: string;
  key: string;
  tokens: { healthy: string; pending: string };
}

/** Reading a bounded number of first rows in the order of an index is not a scan. */
const BOUNDED = [
  /^SCAN deliveries USING (COVERING )?INDEX deliveries_due$/,
  /^SCAN alerts USING (COVERING )?INDEX alerts_by_age$/,
  /^SCAN blind_windows$/,
  /^SCAN reschedules$/,
  /^SCAN reliefs$/,
  // Their index alone, where what is pending or waits is counted.
  /^SCAN deliveries USING COVERING INDEX deliveries_(pending|waiting)$/,
  // The blind windows that are kept, and for each case a few look-ups and five rows.
  /^SCAN w$/,
  /^SCAN c( USING COVERING INDEX \w+)?$/,
  // Nothing is read outside of subqueries.
  /^SCAN CONSTANT ROW$/,
  /^SCAN status_counts$/,
  /^USE TEMP B-TREE FOR GROUP BY$/,
];

/** Both sides of an EXCEPT are sorted: the deliveries of one alert, and those of what is kept of its outage. */
const SORTED_SETS = /^USE TEMP B-TREE FOR ORDER BY$/;

const plans = suite<World>('query plans');

plans.before.each(async (world) => {
  const dataDir = temporaryDirectory();
  await using store = openIn(dataDir);
  const owner = await newCase(store, { members: ['ann@example.com'] });
  await store.createWebhook(owner.id, 'http://localhost/hook', NOW);
  const { key } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
  const healthy = await newSnitch(store, owner, { alertType: 'smart' });
  const pending = await newSnitch(store, owner);
  for (let index = 0; index < 3; index += 1) await checkIn(store, healthy.token, NOW + index * HOUR);
  await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, NOW);
  await store.openBlindWindow({ start: NOW + 3 * HOUR, end: NOW + 4 * HOUR });
  await store.close();
  const tokens = { healthy: healthy.token, pending: pending.token };
  Object.assign(world, { dataDir, db: openDatabase(dataDir), caseId: owner.id, key, tokens });
});

plans.after.each(({ db, dataDir }) => {
  db.close();
  rmSync(dataDir, { recursive: true });
});

/** Microseconds of the fastest of some runs. */
function fastest(db: Database.Database, statement: Database.Statement<Value[]>, values: Value[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 30; run += 1) {
    db.exec('SAVEPOINT timed');
    const began = process.hrtime.bigint();
    if (statement.reader) statement.all(...values);
    else statement.run(...values);
    least = Math.min(least, Number(process.hrtime.bigint() - began) / 1_000);
    db.exec('ROLLBACK TO timed; RELEASE timed');
  }
  return least;
}

/**
 * SQLite plans a statement again at each run if the plan may depend on a value, as that of a LIMIT or of a join may:
 * that costs many times what the statement costs. A value after a plus sign does not affect the plan. A statement that
 * is much faster with all its values so is one that forgot it.
 */
function isPlannedAnew(db: Database.Database, sql: string, values: Value[]): boolean {
  if (/^\s*INSERT/.test(sql) || values.length === 0) return false;
  const [asItIs, withPlus] = [db.prepare<Value[]>(sql), db.prepare<Value[]>(sql.replaceAll(/\+?\?/g, '+?'))];
  const slower = () => fastest(db, asItIs, values) > 2.5 * fastest(db, withPlus, values) + 1;
  // On a busy machine one measurement may be wrong, but hardly three.
  return slower() && slower() && slower();
}

/** Runs the operation. @returns its statements, each with what is wasteful about it */
async function wasteOf({ db }: World, operation: Operation<unknown>): Promise<Record<string, string[]>> {
  const tx = new PlannedTransaction(db);
  await operation(tx);
  assert.ok(tx.plans.size > 0);
  const wasteful: Record<string, string[]> = {};
  for (const [sql, steps] of tx.plans) {
    const allowed = sql.includes(' EXCEPT ') ? [...BOUNDED, SORTED_SETS] : BOUNDED;
    const found = steps.filter(
      (step) => /^SCAN|TEMP B-TREE/.test(step) && !allowed.some((one) => one.test(step)),
    );
    found.push(...halfCompared(sql, steps));
    if (isPlannedAnew(db, sql, tx.values.get(sql) ?? [])) found.push('planned anew at each run');
    if (found.length > 0) wasteful[sql] = found;
  }
  return wasteful;
}

/**
 * The pairs of columns of which the index finds only the first. Where many rows are alike in that, each page begins
 * with a walk through all of them that came before.
 */
function halfCompared(sql: string, steps: readonly string[]): string[] {
  const pairs = [...sql.matchAll(/\((?:\w+\.)?(\w+), (?:\w+\.)?(\w+)\) ([<>])/g)];
  return pairs
    .map(([, one, other, sign]) => `(${one},${other})${sign}(?,?)`)
    .filter((bound) => !steps.some((step) => step.includes(bound)));
}

const ACT = { by: TESTER, at: NOW };

const said = { exitStatus: 1, message: 'm', source: '::1', runId: null, output: 'o' };

const CHECK_INS: Record<string, (world: World) => Omit<CheckIn, 'now'>> = {
  everyday: ({ tokens }) => ({
    ...said,
    token: tokens.healthy,
    at: NOW + 2 * HOUR + MINUTE,
    outcome: 'healthy',
  }),
  'of a new period': ({ tokens }) => ({
    ...said,
    token: tokens.healthy,
    at: NOW + 9 * HOUR,
    outcome: 'healthy',
  }),
  'that raises an alert': ({ tokens }) => ({ ...said, token: tokens.pending, at: NOW, outcome: 'error' }),
  'that ends a run': ({ tokens }) => ({
    ...said,
    token: tokens.healthy,
    at: NOW,
    outcome: 'healthy',
    runId: 'a',
  }),
};

for (const [kind, make] of Object.entries(CHECK_INS)) {
  plans(`a check-in ${kind} looks up what it needs`, async (world) => {
    assert.equal(await wasteOf(world, (tx) => applyCheckIn(tx, { ...make(world), now: make(world).at })), {});
  });
}

plans('the sweep walks the index of due times', async (world) => {
  const applied = await wasteOf(world, async (tx) => {
    const first = await applyDue(tx, NOW + 99 * HOUR, null, 1);
    assert.is(first.changed, 1);
    await applyDue(tx, NOW + 99 * HOUR, first.next, 1);
    await moveLooks(tx, NOW + 99 * HOUR, first.next);
  });
  assert.equal(applied, {});
});

for (const channel of ['webhook', 'email'] as const) {
  plans(
    `a claim of the channel ${channel} walks from target to target, and settling is a look-up`,
    async (world) => {
      const claimed = await wasteOf(world, async (tx) => {
        const request = {
          now: NOW + HOUR,
          leaseUntil: NOW + HOUR,
          perTarget: 1,
          limit: 10,
          busy: [],
          after: '',
        };
        const [claim] = await claimDeliveries(tx, { ...request, channel });
        await settleDelivery(tx, claim!.id, claim!.fence, { kind: 'retry', at: NOW + HOUR, error: 'x' });
        await settleDelivery(tx, claim!.id, claim!.fence, { kind: 'delivered', at: NOW });
        await nextDeliveryAt(tx);
      });
      assert.equal(claimed, {});
    },
  );
}

plans('what waits for its time is found by its snitch or its target', async (world) => {
  const { caseId, tokens } = world;
  const waited = await wasteOf(world, async (tx) => {
    const route = { channel: 'email', target: 'ann@example.com' } as const;
    await updateRoute(tx, ACT, caseId, route, { after: 600 });
    await pauseSnitch(tx, ACT, caseId, tokens.healthy, { kind: 'unpaused' }, NOW + MINUTE);
    assert.equal([...(await waitingFor(tx, tokens.healthy))], ['ann@example.com']);
    await findOutage(tx, caseId, tokens.healthy);
    const request = {
      leaseUntil: NOW,
      perTarget: 8,
      limit: 8,
      busy: [],
      after: '',
      channel: 'email',
    } as const;
    await claimDeliveries(tx, { ...request, now: NOW + 11 * MINUTE });
    await lookAnew(tx, route);
    assert.is(await dropWaiting(tx, { caseId, token: tokens.healthy }, 'over'), 0, 'it is claimed');
    await nextDeliveryAt(tx);
  });
  assert.equal(waited, {});
});

plans(
  'what waits for one snitch is found among all that waits in its case',
  async ({ db, caseId, tokens }) => {
    const tx = new PlannedTransaction(db);
    await dropWaiting(tx, { caseId, token: tokens.healthy }, 'over');
    await waitingFor(tx, tokens.healthy);
    for (const plan of tx.plans.values()) assert.match(plan.join(), 'USING INDEX deliveries_waiting');
  },
);

plans('what every request reads is looked up', async (world) => {
  const { caseId, key, tokens } = world;
  const read = await wasteOf(world, async (tx) => {
    assert.ok(await findApiKey(tx, key));
    assert.ok(await getSnitch(tx, caseId, tokens.healthy));
    assert.ok(await findTokenByName(tx, caseId, 'nightly-backup'));
    await listSnitches(tx, caseId, { after: 0, limit: 10, tags: ['a'] });
    await listSnitches(tx, caseId, { after: 0, limit: 10, tags: [], name: 'nightly-backup' });
    for (const tags of [[], ['a']]) {
      await listMeasured(tx, caseId, { after: 0, limit: 10, tags });
      await listReported(tx, caseId, { after: 0, limit: 10, tags });
    }
    await listCheckIns(tx, caseId, tokens.healthy, { limit: 10, before: null });
    await listDeliveries(tx, caseId, { state: null, limit: 10, before: { id: '9' } });
    await listDeliveries(tx, caseId, { state: 'pending', limit: 10, before: { at: NOW } });
  });
  assert.equal(read, {});
});

plans('what snitches need of each other is looked up', async (world) => {
  const { caseId, tokens } = world;
  const asked = await wasteOf(world, async (tx) => {
    await addTags(tx, ACT, caseId, tokens.pending, ['host']);
    await updateSnitch(tx, ACT, caseId, tokens.healthy, { needs: [tokens.pending, 'tag:host'] }, NOW);
    await applyCheckIn(tx, { ...said, token: tokens.pending, at: NOW, now: NOW, outcome: 'healthy' });
    // The rules of the case have changed: what is due by the old ones is not by the new.
    while (await rescheduleSlice(tx, NOW));
    await applyDue(tx, NOW + 99 * HOUR, null, 10);
    assert.ok((await getSnitch(tx, caseId, tokens.healthy))?.hold);
    await applyCheckIn(tx, {
      ...said,
      token: tokens.pending,
      at: NOW,
      now: NOW + 99 * HOUR,
      outcome: 'healthy',
    });
    while (await relieveSlice(tx, NOW + 99 * HOUR));
    await deleteSnitch(tx, ACT, caseId, tokens.pending);
  });
  assert.equal(asked, {});
});

plans('what people ask for is looked up', async (world) => {
  const { caseId, tokens } = world;
  const read = await wasteOf(world, async (tx) => {
    await emptyCaseSlice(tx, caseId);
    await getState(tx, tokens.healthy);
    await listAlerts(tx, caseId, null, { limit: 10, before: null });
    await listAlerts(tx, caseId, tokens.healthy, { limit: 10, before: { at: NOW } });
    const behind = { at: NOW, id: 'a' };
    await listAlerts(tx, caseId, null, { limit: 10, before: null, behind });
    await listAlerts(tx, caseId, tokens.healthy, { limit: 10, before: null, behind });
    await listPostponements(tx, caseId, tokens.healthy, 5);
    await listOwnership(tx, caseId, { after: 0, limit: 10 });
    await roomForSnitches(tx, caseId);
    await listActivity(tx, caseId, { subjectId: null, action: null, limit: 10, before: { id: '9' } });
    await listActivity(tx, caseId, { subjectId: tokens.healthy, action: null, limit: 10, before: null });
    await updateSnitch(tx, ACT, caseId, tokens.healthy, { tags: ['a', 'b'], notes: 'n' }, NOW);
    await addTags(tx, ACT, caseId, tokens.healthy, ['c']);
    await listSnitches(tx, caseId, { after: 0, limit: 10, tags: [] });
    await pauseSnitch(tx, ACT, caseId, tokens.healthy, { kind: 'unpaused' }, NOW);
    await deleteSnitch(tx, ACT, caseId, tokens.healthy);
  });
  assert.equal(read, {});
});

plans('what the server notes about itself costs the same however many snitches there are', async (world) => {
  const noted = await wasteOf(world, async (tx) => {
    await setAnewSlice(tx, NOW, 0);
    await takeCensus(tx);
  });
  assert.equal(noted, {});
});

plans('work in slices costs what a slice has', async (world) => {
  const sliced = await wasteOf(world, async (tx) => {
    assert.ok(await rescheduleSlice(tx, NOW + 3 * HOUR));
    assert.ok(await postponeSlice(tx, NOW + 4 * HOUR));
    await prune(tx, { checkIns: 1, olderThan: NOW + SECOND, now: NOW });
  });
  assert.equal(sliced, {});
});

plans.run();
