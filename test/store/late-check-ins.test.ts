import * as assert from 'uvu/assert';
import {
  alertsOf,
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  snitchOf,
  sweep,
  utc,
} from './fixture.ts';

/** Snitches are hourly, checked in at 10:20 and are due at 12:00. */
const DUE = utc('2025-07-09T12:00:00');

contract('check-ins that were kept back', (test) => {
  test('one that comes after the alarm undoes it, and counts for its own time', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, DUE);
    await checkIn(store, token, DUE - 40 * MINUTE, { now: DUE + 5 * MINUTE });
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.status, 'healthy');
    assert.is(state.checkedInAt, DUE - 40 * MINUTE);
    assert.is(state.dueAt, DUE + HOUR);
    assert.is((await alertsOf(store, owner, token)).at(-1), 'snitch.reporting from missing');
    const [listed] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.is(listed?.alert.at, DUE + 5 * MINUTE);
  });

  test('one that comes during the sweep which accuses its job is told before the accusation', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const swept = DUE + MINUTE;
    await checkIn(store, token, DUE - 3 * HOUR, { now: swept + 50 });
    await sweep(store, swept);
    const listed = await store.listAlerts(owner.id, token, { limit: 9, before: null });
    const told = listed.map(({ alert }) => [alert.type, alert.at > swept]);
    assert.equal(told, [
      ['snitch.missing', true],
      ['snitch.reporting', true],
    ]);
    await checkIn(store, token, swept + HOUR);
    const [newest] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.is(newest?.alert.at, swept + HOUR);
  });

  test('one from before the last is in the log and changes nothing', async ({ store }) => {
    const owner = await newCase(store);
    const { token, state } = await healthySnitch(store, owner);
    await checkIn(store, token, NOW - 3 * HOUR, { now: NOW + MINUTE, outcome: 'error', message: 'late' });
    assert.equal((await snitchOf(store, owner, token)).state, state);
    const [newest] = (await store.listCheckIns(owner.id, token, { limit: 1, before: null })) ?? [];
    assert.equal([newest?.at, newest?.message], [NOW - 3 * HOUR, 'late']);
  });

  test('one from before the last lets no deadline be postponed twice', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const window = { start: DUE - HOUR, end: DUE - HOUR + 30 * MINUTE };
    const live = async () => {
      await store.openBlindWindow(window);
      while (await store.postponeSlice(window.end));
    };
    await live();
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.postponed, 1);
    await checkIn(store, token, NOW - 3 * HOUR, { now: window.end });
    assert.equal((await snitchOf(store, owner, token)).state, state);
    await live();
    assert.equal((await snitchOf(store, owner, token)).state, state);
  });

  test('where one came too late to end the silence, a reminder names no earlier beginning of it', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const reminderAt = async (time: number) => {
      await sweep(store, time);
      const [listed] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
      return listed?.alert.details;
    };
    await sweep(store, DUE);
    assert.is((await reminderAt(DUE + HOUR))?.missingSince, DUE);
    assert.is((await snitchOf(store, owner, token)).missingSince, DUE);
    await checkIn(store, token, DUE + 30 * MINUTE, { now: DUE + 3 * HOUR });
    const silent = await snitchOf(store, owner, token);
    assert.equal([silent.state.status, silent.missingSince], ['failed', null]);
    const reminder = await reminderAt(DUE + 4 * HOUR);
    assert.equal([reminder?.missingSince, reminder?.lastCheckInAt], [undefined, DUE + 30 * MINUTE]);
  });
});
