/** Two nodes that sweep and send at once, and lose their connections in between. Time limit: 240 s. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClaimRequest } from '../../../src/store/deliveries.ts';
import { CLOCK } from '../../../src/store/postgres/nodes/signs.ts';
import type { PostgresOptions } from '../../../src/store/postgres/postgres-store.ts';
import type { DueResult, LookCursor } from '../../../src/store/sweep.ts';
import type { Store } from '../acting.ts';
import { checkIn, HOUR, healthySnitch, MINUTE, NOW, newCase, rejection } from '../fixture.ts';
import { HERE } from './databases.ts';
import { openPair, type Pair } from './pair.ts';

const LATER = NOW + 3 * HOUR;
const LEASE = 120_000;

/** More than one slice of the sweep. What takes long here is that each of them reports for the first time. */
const DUE = 4_000;

const FIELDS = { notes: '', tags: [], alertEmail: [], interval: 'hourly', alertType: 'basic' } as const;

/** Healthy, and due at LATER. */
async function makeDue({ one }: Pair, caseId: string, count: number): Promise<void> {
  const tokens: string[] = [];
  for (let made = 0; made < count; made += 1_000) {
    const imported = Array.from({ length: Math.min(1_000, count - made) }, (_, index) => {
      return { ...FIELDS, tags: [], alertEmail: [], name: `job ${made + index}`, token: null };
    });
    const snitches = await one.importSnitches(caseId, { imported, owner: null }, NOW);
    tokens.push(...snitches.map(({ token }) => token));
  }
  await Promise.all(tokens.map((token) => checkIn(one, token, NOW)));
}

