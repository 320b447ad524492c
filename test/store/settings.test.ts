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
});
