import * as assert from 'uvu/assert';
import { EVERYTHING } from '../../src/core/channel.ts';
import type { Delivery, Settlement } from '../../src/core/delivery.ts';
import { NotFound } from '../../src/core/errors.ts';
import type { Change } from '../../src/store/change.ts';
import type { ClaimRequest } from '../../src/store/deliveries.ts';
import type { Page } from '../../src/store/page.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  rejection,
  SECOND,
} from './fixture.ts';

const LEASE = 40 * SECOND;
const ALL: Page = { limit: 100, before: null };

function claim(store: Store, now: number, changes: Partial<ClaimRequest> = {}) {
  const request: ClaimRequest = {
    now,
    channel: 'email',
    leaseUntil: now + LEASE,
    perTarget: 10,
    limit: 100,
    busy: [],
    after: '',
  };
  return store.claimDeliveries({ ...request, ...changes });
}

/** A case with one member and one delivery for them, due at NOW. */
async function oneDelivery(store: Store) {
  const owner = await newCase(store, { members: ['ann@example.com'] });
  const snitch = await healthySnitch(store, owner);
  const [delivery] = await store.listDeliveries(owner.id, { state: null, ...ALL });
  return { owner, snitch, id: delivery!.id };
}

async function deliveryOf(store: Store, caseId: string, id: number): Promise<Delivery> {
  const found = (await store.listDeliveries(caseId, { state: null, ...ALL })).find((one) => one.id === id);
  assert.ok(found);
  return found;
}

