/** Whoever is told only if nobody acknowledges is never told of an alarm that somebody has acknowledged. */
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, MINUTE, NOW, newCase, newSnitch } from './fixture.ts';

const SAID = { note: null, by: 'Ann' };
const AFTER = 30 * MINUTE;

/** A case with a channel that is told of errors after half an hour, and a snitch that reported one at NOW. */
async function setUp(store: Store) {
  const owner = await newCase(store);
  const fields = {
    settings: { server: 'http://127.0.0.1', topic: 'pager' },
    events: DEFAULT_EVENTS,
    tags: [],
    after: AFTER / 1_000,
  };
  await store.createChannel(owner.id, { kind: 'ntfy', name: 'pager', fields }, NOW);
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

contract('an escalation and an acknowledgement', (test) => {
  test('without an acknowledgement the escalation is sent when its time comes', async ({ store }) => {
    await setUp(store);
    assert.is((await claim(store, NOW + AFTER - 1)).length, 0);
    assert.is((await claim(store, NOW + AFTER)).length, 1);
  });

  test('what is acknowledged before is dropped, said so, and never sent, also after a restart', async ({
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
    assert.equal(
      await outbox(store, owner.id),
      [['pending', null]],
      'whoever is told is told of the end too',
    );
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
