import * as assert from 'uvu/assert';
import type { ClaimRequest } from '../../src/store/deliveries.ts';
import type { Store } from './acting.ts';
import { contract, HOUR, healthySnitch, MINUTE, NOW, newCase } from './fixture.ts';

const claim = (store: Store, changes: Partial<ClaimRequest> = {}) =>
  store.claimDeliveries({
    now: NOW,
    channel: 'email',
    leaseUntil: NOW + MINUTE,
    perTarget: 100,
    limit: 100,
    busy: [],
    after: '',
    ...changes,
  });

/** Deliveries as `[address, how many]`; each address is the only member of its own case. */
async function backlog(store: Store, counts: Record<string, number>): Promise<void> {
  for (const [address, count] of Object.entries(counts)) {
    const owner = await newCase(store, { members: [address] });
    for (let index = 0; index < count; index += 1) await healthySnitch(store, owner);
  }
}

function countByTarget(claimed: Awaited<ReturnType<Store['claimDeliveries']>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { target } of claimed) counts[target] = (counts[target] ?? 0) + 1;
  return counts;
}

contract('fairness of claims', (test) => {
  test('a claim goes on after the target that the last one ended with, and starts over at the end', async ({
    store,
  }) => {
    await backlog(store, { 'a@example.com': 9, 'b@example.com': 9, 'c@example.com': 9 });
    const turns: string[][] = [];
    let after = '';
    for (let turn = 0; turn < 3; turn += 1) {
      const claimed = await claim(store, { perTarget: 2, limit: 4, after });
      turns.push(Object.keys(countByTarget(claimed)));
      after = claimed.at(-1)?.target ?? '';
    }
    assert.equal(turns, [
      ['a@example.com', 'b@example.com'],
      ['c@example.com', 'a@example.com'],
      ['b@example.com', 'c@example.com'],
    ]);
  });

  test('no target fills the claim', async ({ store }) => {
    await backlog(store, { 'a@example.com': 20, 'b@example.com': 1, 'c@example.com': 3 });
    assert.equal(countByTarget(await claim(store, { perTarget: 2 })), {
      'a@example.com': 2,
      'b@example.com': 1,
      'c@example.com': 2,
    });
  });

  test('the claim as a whole is bounded too', async ({ store }) => {
    await backlog(store, { 'a@example.com': 4, 'b@example.com': 4 });
    assert.is((await claim(store, { perTarget: 3, limit: 5 })).length, 5);
    assert.is((await claim(store, { limit: 0 })).length, 0);
    assert.is((await claim(store)).length, 3);
  });

  test('targets with enough in flight are passed over', async ({ store }) => {
    await backlog(store, { 'a@example.com': 4, 'b@example.com': 1 });
    assert.equal(countByTarget(await claim(store, { busy: ['a@example.com'] })), { 'b@example.com': 1 });
    assert.equal(countByTarget(await claim(store, { busy: [], after: '' })), { 'a@example.com': 4 });
  });

  test('within a target the oldest goes first', async ({ store }) => {
    const owner = await newCase(store, { members: ['a@example.com'] });
    for (const minute of [3, 1, 2]) await healthySnitch(store, owner, {}, NOW - minute * MINUTE);
    const times: number[] = [];
    for (let index = 0; index < 3; index += 1) {
      const [claimed] = await claim(store, { perTarget: 1 });
      times.push((NOW - claimed!.alert.at) / MINUTE);
    }
    assert.equal(times, [3, 2, 1]);
  });

  test('one address in two cases is one target', async ({ store }) => {
    await backlog(store, { 'a@example.com': 2 });
    await backlog(store, { 'a@example.com': 2 });
    assert.equal(countByTarget(await claim(store, { perTarget: 3 })), { 'a@example.com': 3 });
  });

  test('the next delivery is the earliest of all targets', async ({ store }) => {
    const owner = await newCase(store, { members: ['a@example.com', 'b@example.com'] });
    await healthySnitch(store, owner);
    const [first, second] = await claim(store);
    await store.settleDelivery(first!.id, first!.fence, { kind: 'retry', at: NOW + 2 * HOUR, error: 'x' });
    await store.settleDelivery(second!.id, second!.fence, { kind: 'retry', at: NOW + HOUR, error: 'x' });
    assert.is(await store.nextDeliveryAt(), NOW + HOUR);
  });

  test('an alert that cannot be read makes its delivery dead, and holds up no other', async ({
    store,
    query,
  }) => {
    await backlog(store, { 'a@example.com': 2, 'b@example.com': 1 });
    const [poison] = await query<{ id: string; case_id: string }>(
      `SELECT a.id, a.case_id FROM alerts AS a JOIN deliveries AS d ON d.alert_id = a.id
       WHERE d.target = 'a@example.com' ORDER BY d.id LIMIT 1`,
    );
    await query(`UPDATE alerts SET snitch = 'nothing to read' WHERE id = ?`, poison!.id);
    assert.equal(countByTarget(await claim(store)), { 'a@example.com': 1, 'b@example.com': 1 });
    const [dead] = await store.listDeliveries(poison!.case_id, { state: 'dead', limit: 5, before: null });
    assert.is(dead?.alertId, poison?.id);
    assert.match(dead?.lastError ?? '', 'cannot be read');
  });

  test('very many that are not to be sent do not keep one claim busy', async ({ store, query }) => {
    await backlog(store, { 'a@example.com': 1 });
    const columns = 'case_id, channel, target, state, attempts, fence, leased, next_attempt_at';
    await query(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300)
       INSERT INTO deliveries (alert_id, ${columns})
       SELECT 'alert_none', ${columns} FROM deliveries CROSS JOIN numbers`,
    );
    const countDead = async () => {
      const [row] = await query<{ count: number }>(
        `SELECT count(*) AS count FROM deliveries WHERE state = 'dead'`,
      );
      return Number(row?.count);
    };
    const few = { limit: 8, perTarget: 8 };
    assert.is((await claim(store, few)).length, 1, 'the one that is to be sent is the oldest');
    const first = await countDead();
    assert.ok(first > 200 && first < 300, `${first} were looked at`);
    assert.equal(await claim(store, few), []);
    assert.is(await countDead(), 300, 'the next claim goes on');
  });
});
