import * as assert from 'uvu/assert';
import { contract, healthySnitch, MINUTE, NOW, newCase, newSnitch, sweep } from './fixture.ts';

contract('settings', (test) => {
  test('a setting is read as it was written last, after a restart too', async ({ store, reopen }) => {
    assert.is(await store.getSetting('maintenance'), null);
    await store.setSetting('maintenance', 'on');
    await store.setSetting('maintenance', 'off');
    await store.setSetting('liveness', '12');
    assert.is(await store.getSetting('maintenance'), 'off');
    const reopened = await reopen();
    assert.is(await reopened.getSetting('maintenance'), 'off');
    assert.is(await reopened.getSetting('liveness'), '12');
    assert.is(await reopened.getSetting('credentials'), null);
  });
});

contract('census', (test) => {
  test('an empty store counts nothing', async ({ store }) => {
    assert.equal(await store.census(), {
      snitches: {},
      outbox: { pending: 0, waiting: 0, oldestAlertAt: null },
      firstDueAt: null,
      blindMs: 0,
      lastValues: [],
    });
  });

  test('snitches by status, the outbox, the first deadline and the blind time', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'], reminders: 'off' });
    await newSnitch(store, owner);
    await healthySnitch(store, owner, {}, NOW - 180 * MINUTE);
    await sweep(store, NOW);
    const { state } = await healthySnitch(store, owner, {}, NOW);
    await healthySnitch(store, owner, { interval: 'daily' }, NOW);
    await store.openBlindWindow({ start: NOW, end: NOW + 5 });
    await store.openBlindWindow({ start: NOW + 10, end: NOW + 17 });
    assert.equal(await store.census(), {
      snitches: { pending: 1, failed: 1, healthy: 2 },
      outbox: { pending: 4, waiting: 0, oldestAlertAt: NOW - 180 * MINUTE },
      firstDueAt: state.dueAt,
      blindMs: 12,
      lastValues: [],
    });
  });

  test('the oldest alert is found even after many that are due before its next attempt', async ({
    store,
  }) => {
    const owner = await newCase(store, { reminders: 'off' });
    const { id: target } = await store.createWebhook(owner.id, 'http://localhost/', NOW);
    const hook = { channel: 'webhook', target } as const;
    await store.createTestDelivery(owner.id, hook, NOW);
    const lease = { leaseUntil: NOW + MINUTE, perTarget: 1, limit: 1, busy: [], after: '' };
    const [claimed] = await store.claimDeliveries({ now: NOW, channel: 'webhook', ...lease });
    const retry = { kind: 'retry', at: NOW + 180 * MINUTE, error: 'answered 500' } as const;
    assert.ok(await store.settleDelivery(claimed!.id, claimed!.fence, retry));
    for (let count = 0; count < 101; count += 1)
      await store.createTestDelivery(owner.id, hook, NOW + MINUTE + count);
    const { outbox } = await store.census();
    assert.equal(outbox, { pending: 102, waiting: 0, oldestAlertAt: NOW });
  });

  test('what waits for its time is late only from then on, and hides nothing that is late', async ({
    store,
  }) => {
    const owner = await newCase(store, { reminders: 'off', members: ['ann@example.com'] });
    const ann = { channel: 'email', target: 'ann@example.com' } as const;
    await store.updateRoute(owner.id, ann, { after: 7_200 });
    for (let count = 0; count < 101; count += 1)
      await healthySnitch(store, owner, { name: `job ${count}` }, NOW - 180 * MINUTE);
    while ((await sweep(store, NOW)) > 0);
    const waiting = (await store.census()).outbox;
    assert.equal(waiting, { pending: 101, waiting: 101, oldestAlertAt: NOW + 7_200_000 });
    const { id: target } = await store.createWebhook(owner.id, 'http://localhost/', NOW);
    await store.createTestDelivery(owner.id, { channel: 'webhook', target }, NOW);
    assert.equal((await store.census()).outbox, { pending: 102, waiting: 101, oldestAlertAt: NOW });
  });
});