/** Cuts all connections of both nodes that are at work just now. */
async function cut({ query }: Pair): Promise<number> {
  const rows = await query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = (SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid())
       AND ${HERE}
       AND pid <> pg_backend_pid() AND state <> 'idle'`,
  );
  return rows.length;
}

/** What is refused so often is not mended by trying it again. */
const ATTEMPTS = 100;

/** What a node does that only hears that it can try again. */
async function stubbornly<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || (error as Error).constructor.name === 'Invalid') throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/**
 * As the daemon does it: where a commit was cut off, nobody is accused until there is a blind window for that time. Here no
 * time passes, so that the window moves no deadline.
 */
async function applyDue(store: Store, after: LookCursor | null): Promise<DueResult> {
  if (store.refused() !== null) await store.openBlindWindow({ start: NOW, end: NOW });
  return store.applyDue(LATER, after, 100);
}

/** Goes on until nothing is due; the connections are cut now and then meanwhile. */
async function sweepAll(store: Store): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    let changed = 0;
    let after: LookCursor | null = null;
    do {
      const from: LookCursor | null = after;
      const result: DueResult = await stubbornly(() => applyDue(store, from));
      assert.equal(result.failures, []);
      changed += result.changed;
      after = result.next;
    } while (after);
    quiet = changed === 0 ? quiet + 1 : 0;
  }
}

test('thousands that are due are told of once each, though both nodes lose their connections meanwhile', async () => {
  await using pair = await openPair();
  const { id } = await newCase(pair.one, { members: ['ops@example.com'] });
  await makeDue(pair, id, DUE);
  const sweeping = Promise.all(pair.both.map(sweepAll));
  let cuts = 0;
  let done = false;
  const ended = sweeping.finally(() => {
    done = true;
  });
  while (!done && cuts < 6) {
    cuts += (await cut(pair)) > 0 ? 1 : 0;
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 100))]);
  }
  await ended;
  // The cut may have come after the last row was applied.
  await sweepAll(pair.one);
  assert.ok(cuts > 0, 'connections were cut');
  const [told] = await pair.query(
    `SELECT COUNT(*) AS alerts, COUNT(DISTINCT token) AS tokens,
       (SELECT COUNT(*) FROM deliveries AS d JOIN alerts AS a ON a.id = d.alert_id WHERE a.type = 'snitch.missing') AS sent,
       (SELECT COUNT(*) FROM snitch_states WHERE status = 'failed') AS failed,
       (SELECT count FROM status_counts WHERE status = 'failed') AS counted
     FROM alerts WHERE type = 'snitch.missing'`,
  );
  assert.equal(told, { alerts: DUE, tokens: DUE, sent: DUE, failed: DUE, counted: DUE });
});

const REQUEST: ClaimRequest = {
  now: LATER,
  channel: 'email',
  leaseUntil: LATER + LEASE,
  perTarget: 8,
  limit: 64,
  after: '',
  busy: [],
};

test('3,000 deliveries are claimed once each, and each target by one node', async () => {
  await using pair = await openPair();
  const members = Array.from({ length: 30 }, (_, index) => `m${index}@example.com`);
  const { id } = await newCase(pair.one, { members });
  await makeDue(pair, id, 100);
  // That they reported for the first time has been told.
  await pair.query(`UPDATE deliveries SET state = 'delivered', next_attempt_at = NULL`);
  await sweepAll(pair.one);
  const claims: { id: number; target: string; store: Store; fence: number }[] = [];
  let cuts = 0;
  // One at a time: each would cut the connection of the other.
  let isCutting = false;
  const claimer = async (store: Store) => {
    let after = '';
    for (let empty = 0; empty < 3; ) {
      const from = after;
      const claimed = await stubbornly(() => store.claimDeliveries({ ...REQUEST, after: from }));
      claims.push(...claimed.map((one) => ({ ...one, store })));
      after = claimed.at(-1)?.target ?? '';
      empty = claimed.length === 0 ? empty + 1 : 0;
      if (cuts >= 4 || store !== pair.one || isCutting) continue;
      isCutting = true;
      cuts += await cut(pair);
      isCutting = false;
    }
  };
  await Promise.all(pair.both.flatMap((store) => [claimer(store), claimer(store)]));
  // What a cut connection had claimed and could not tell of is due again when its lease ends; its turn is kept by its node.
  const late = { ...REQUEST, now: LATER + LEASE, leaseUntil: LATER + 2 * LEASE };
  for (const store of pair.both) {
    for (;;) {
      const claimed = await store.claimDeliveries(late);
      const fresh = claimed.filter((one) => !claims.some((other) => other.id === one.id));
      claims.push(...fresh.map((one) => ({ ...one, store })));
      if (claimed.length === 0) break;
    }
  }
  assert.is(claims.length, 3_000);
  assert.is(new Set(claims.map((one) => one.id)).size, 3_000, 'none was claimed twice');
  const nodes = Map.groupBy(claims, ({ target }) => target);
  const shared = [...nodes.values()].filter((own) => new Set(own.map(({ store }) => store)).size > 1);
  assert.is(shared.length, 0, 'no target had two nodes');
});

test('a recipient stays with its node while the lease lasts, and another serves it afterwards', async () => {
  await using pair = await openPair();
  const { id } = await newCase(pair.one, { members: ['ops@example.com'] });
  await makeDue(pair, id, 4);
  const [first] = await pair.one.claimDeliveries({ ...REQUEST, limit: 1 });
  assert.ok(first);
  assert.equal(await pair.other.claimDeliveries(REQUEST), [], 'it gathers for this recipient');
  assert.is((await pair.one.claimDeliveries(REQUEST)).length, 3);
  await sweepAll(pair.other);
  assert.equal(await pair.other.claimDeliveries(REQUEST), [], 'and also what comes meanwhile');
  const now = LATER + LEASE;
  const later = { ...REQUEST, now, leaseUntil: now + LEASE };
  assert.is((await pair.other.claimDeliveries(later)).length, 8, 'at most so many of one target');
  assert.equal(await pair.one.claimDeliveries(later), []);
  const settlement = { kind: 'delivered', at: now } as const;
  assert.is(await pair.one.settleDelivery(first.id, first.fence, settlement), false, 'it was taken over');
});

test('what a node gives back is its own', async () => {
  await using pair = await openPair();
  const { id } = await newCase(pair.one, { members: ['ops@example.com', 'boss@example.com'] });
  await makeDue(pair, id, 2);
  const [mine] = await pair.one.claimDeliveries({ ...REQUEST, limit: 1 });
  const theirs = await pair.other.claimDeliveries(REQUEST);
  assert.is(theirs.length, 2);
  await pair.one.releaseLeases(LATER);
  const again = await pair.other.claimDeliveries(REQUEST);
  assert.is(again.length, 2, 'its deliveries and its turn are free at once');
  assert.ok(again.some((one) => one.id === mine?.id && one.target === mine.target));
  const settlement = { kind: 'delivered', at: LATER } as const;
  for (const one of theirs) assert.is(await pair.other.settleDelivery(one.id, one.fence, settlement), true);
});

const AHEAD = 10 * MINUTE;

/** Two nodes whose leases follow the database's clock, from which the second host's clock differs. */
function openShared(aheadMs: number, options: Partial<PostgresOptions> = {}): Promise<Pair> {
  const shared = { leaseClock: 'database', clock: Date.now } as const;
  return openPair(shared, { ...options, clock: () => Date.now() + aheadMs });
}

/** What a node claims if its clock is that far ahead. */
function requestAt(aheadMs: number, lease = LEASE): ClaimRequest {
  const now = Date.now() + aheadMs;
  return { ...REQUEST, now, leaseUntil: now + lease };
}

/** So many alerts for one recipient. */
async function tell({ one }: Pair, count: number): Promise<void> {
  const { id } = await newCase(one, { members: ['ops@example.com'] }, Date.now());
  for (let made = 0; made < count; made += 1) await healthySnitch(one, { id }, {}, Date.now());
}

/** Makes the next delivery of the outbox one that cannot be sent, because its alert is gone. */
const spoil = ({ query }: Pair) =>
  query(`DELETE FROM alerts WHERE id = (SELECT alert_id FROM deliveries
    WHERE state = 'pending' AND leased = 0 ORDER BY next_attempt_at, id LIMIT 1)`);

test('after deliveries that cannot be sent, a host whose clock is ahead takes nothing another node has claimed', async () => {
  await using pair = await openShared(AHEAD);
  await tell(pair, 5);
  const mine = await pair.one.claimDeliveries({ ...requestAt(0), limit: 2 });
  assert.is(mine.length, 2);
  await spoil(pair);
  // As if the turn had been released while somebody wrote the deliveries.
  await pair.query('DELETE FROM turns');
  const theirs = await pair.other.claimDeliveries(requestAt(AHEAD));
  assert.is(theirs.length, 2, 'the other two');
  for (const { id, fence } of mine)
    assert.ok(await pair.one.settleDelivery(id, fence, { kind: 'delivered', at: Date.now() }));
  const [{ longest } = { longest: 0 }] = await pair.query<{ longest: number }>(
    `SELECT MAX(next_attempt_at) - ${CLOCK} AS longest FROM deliveries WHERE leased = 1`,
  );
  assert.ok(longest > 0 && longest <= LEASE, 'and has them until its lease ends by the clock that all share');
});

test('after deliveries that cannot be sent, a node leaves alone those it may not take over', async () => {
  await using pair = await openShared(0, { mayTakeOver: () => false });
  await tell(pair, 4);
  const mine = await pair.one.claimDeliveries({ ...requestAt(0, 1), limit: 2 });
  assert.is(mine.length, 2);
  await spoil(pair);
  const theirs = await pair.other.claimDeliveries({ ...requestAt(0), limit: 3 });
  assert.is(theirs.length, 1, 'of those whose lease is over');
  for (const { id, fence } of mine)
    assert.ok(await pair.one.settleDelivery(id, fence, { kind: 'delivered', at: Date.now() }));
});

test('a host whose clock is behind sends at once, and waits between its attempts', async () => {
  await using pair = await openShared(-AHEAD);
  await tell(pair, 1);
  const due = await pair.other.nextDeliveryAt();
  const request = requestAt(-AHEAD);
  assert.ok(due !== null && due <= request.now, 'it is due by its own clock too');
  const [claimed] = await pair.other.claimDeliveries(request);
  assert.ok(claimed);
  const at = Date.now() - AHEAD + MINUTE;
  assert.ok(
    await pair.other.settleDelivery(claimed.id, claimed.fence, { kind: 'retry', at, error: 'refused' }),
  );
  assert.equal(await pair.other.claimDeliveries(requestAt(-AHEAD)), []);
  const again = await pair.other.nextDeliveryAt();
  // The clocks are read one after the other.
  assert.ok(again !== null && again > request.now && again < request.now + 2 * MINUTE, 'a minute later');
  const forOther = await pair.one.nextDeliveryAt();
  assert.ok(forOther !== null && forOther > request.now + AHEAD, 'and no earlier for any other');
});

test('what is settled at one moment is written together, and one that cannot be written holds up none', async () => {
  await using pair = await openPair();
  const { id } = await newCase(pair.one, { members: ['ops@example.com'] });
  await makeDue(pair, id, 150);
  const claimed = await pair.one.claimDeliveries({ ...REQUEST, perTarget: 200, limit: 200 });
  assert.is(claimed.length, 150);
  const before = pair.one.health().commits;
  const wrong = pair.one.settleDelivery(2 ** 70, 1, { kind: 'released' });
  const settled = await Promise.all([
    ...claimed.slice(0, 60).map((one) => pair.one.settleDelivery(one.id, one.fence, { kind: 'released' })),
    ...claimed.slice(60).map((one) => {
      const settlement = { kind: 'delivered', at: LATER } as const;
      return pair.one.settleDelivery(one.id, one.fence + (one === claimed[149] ? 1 : 0), settlement);
    }),
    rejection(wrong),
  ]);
  assert.instance(settled.pop(), Error);
  assert.equal(settled, [...Array.from({ length: 149 }, () => true), false], 'each has its own answer');
  const [states] = await pair.query(
    `SELECT SUM(CASE WHEN state = 'delivered' THEN 1 ELSE 0 END) AS delivered,
       SUM(CASE WHEN next_attempt_at = 0 AND attempts = 0 THEN 1 ELSE 0 END) AS released FROM deliveries`,
  );
  assert.equal(states, { delivered: 89, released: 60 });
  const alone = pair.one.health().commits - before;
  const again = await pair.one.claimDeliveries({ ...REQUEST, perTarget: 200, limit: 200 });
  const begun = pair.one.health().commits;
  const settlement = { kind: 'delivered', at: LATER } as const;
  await Promise.all(again.map((one) => pair.one.settleDelivery(one.id, one.fence, settlement)));
  assert.is(again.length, 60);
  assert.is(pair.one.health().commits - begun, 1);
  assert.is(alone, 1 + 50, 'only the set of the wrong one was written one by one');
});

test.run();
