import * as assert from 'uvu/assert';
import type { Reason } from '../../src/core/reason.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, MINUTE, NOW, newCase, newSnitch, sweep, utc } from './fixture.ts';

/** Those of the alerts of a snitch, the newest first. */
async function alertReasons(store: Store, caseId: string, token: string): Promise<(Reason | undefined)[]> {
  const alerts = await store.listAlerts(caseId, token, { limit: 100, before: null });
  return alerts.map(({ alert }) => alert.details?.reason);
}

contract('reasons', (test) => {
  test('the state says why a snitch is failed or errored, and each alert why it was raised', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const reason = async () => (await store.getSnitch(owner.id, token))?.state.reason;
    await checkIn(store, token, NOW);
    assert.is(await reason(), null);
    await checkIn(store, token, NOW + MINUTE, { outcome: 'error', exitStatus: 3 });
    assert.equal(await reason(), { kind: 'exitStatus', status: 3 });
    // The newest error counts, even though it raises no alert.
    await checkIn(store, token, NOW + 2 * MINUTE, { outcome: 'error' });
    assert.equal(await reason(), { kind: 'error' });
    const due = utc('2025-07-09T12:00:00');
    await sweep(store, due);
    assert.equal(await reason(), { kind: 'noCheckIn', by: due });
    await sweep(store, due + HOUR);
    assert.equal(await reason(), { kind: 'noCheckIn', by: due }, 'a reminder is of the same silence');
    await store.pauseSnitch(owner.id, token, { kind: 'time', at: due + 5 * HOUR }, due + HOUR + 1);
    await store.unpauseSnitch(owner.id, token, due + HOUR + 2);
    assert.equal(await reason(), { kind: 'noCheckIn', by: due }, 'it is failed again');
    await checkIn(store, token, due + HOUR + 3, { outcome: 'start' });
    await checkIn(store, token, due + HOUR + MINUTE + 3);
    assert.is(await reason(), null);
    assert.equal(await alertReasons(store, owner.id, token), [
      { kind: 'checkedIn', tookMs: MINUTE },
      { kind: 'paused', until: due + 5 * HOUR },
      { kind: 'noCheckIn', by: due },
      { kind: 'noCheckIn', by: due },
      { kind: 'exitStatus', status: 3 },
      { kind: 'checkedIn', first: true },
    ]);
  });

  test('a silence names the run that has not ended', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW);
    await checkIn(store, token, NOW + MINUTE, { outcome: 'start', runId: 'a' });
    const due = utc('2025-07-09T12:00:00');
    await sweep(store, due);
    const hung = { kind: 'noCheckIn', by: due, startedAt: NOW + MINUTE } as const;
    assert.equal((await store.getSnitch(owner.id, token))?.state.reason, hung);
    assert.equal((await alertReasons(store, owner.id, token))[0], hung);
  });

  test('a silence names the run that has not ended, although it noted much since', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW);
    await checkIn(store, token, NOW + MINUTE, { outcome: 'start', runId: 'a' });
    for (let notes = 1; notes < 50; notes += 1) {
      await checkIn(store, token, NOW + MINUTE + notes, { outcome: 'log', message: `${notes} of 49` });
    }
    await sweep(store, utc('2025-07-09T12:00:00'));
    const [reason] = await alertReasons(store, owner.id, token);
    assert.equal(reason, { kind: 'noCheckIn', by: utc('2025-07-09T12:00:00'), startedAt: NOW + MINUTE });
  });

  test('what a pause covers is told when it ends', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const reason = async () => (await store.getSnitch(owner.id, token))?.state.reason;
    await checkIn(store, token, NOW);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + MINUTE);
    await checkIn(store, token, NOW + 2 * MINUTE, { outcome: 'error', exitStatus: 7 });
    await store.unpauseSnitch(owner.id, token, NOW + 3 * MINUTE);
    assert.equal(await reason(), { kind: 'exitStatus', status: 7 });
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 4 * MINUTE);
    await checkIn(store, token, NOW + 5 * MINUTE);
    await store.unpauseSnitch(owner.id, token, NOW + 6 * MINUTE);
    assert.is(await reason(), null);
  });

  test('a snitch that failed before reasons were kept is reminded of without one', async ({
    store,
    query,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW);
    await sweep(store, utc('2025-07-09T12:00:00'));
    await query('UPDATE snitch_states SET reason = NULL');
    await sweep(store, utc('2025-07-09T13:00:00'));
    assert.is((await alertReasons(store, owner.id, token))[0], undefined);
  });
});
