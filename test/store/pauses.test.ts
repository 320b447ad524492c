import * as assert from 'uvu/assert';
import { Invalid } from '../../src/core/errors.ts';
import type { PauseUntil } from '../../src/core/snitch.ts';
import {
  alertsOf,
  checkIn,
  contract,
  DAY,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  rejection,
  snitchOf,
  sweep,
  utc,
} from './fixture.ts';

const UNTIL = NOW + 5 * HOUR;
const KINDS: PauseUntil[] = [{ kind: 'healthy' }, { kind: 'unpaused' }, { kind: 'time', at: UNTIL }];

contract('pauses', (test) => {
  for (const until of KINDS) {
    test(`until ${until.kind}: kept as it was asked for, with the status before`, async ({ store }) => {
      const owner = await newCase(store);
      const { token, state } = await healthySnitch(store, owner);
      assert.is(await store.pauseSnitch(owner.id, token, until, NOW + MINUTE), true);
      assert.equal((await snitchOf(store, owner, token)).state, {
        ...state,
        status: 'paused',
        dueAt: until.kind === 'time' ? UNTIL : null,
        pause: { until, remembered: 'healthy', since: NOW + MINUTE },
      });
    });

    test(`until ${until.kind}: silence while muted raises nothing, not even later`, async ({ store }) => {
      const owner = await newCase(store);
      const { token } = await healthySnitch(store, owner);
      await store.pauseSnitch(owner.id, token, until, NOW + MINUTE);
      await sweep(store, UNTIL - MINUTE);
      assert.is((await snitchOf(store, owner, token)).state.status, 'paused');
      await store.unpauseSnitch(owner.id, token, UNTIL - MINUTE);
      const { state } = await snitchOf(store, owner, token);
      assert.is(state.status, 'healthy');
      assert.is(state.dueAt, utc('2025-07-09T17:00:00'));
      await sweep(store, utc('2025-07-09T17:00:00') - 1);
      assert.equal((await alertsOf(store, owner, token)).slice(1), ['snitch.paused from healthy']);
    });
  }

  test('a check-in from before it began does not end it, over a restart and a repeated pause too', async (opened) => {
    const owner = await newCase(opened.store);
    const { token } = await healthySnitch(opened.store, owner);
    await opened.store.pauseSnitch(owner.id, token, { kind: 'healthy' }, NOW + MINUTE);
    const store = await opened.reopen();
    await store.pauseSnitch(owner.id, token, { kind: 'healthy' }, NOW + 3 * MINUTE);
    const late = (at: number) => checkIn(store, token, at, { now: NOW + 5 * MINUTE });
    const statusNow = async () => (await snitchOf(store, owner, token)).state.status;
    await late(NOW + MINUTE - 1);
    assert.is(await statusNow(), 'paused');
    assert.is((await snitchOf(store, owner, token)).state.checkedInAt, NOW + MINUTE - 1);
    await late(NOW + 2 * MINUTE);
    assert.is(await statusNow(), 'healthy');
  });

  test('a repeated pause replaces its end and sends no second alert', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    for (const until of [...KINDS, ...KINDS]) {
      await store.pauseSnitch(owner.id, token, until, NOW + MINUTE);
      const { state } = await snitchOf(store, owner, token);
      assert.equal(state.pause, { until, remembered: 'healthy', since: NOW + MINUTE });
      assert.is(state.dueAt, until.kind === 'time' ? UNTIL : null);
    }
    assert.equal((await alertsOf(store, owner, token)).slice(1), ['snitch.paused from healthy']);
  });

  test('a pending snitch cannot be paused', async ({ store }) => {
    const owner = await newCase(store);
    const snitch = await newSnitch(store, owner);
    const error = await rejection(store.pauseSnitch(owner.id, snitch.token, { kind: 'healthy' }, NOW));
    assert.instance(error, Invalid);
    assert.equal(
      (error as Invalid).validations.map(({ attribute }) => attribute),
      ['status'],
    );
    assert.equal(await snitchOf(store, owner, snitch.token), snitch);
  });

  test('unpausing what is not paused changes nothing', async ({ store }) => {
    const owner = await newCase(store);
    for (const snitch of [await newSnitch(store, owner), await healthySnitch(store, owner)]) {
      assert.is(await store.unpauseSnitch(owner.id, snitch.token, NOW + HOUR), true);
      assert.equal(await snitchOf(store, owner, snitch.token), snitch);
    }
  });

  test('the sweep ends a pause at its time, and the deadline counts from there', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, token, { kind: 'time', at: UNTIL }, NOW);
    assert.is(await sweep(store, UNTIL - 1), 0);
    assert.is(await sweep(store, UNTIL), 1);
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.status, 'healthy');
    assert.is(state.pause, null);
    assert.is(state.dueAt, utc('2025-07-09T17:00:00'));
    assert.is(await sweep(store, UNTIL), 0);
  });

  test('a failed snitch is reminded again after its pause', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, NOW + 3 * HOUR);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 3 * HOUR);
    assert.is(await sweep(store, NOW + DAY), 0);
    await store.unpauseSnitch(owner.id, token, NOW + DAY);
    assert.is(await sweep(store, NOW + DAY + MINUTE), 0);
    assert.is(await sweep(store, NOW + DAY + 3 * HOUR), 1);
    assert.is((await alertsOf(store, owner, token)).at(-1), 'snitch.missing from missing');
  });

  test('check-ins while muted are in the log and in the times of the snitch', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + MINUTE);
    await checkIn(store, token, NOW + HOUR, { outcome: 'error' });
    await checkIn(store, token, NOW + 2 * HOUR);
    await checkIn(store, token, NOW + 3 * HOUR, { outcome: 'error' });
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.checkedInAt, NOW + 2 * HOUR);
    assert.is(state.lastCheckInAt, NOW + 3 * HOUR);
    assert.is(state.pause?.remembered, 'errored');
    const logged = await store.listCheckIns(owner.id, token, { limit: 10, before: null });
    assert.is(logged?.length, 4);
    await store.unpauseSnitch(owner.id, token, NOW + 4 * HOUR);
    assert.is((await snitchOf(store, owner, token)).state.status, 'errored');
    assert.equal((await alertsOf(store, owner, token)).slice(1), ['snitch.paused from healthy']);
  });

  test('a pause and its end at the same time leave no snitch muted for ever', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await Promise.all([
      store.pauseSnitch(owner.id, token, { kind: 'healthy' }, NOW + MINUTE),
      checkIn(store, token, NOW + MINUTE),
    ]);
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy');
  });
});
