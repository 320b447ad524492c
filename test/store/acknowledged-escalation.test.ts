/** A channel that gets only unacknowledged alarms never gets one that somebody has acknowledged. */
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import type { Channel } from '../../src/core/routing.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, MINUTE, NOW, newCase, newSnitch, sweep } from './fixture.ts';

const SAID = { note: null, by: 'Ann' };
const AFTER = 30 * MINUTE;

/** A case with a channel that gets errors after half an hour, and a snitch that reported one at NOW. */
async function setUp(store: Store, kind: 'ntfy' | 'pagerduty' = 'ntfy', after = AFTER / 1_000) {
  const owner = await newCase(store);
  const settings =
    kind === 'ntfy' ? { server: 'http://127.0.0.1', topic: 'pager' } : { routing_key: 'a'.repeat(32) };
  const fields = { settings, events: DEFAULT_EVENTS, tags: [], after };
  await store.createChannel(owner.id, { kind, name: 'pager', fields }, NOW);
  const { token } = await newSnitch(store, owner, { interval: 'daily' });
  await checkIn(store, token, NOW, { outcome: 'error' });
  return { owner, token };
}

const claim = (store: Store, now: number) =>
  store.claimDeliveries({
    now,
    channel: 'ntfy',
    leaseUntil: now + MINUTE,
    perTarget: 10,
    limit: 10,
    busy: [],
    after: '',
  });

const outbox = async (store: Store, caseId: string) => {
  const deliveries = await store.listDeliveries(caseId, { state: null, limit: 10, before: null });
  return deliveries.map(({ state, lastError }) => [state, lastError]);
};

const DROPPED = [['dropped', 'it was acknowledged before']];
const UNKNOWN = [['dropped', 'it was acknowledged before; whether an attempt arrived is not known']];

contract('an escalation and an acknowledgement', (test) => {
  test('without an acknowledgement the escalation is sent when its time comes', async ({ store }) => {
    await setUp(store);
    assert.is((await claim(store, NOW + AFTER - 1)).length, 0);
    assert.is((await claim(store, NOW + AFTER)).length, 1);
  });

  test('one acknowledged beforehand is dropped with its reason, and never sent, not even after a restart', async ({
    store,
    reopen,
  }) => {
    const { owner, token } = await setUp(store);
    await store.acknowledgeSnitch(owner.id, token, SAID, NOW + MINUTE);
    assert.equal(await outbox(store, owner.id), DROPPED);
    const again = await reopen();
    for (const later of [AFTER, 2 * AFTER, 48 * HOUR]) {
      assert.is((await claim(again, NOW + later)).length, 0);
    }
    await again.unacknowledgeSnitch(owner.id, token, NOW + 3 * AFTER);
    assert.is((await claim(again, NOW + 48 * HOUR)).length, 0, 'what was dropped stays dropped');
  });

  test('the same by the link of the alarm', async ({ store }) => {
    const { owner, token } = await setUp(store);
    const [newest] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    await store.acknowledgeAlarm(newest?.alert.id ?? '', SAID, NOW + MINUTE);
    assert.equal(await outbox(store, owner.id), DROPPED);
    assert.is((await claim(store, NOW + AFTER)).length, 0);
  });

  test('in the same second: the acknowledgement first, so nothing is claimed', async ({ store }) => {
    const { owner, token } = await setUp(store);
    const now = NOW + AFTER;
    const [, claimed] = await Promise.all([
      store.acknowledgeSnitch(owner.id, token, SAID, now),
      claim(store, now),
    ]);
    assert.equal(claimed, []);
    assert.equal(await outbox(store, owner.id), DROPPED);
  });

  test('in the same second: the claim first, so it was being sent before anybody acknowledged', async ({
    store,
  }) => {
    const { owner, token } = await setUp(store);
    const now = NOW + AFTER;
    const [claimed] = await claim(store, now);
    await store.acknowledgeSnitch(owner.id, token, SAID, now);
    assert.is(claimed?.alert.token, token);
    assert.equal(await outbox(store, owner.id), UNKNOWN);
    if (claimed) await store.settleDelivery(claimed.id, claimed.fence, { kind: 'delivered', at: now });
    assert.equal(await outbox(store, owner.id), [['delivered', null]]);
  });

  test('a later alarm of the same snitch escalates again', async ({ store }) => {
    const { owner, token } = await setUp(store);
    await store.acknowledgeSnitch(owner.id, token, SAID, NOW + MINUTE);
    await checkIn(store, token, NOW + 2 * MINUTE);
    await checkIn(store, token, NOW + 3 * MINUTE, { outcome: 'error' });
    const claimed = await claim(store, NOW + 3 * MINUTE + AFTER);
    assert.equal(
      claimed.map(({ alert }) => [alert.type, alert.at]),
      [['snitch.errored', NOW + 3 * MINUTE]],
    );
  });
});

/** Alerts of the snitch that are sent there at `now`; all of them arrive. */
async function sent(store: Store, channel: Channel, now: number): Promise<string[]> {
  const request = { now, leaseUntil: now + MINUTE, perTarget: 10, limit: 10, busy: [], after: '' };
  const claimed = await store.claimDeliveries({ ...request, channel });
  for (const { id, fence } of claimed) await store.settleDelivery(id, fence, { kind: 'delivered', at: now });
  return claimed.map(({ alert }) => alert.type.replace('snitch.', ''));
}