contract('deliveries', (test) => {
  test('a claim has all that a sender needs', async ({ store }) => {
    const owner = await newCase(store, { name: 'Ops', timezone: 'Asia/Tokyo' });
    const webhook = await store.createWebhook(owner.id, 'http://localhost/hook', NOW);
    await healthySnitch(store, owner);
    const [claimed, ...more] = await claim(store, NOW, { channel: 'webhook' });
    const [listed] = await store.listAlerts(owner.id, null, ALL);
    assert.equal(more, []);
    assert.equal(claimed, {
      id: listed!.deliveries[0]!.id,
      fence: claimed!.fence,
      attempt: 1,
      lastError: null,
      channel: 'webhook',
      target: webhook.id,
      alert: listed!.alert,
      case: { id: owner.id, name: 'Ops', timezone: 'Asia/Tokyo' },
      webhook,
    });
    assert.equal(await claim(store, NOW, { channel: 'email' }), []);
    const retry = { kind: 'retry', at: NOW + MINUTE, error: 'away' } as const;
    await store.settleDelivery(claimed!.id, claimed!.fence, retry);
    const [again] = await claim(store, NOW + MINUTE, { channel: 'webhook' });
    assert.equal(again, { ...claimed, fence: again!.fence, attempt: 2, lastError: 'away' });
  });

  test('a claim names the case while snitches are created in it', async ({ store }) => {
    const owner = await newCase(store, { name: 'Ops', timezone: 'Asia/Tokyo', members: ['ann@example.com'] });
    // The first rounds may be slow, and then the two are not done in one transaction.
    for (let round = 0; round < 10; round += 1) {
      await healthySnitch(store, owner);
      const [, claimed] = await Promise.all([newSnitch(store, owner), claim(store, NOW)]);
      const [{ case: named } = {}] = claimed;
      assert.equal(named, { id: owner.id, name: 'Ops', timezone: 'Asia/Tokyo' }, `round ${round}`);
    }
  });

  test('nothing is created in a deleted case while its last mails are claimed', async ({ store }) => {
    for (let round = 0; round < 10; round += 1) {
      const { owner } = await oneDelivery(store);
      await store.deleteCase(owner.id);
      // So many that a claim may come between two of them.
      const creating = Array.from({ length: 100 }, () => rejection(newSnitch(store, owner)));
      const [claimed, ...refused] = await Promise.all([claim(store, NOW), ...creating]);
      assert.is(claimed.length, 1);
      for (const error of refused) assert.instance(error, NotFound, `round ${round}`);
    }
  });

  test('nothing is claimed before it is due, and each only once while its lease runs', async ({ store }) => {
    await oneDelivery(store);
    assert.equal(await claim(store, NOW - 1), []);
    const claims = await Promise.all([claim(store, NOW), claim(store, NOW), claim(store, NOW)]);
    assert.is(claims.flat().length, 1);
    assert.equal(await claim(store, NOW + LEASE - 1), []);
  });

  test('a lease that ends gives the delivery to the next, under a new fence', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [first] = await claim(store, NOW);
    const [second] = await claim(store, NOW + LEASE);
    assert.is(second?.id, id);
    assert.is(second?.attempt, 2);
    assert.ok(second!.fence > first!.fence);
    for (const settlement of [
      { kind: 'delivered', at: NOW + LEASE },
      { kind: 'retry', at: NOW + HOUR, error: 'late' },
      { kind: 'dead', error: 'late' },
      { kind: 'released' },
    ] as const) {
      const before = await deliveryOf(store, owner.id, id);
      assert.is(await store.settleDelivery(id, first!.fence, settlement), false);
      assert.equal(await deliveryOf(store, owner.id, id), before);
    }
    assert.is(await store.settleDelivery(id, second!.fence, { kind: 'delivered', at: NOW + LEASE }), true);
  });

  test('delivered: finished, once', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    const delivered = { kind: 'delivered', at: NOW + SECOND } as const;
    assert.is(await store.settleDelivery(id, claimed!.fence, delivered), true);
    const settled = await deliveryOf(store, owner.id, id);
    assert.is(settled.state, 'delivered');
    assert.is(settled.attempts, 1);
    assert.is(settled.deliveredAt, NOW + SECOND);
    assert.is(settled.nextAttemptAt, null);
    assert.is(await store.settleDelivery(id, claimed!.fence, { kind: 'dead', error: 'late' }), false);
    assert.equal(await deliveryOf(store, owner.id, id), settled);
    assert.is(await store.nextDeliveryAt(), null);
    assert.equal(await claim(store, NOW + 99 * HOUR), []);
  });

  test('retry: due at its time, with the reason', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    const busy = { kind: 'retry', at: NOW + MINUTE, error: '421 busy' } as const;
    assert.is(await store.settleDelivery(id, claimed!.fence, busy), true);
    const settled = await deliveryOf(store, owner.id, id);
    assert.equal(
      [settled.state, settled.attempts, settled.lastError, settled.nextAttemptAt],
      ['pending', 1, '421 busy', NOW + MINUTE],
    );
    assert.is(await store.nextDeliveryAt(), NOW + MINUTE);
    assert.equal(await claim(store, NOW + MINUTE - 1), []);
    const [again] = await claim(store, NOW + MINUTE);
    assert.is(again?.attempt, 2);
  });

  test('dead: kept, listed with the reason, and sent no more', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    assert.is(
      await store.settleDelivery(id, claimed!.fence, { kind: 'dead', error: '550 no such user' }),
      true,
    );
    const [dead] = await store.listDeliveries(owner.id, { state: 'dead', ...ALL });
    assert.equal([dead?.id, dead?.lastError, dead?.nextAttemptAt], [id, '550 no such user', null]);
    assert.equal(await claim(store, NOW + 99 * HOUR), []);
    assert.is(await store.nextDeliveryAt(), null);
  });

  test('a mail about an outage waits while an earlier one is tried again; webhooks and other outages do not', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const webhook = await store.createWebhook(owner.id, 'http://localhost/hook', NOW);
    const [one, other] = [await healthySnitch(store, owner), await healthySnitch(store, owner)];
    for (const { id, fence } of await claim(store, NOW, { channel: 'webhook' }))
      await store.settleDelivery(id, fence, { kind: 'delivered', at: NOW });
    await store.updateCase(owner.id, { members: ['ann@example.com'] }, NOW);
    await checkIn(store, one.token, NOW + 1, { outcome: 'error' });
    for (const channel of ['email', 'webhook'] as const) {
      const [alarm] = await claim(store, NOW + 2, { channel });
      await store.settleDelivery(alarm?.id ?? 0, alarm?.fence ?? 0, {
        kind: 'retry',
        at: NOW + 5 * MINUTE,
        error: 'greylisted',
      });
    }
    await checkIn(store, one.token, NOW + SECOND);
    await checkIn(store, other.token, NOW + SECOND, { outcome: 'error' });
    const sent = async (now: number, channel: 'email' | 'webhook') => {
      const claimed = await claim(store, now, { channel });
      for (const { id, fence } of claimed)
        await store.settleDelivery(id, fence, { kind: 'delivered', at: now });
      return claimed.map(({ alert }) => [alert.token, alert.snitch?.status]);
    };
    assert.equal(await sent(NOW + SECOND, 'email'), [[other.token, 'errored']]);
    assert.is((await sent(NOW + SECOND, 'webhook')).length, 2, `${webhook.id} is for a program`);
    assert.equal(await sent(NOW + 4 * MINUTE, 'email'), []);
    assert.equal(await sent(NOW + 5 * MINUTE, 'email'), [
      [one.token, 'errored'],
      [one.token, 'healthy'],
    ]);
  });

  test('the mail of a recovery waits no longer than a server that asks senders to come back', async ({
    store,
  }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await healthySnitch(store, owner);
    const [first] = await claim(store, NOW);
    await store.settleDelivery(first?.id ?? 0, first?.fence ?? 0, { kind: 'delivered', at: NOW });
    await checkIn(store, token, NOW + 1, { outcome: 'error' });
    const [alarm] = await claim(store, NOW + 1);
    const at = NOW + HOUR;
    await store.settleDelivery(alarm?.id ?? 0, alarm?.fence ?? 0, { kind: 'retry', at, error: 'down' });
    await checkIn(store, token, NOW + 2);
    const [recovery] = await claim(store, NOW + 2);
    assert.is(recovery?.alert.snitch?.status, 'healthy');
  });

  test('a recovery is sent although nobody has heard of its alarm, by mail and webhook, and where that was pruned', async ({
    store,
    query,
  }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    await store.createWebhook(owner.id, 'http://localhost/hook', NOW);
    const fields = { settings: { topic: 'ops' }, ...EVERYTHING };
    await store.createChannel(owner.id, { kind: 'ntfy', name: null, fields }, NOW);
    const { token } = await healthySnitch(store, owner);
    const settled = async (now: number, settlement: Settlement) => {
      const sent: string[] = [];
      for (const channel of ['email', 'webhook', 'ntfy'] as const)
        for (const { id, fence, alert } of await claim(store, now, { channel })) {
          sent.push(`${channel} ${alert.snitch?.status}`);
          await store.settleDelivery(id, fence, settlement);
        }
      return sent;
    };
    await settled(NOW, { kind: 'delivered', at: NOW });
    await checkIn(store, token, NOW + 1, { outcome: 'error' });
    await settled(NOW + 1, { kind: 'dead', error: 'refused' });
    await checkIn(store, token, NOW + 2);
    assert.equal(await settled(NOW + 2, { kind: 'dead', error: 'refused' }), [
      'email healthy',
      'webhook healthy',
    ]);
    await checkIn(store, token, NOW + 3, { outcome: 'error' });
    await settled(NOW + 3, { kind: 'delivered', at: NOW + 3 });
    await checkIn(store, token, NOW + 4);
    await query('DELETE FROM deliveries WHERE alert_id IN (SELECT id FROM alerts WHERE at = ?)', NOW + 3);
    await query('DELETE FROM alerts WHERE at = ?', NOW + 3);
    const all = ['email healthy', 'webhook healthy', 'ntfy healthy'];
    assert.equal(await settled(NOW + 4, { kind: 'delivered', at: NOW + 4 }), all);
  });

  test('released: due again at once, and the attempt does not count', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    assert.is(await store.settleDelivery(id, claimed!.fence, { kind: 'released' }), true);
    const released = await deliveryOf(store, owner.id, id);
    assert.equal([released.attempts, released.nextAttemptAt], [0, NOW]);
    const [again] = await claim(store, NOW);
    assert.is(again?.attempt, 1);
    assert.ok(again!.fence > claimed!.fence);
  });

  test('the leases of a daemon that is gone are released, and what waits for its time is not', async ({
    store,
  }) => {
    const { owner, snitch, id } = await oneDelivery(store);
    const [waiting] = await claim(store, NOW);
    await store.settleDelivery(id, waiting!.fence, { kind: 'retry', at: NOW + HOUR, error: 'busy' });
    await checkIn(store, snitch.token, NOW, { outcome: 'error' });
    const [lost] = await claim(store, NOW);
    await store.releaseLeases(NOW + SECOND);
    const [again, ...more] = await claim(store, NOW + SECOND);
    assert.equal(more, []);
    assert.is(again?.id, lost?.id);
    assert.is(again?.attempt, 2);
    assert.is((await deliveryOf(store, owner.id, id)).nextAttemptAt, NOW + HOUR);
  });

  test('a retry by hand restarts the schedule of attempts', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    await store.settleDelivery(id, claimed!.fence, { kind: 'dead', error: 'no' });
    const other = await oneDelivery(store);
    assert.is(await store.retryDelivery(other.owner.id, id, NOW), null, 'nothing of another case');
    const retried = await store.retryDelivery(owner.id, id, NOW + HOUR);
    assert.equal((await deliveryOf(store, other.owner.id, other.id)).nextAttemptAt, NOW);
    assert.equal(
      [retried?.state, retried?.attempts, retried?.nextAttemptAt, retried?.lastError],
      ['pending', 0, NOW + HOUR, 'no'],
    );
    const [again] = await claim(store, NOW + HOUR);
    assert.is(again?.attempt, 1);
    assert.is(await store.settleDelivery(id, claimed!.fence, { kind: 'dead', error: 'late' }), false);
  });

  test('a retry by hand leaves delivered ones alone, and ignores unknown ids', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    await store.settleDelivery(id, claimed!.fence, { kind: 'delivered', at: NOW });
    const before = await deliveryOf(store, owner.id, id);
    assert.equal(await store.retryDelivery(owner.id, id, NOW + HOUR), before);
    assert.is(await store.retryDelivery(owner.id, id + 1, NOW), null);
  });

  test('a retry by hand wakes whoever sends it, and nobody where there is nothing to send', async ({
    store,
  }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    await store.settleDelivery(id, claimed!.fence, { kind: 'dead', error: 'no' });
    const changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    const told = () => changes.splice(0).filter(({ kind }) => kind === 'deliveries');
    await store.retryDelivery(owner.id, id, NOW);
    assert.equal(told(), [{ kind: 'deliveries', channels: ['email'] }]);
    const [again] = await claim(store, NOW);
    await store.settleDelivery(id, again!.fence, { kind: 'delivered', at: NOW });
    told();
    await store.retryDelivery(owner.id, id, NOW);
    assert.equal(told(), []);
  });

  test('a retry by hand during an attempt never counts below zero', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    await store.retryDelivery(owner.id, id, NOW);
    await store.settleDelivery(id, claimed!.fence, { kind: 'released' });
    assert.is((await deliveryOf(store, owner.id, id)).attempts, 0);
    assert.is((await claim(store, NOW))[0]?.attempt, 1);
  });

  test('lists are newest first, by state, before an id or the time of the alert', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    for (let minute = 0; minute < 5; minute += 1)
      await healthySnitch(store, owner, {}, NOW + minute * MINUTE);
    const all = (await store.listDeliveries(owner.id, { state: null, ...ALL })).map(({ id }) => id);
    assert.equal(
      all,
      [...all].sort((one, other) => other - one),
    );
    const [claimed] = await claim(store, NOW);
    await store.settleDelivery(claimed!.id, claimed!.fence, { kind: 'delivered', at: NOW });
    const ids = async (filter: Parameters<Store['listDeliveries']>[1]) =>
      (await store.listDeliveries(owner.id, filter)).map(({ id }) => id);
    assert.equal(await ids({ state: 'delivered', ...ALL }), all.slice(4));
    assert.equal(await ids({ state: 'pending', ...ALL }), all.slice(0, 4));
    assert.equal(await ids({ state: null, limit: 2, before: { id: String(all[1]) } }), all.slice(2, 4));
    assert.equal(await ids({ state: null, limit: 2, before: { at: NOW + 2 * MINUTE } }), all.slice(3));
    assert.equal(
      await ids({ state: 'pending', limit: 9, before: { at: NOW + 2 * MINUTE } }),
      all.slice(3, 4),
    );
  });

  test('a target that took something later works again, however its address is written', async ({
    store,
  }) => {
    const { owner, id } = await oneDelivery(store);
    const [refused] = await claim(store, NOW);
    await store.settleDelivery(id, refused!.fence, { kind: 'dead', error: 'answered 550 no such user' });
    const deaths = await store.listLastDeaths(owner.id);
    assert.equal(
      deaths.map(({ target }) => target),
      ['ann@example.com'],
    );
    await store.updateCase(owner.id, { members: ['Ann@Example.com'] }, NOW);
    await healthySnitch(store, owner);
    const [taken] = await claim(store, NOW);
    assert.is(taken?.target, 'Ann@Example.com');
    await store.settleDelivery(taken!.id, taken!.fence, { kind: 'delivered', at: NOW });
    assert.equal(await store.listLastDeaths(owner.id), []);
  });

  test('what has arrived is not sent again, and the log does not say so', async ({ store }) => {
    const { owner, id } = await oneDelivery(store);
    const [claimed] = await claim(store, NOW);
    await store.settleDelivery(id, claimed!.fence, { kind: 'delivered', at: NOW });
    assert.is((await store.retryDelivery(owner.id, id, NOW + HOUR))?.state, 'delivered');
    const retries = { subjectId: null, action: 'delivery.retried', ...ALL } as const;
    assert.equal(await store.listActivity(owner.id, retries), []);
  });
});