contract('an escalation that was under way when somebody acknowledged', (test) => {
  const due = NOW + AFTER;

  async function claimed(store: Store, channel: 'ntfy' | 'pagerduty' = 'ntfy') {
    const { owner, token } = await setUp(store, channel);
    const request = { now: due, leaseUntil: due + MINUTE, perTarget: 10, limit: 10, busy: [], after: '' };
    const [delivery] = await store.claimDeliveries({ ...request, channel });
    if (!delivery) throw new Error('nothing was due');
    return { owner, token, delivery };
  }

  test('is not sent again after a crash between the claim and the send', async (context) => {
    const { owner, token } = await claimed(context.store);
    await context.store.acknowledgeSnitch(owner.id, token, SAID, due + 1);
    const store = await context.reopen();
    await store.releaseLeases(due + 2);
    for (const later of [2, AFTER, 48 * HOUR]) assert.equal(await claim(store, due + later), []);
    assert.equal(await outbox(store, owner.id), UNKNOWN);
  });

  test('nor where the crash came first, nor where the snitch fails differently before', async (context) => {
    const { owner, token } = await claimed(context.store);
    const store = await context.reopen();
    await store.releaseLeases(due + 1);
    await store.acknowledgeSnitch(owner.id, token, SAID, due + 2);
    await sweep(store, NOW + 48 * HOUR);
    assert.equal((await outbox(store, owner.id)).at(-1), UNKNOWN[0]);
    assert.equal(
      (await claim(store, NOW + 48 * HOUR + AFTER)).map(({ alert }) => alert.type),
      ['snitch.missing'],
    );
  });

  test('is not tried again where that attempt failed, and its channel is told no end', async ({ store }) => {
    const { owner, token, delivery } = await claimed(store);
    await store.acknowledgeSnitch(owner.id, token, SAID, due + 1);
    const retry = { kind: 'retry', at: due + 10, error: 'timed out' } as const;
    assert.is(await store.settleDelivery(delivery.id, delivery.fence, retry), true);
    assert.equal(await outbox(store, owner.id), DROPPED);
    await checkIn(store, token, due + MINUTE);
    assert.equal(await sent(store, 'ntfy', due + MINUTE), []);
  });

  test('is dropped where it waits for its next attempt', async ({ store }) => {
    const { owner, token, delivery } = await claimed(store);
    const retry = { kind: 'retry', at: due + 10_000, error: 'timed out' } as const;
    await store.settleDelivery(delivery.id, delivery.fence, retry);
    await store.acknowledgeSnitch(owner.id, token, SAID, due + 1);
    assert.equal(await outbox(store, owner.id), DROPPED);
    assert.equal(await claim(store, due + HOUR), []);
  });

  test('that was given back untried counts as never told', async ({ store }) => {
    const { owner, token, delivery } = await claimed(store, 'pagerduty');
    await store.acknowledgeSnitch(owner.id, token, SAID, due + 1);
    assert.is(await store.settleDelivery(delivery.id, delivery.fence, { kind: 'released' }), true);
    assert.equal(await outbox(store, owner.id), DROPPED);
    await checkIn(store, token, due + MINUTE);
    assert.equal(await sent(store, 'pagerduty', due + MINUTE), []);
  });

  test('counts as told, so that the end closes what the attempt may have opened', async (context) => {
    for (const channel of ['pagerduty', 'ntfy'] as const) {
      const { owner, token } = await claimed(context.store, channel);
      await context.store.acknowledgeSnitch(owner.id, token, SAID, due + 1);
      await context.store.releaseLeases(due + 2);
      await checkIn(context.store, token, due + MINUTE);
      assert.equal(await sent(context.store, channel, due + MINUTE), ['reporting'], channel);
    }
  });

  test('that arrived is shown as delivered, and its channel gets the end', async ({ store }) => {
    const { owner, token, delivery } = await claimed(store);
    await store.acknowledgeSnitch(owner.id, token, SAID, due + 1);
    await store.settleDelivery(delivery.id, delivery.fence, { kind: 'delivered', at: due + 2 });
    assert.equal(await outbox(store, owner.id), [['delivered', null]]);
    await checkIn(store, token, due + MINUTE);
    assert.equal(await sent(store, 'ntfy', due + MINUTE), ['reporting']);
  });

  test('of an earlier outage is tried again: its recovery follows it', async ({ store }) => {
    const { owner, token, delivery } = await claimed(store);
    await store.settleDelivery(delivery.id, delivery.fence, { kind: 'retry', at: due + HOUR, error: 'down' });
    await checkIn(store, token, due + MINUTE);
    await checkIn(store, token, due + 2 * MINUTE, { outcome: 'error' });
    await store.acknowledgeSnitch(owner.id, token, SAID, due + 3 * MINUTE);
    assert.equal(await outbox(store, owner.id), [...DROPPED, ['pending', null], ['pending', 'down']]);
    // With PostgreSQL one claim takes both.
    const first = await sent(store, 'ntfy', due + HOUR);
    assert.equal([...first, ...(await sent(store, 'ntfy', due + HOUR))], ['errored', 'reporting']);
  });

  test('whose attempt a service for incidents refused is closed there all the same', async ({ store }) => {
    const { owner, token, delivery } = await claimed(store, 'pagerduty');
    await store.acknowledgeSnitch(owner.id, token, SAID, due + 1);
    await store.settleDelivery(delivery.id, delivery.fence, { kind: 'dead', error: 'timed out' });
    await checkIn(store, token, due + MINUTE);
    assert.equal(await sent(store, 'pagerduty', due + MINUTE), ['reporting']);
  });

  test('an alarm that waited for nothing is tried again: it is no escalation', async ({ store }) => {
    const { owner, token } = await setUp(store, 'ntfy', 0);
    const [delivery] = await claim(store, NOW);
    await store.settleDelivery(delivery!.id, delivery!.fence, { kind: 'retry', at: NOW + 10, error: 'down' });
    await store.acknowledgeSnitch(owner.id, token, SAID, NOW + 1);
    assert.equal(await sent(store, 'ntfy', NOW + 10), ['errored']);
  });
});
