/** The clock ran 40 days ahead and came back. */
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  DAY,
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

const AHEAD = NOW + 40 * DAY;

async function setAnew(store: Store, now = NOW): Promise<void> {
  let after: number | null = 0;
  while (after !== null) after = await store.setAnewSlice(now, after);
}

async function dueOf(store: Store, owner: Case, token: string): Promise<number | null> {
  return (await snitchOf(store, owner, token)).state.dueAt;
}

contract('a clock that ran ahead', (test) => {
  test('a check-in some minutes ahead happened now, though its deadline may be right', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, {}, NOW - MINUTE);
    await checkIn(store, token, NOW + 5 * MINUTE);
    const dueAt = await dueOf(store, owner, token);
    await setAnew(store);
    const { state } = await snitchOf(store, owner, token);
    assert.equal([state.lastCheckInAt, state.checkedInAt, state.dueAt], [NOW, NOW, dueAt]);
  });

  test('check-ins, deadlines and reminders of that time are corrected', async ({ store }) => {
    const owner = await newCase(store);
    const made = { hourly: 'hourly', daily: 'daily', minute: '1_minute', monthly: 'monthly' } as const;
    const expected = {
      hourly: utc('2025-07-09T12:00:00'),
      daily: utc('2025-07-11T00:00:00'),
      minute: utc('2025-07-09T10:22:00'),
      monthly: utc('2025-09-01T00:00:00'),
    };
    const tokens = new Map<keyof typeof made, string>();
    for (const [name, interval] of Object.entries(made) as [keyof typeof made, 'hourly'][]) {
      const { token } = await healthySnitch(store, owner, { name, interval });
      await checkIn(store, token, AHEAD);
      tokens.set(name, token);
    }
    const failed = await healthySnitch(store, owner, {}, NOW - 5 * HOUR);
    await sweep(store, AHEAD);
    await setAnew(store);
    for (const [name, token] of tokens) {
      const { state } = await snitchOf(store, owner, token);
      assert.is(state.dueAt, expected[name], name);
      if (name !== 'monthly') assert.is(state.lastCheckInAt, NOW, name);
      assert.ok((state.checkedInAt ?? 0) <= NOW || name === 'monthly');
    }
    const { state } = await snitchOf(store, owner, failed.token);
    assert.is(state.status, 'failed');
    assert.is(state.dueAt, utc('2025-07-09T12:00:00'));
    await sweep(store, utc('2025-07-09T12:00:00'));
    assert.is((await snitchOf(store, owner, tokens.get('hourly') ?? '')).state.status, 'failed');
  });

  test('what a clock that is right has set stays, and so does the pause that a person set', async ({
    store,
  }) => {
    const daily = await newCase(store, { reminders: 'daily' });
    const owner = await newCase(store);
    const kept = [];
    for (const interval of ['1_minute', 'hourly', '12_hour', 'daily', 'weekly', 'monthly'] as const) {
      kept.push(await healthySnitch(store, owner, { interval }));
    }
    const paused = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, paused.token, { kind: 'time', at: AHEAD + DAY }, NOW);
    const reminded = await healthySnitch(store, daily, { interval: '1_minute' }, NOW - HOUR);
    await sweep(store, NOW);
    const before = [];
    for (const { token, caseId } of [...kept, paused, reminded]) {
      before.push(await snitchOf(store, { id: caseId }, token));
    }
    await setAnew(store);
    for (const snitch of before) {
      assert.equal(await snitchOf(store, { id: snitch.caseId }, snitch.token), snitch);
    }
  });

  test('a clock that is set back by less than two periods moves no deadline', async ({ store }) => {
    const owner = await newCase(store);
    const { token, state } = await healthySnitch(store, owner);
    await setAnew(store, NOW - 20 * MINUTE);
    assert.is(await dueOf(store, owner, token), state.dueAt);
    await setAnew(store, NOW - 3 * HOUR);
    assert.is(await dueOf(store, owner, token), utc('2025-07-09T09:00:00'));
  });

  test('a check-in after the clock was set back by less than an interval counts from itself', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const ahead = NOW + 59 * MINUTE;
    const cases = [
      { fields: { interval: 'hourly' }, due: '12:00:00' },
      { fields: { schedule: { cron: '0 * * * *' }, grace: 300 }, due: '11:05:00' },
      { fields: { schedule: { every: 3_600 }, grace: 300 }, due: '11:35:00' },
    ] as const;
    for (const { fields, due } of cases) {
      const { token } = await healthySnitch(store, owner, fields);
      await checkIn(store, token, ahead);
      await setAnew(store);
      assert.is((await snitchOf(store, owner, token)).state.lastCheckInAt, NOW, due);
      await checkIn(store, token, NOW + 10 * MINUTE);
      assert.is(await dueOf(store, owner, token), utc(`2025-07-09T${due}`));
    }
  });

  test('a check-in that lies ahead by seconds is as it was: such a clock was set right, not wrong', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token, state } = await healthySnitch(store, owner, { interval: 'hourly' });
    await setAnew(store, NOW - 30_000);
    assert.equal((await snitchOf(store, owner, token)).state, state);
  });

  test('a late check-in counts again, and a pause has begun by now', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await checkIn(store, token, AHEAD);
    await store.pauseSnitch(owner.id, token, { kind: 'healthy' }, AHEAD);
    await setAnew(store, NOW + MINUTE);
    assert.is((await snitchOf(store, owner, token)).state.pause?.since, NOW + MINUTE);
    await checkIn(store, token, NOW + 2 * MINUTE, { now: NOW + 9 * MINUTE });
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy');
  });

  test('what was learned of that time is forgotten, and what was learned before stays', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { interval: 'daily' });
    const bystander = await healthySnitch(store, owner, { interval: 'daily' }, AHEAD + DAY);
    const before = [NOW - 2 * DAY, NOW - DAY, NOW];
    for (const at of [...before, AHEAD]) await checkIn(store, token, at);
    assert.equal((await store.findLearned(token)).firstCheckIns, [...before, AHEAD]);
    await setAnew(store);
    assert.equal((await store.findLearned(token)).firstCheckIns, before);
    assert.equal((await store.findLearned(bystander.token)).firstCheckIns, []);
    const { token: right } = await healthySnitch(store, owner, { interval: 'daily' });
    await setAnew(store);
    assert.equal((await store.findLearned(right)).firstCheckIns, [NOW]);
  });

  test('a check-in of that time is corrected, even for a snitch that awaits nothing', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await checkIn(store, token, AHEAD);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW);
    await setAnew(store);
    const { state } = await snitchOf(store, owner, token);
    assert.equal([state.lastCheckInAt, state.checkedInAt, state.pause?.since], [NOW, NOW, NOW]);
  });

  test('a schedule is measured by its own runs: near times stay, and those too far ahead are corrected', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const rules = [
      { schedule: { cron: '30 2 * * *' }, timezone: 'Europe/Berlin' },
      { schedule: { calendar: 'Mon *-*-* 06:00:00' }, interval: 'weekly', grace: 7_200 },
      { schedule: { every: 5_400 } },
      // The next run is within the time that a check-in may come early, so the one after it is awaited.
      { schedule: { cron: '21 * * * *' } },
    ] as const;
    const right = [];
    for (const fields of rules) right.push(await healthySnitch(store, owner, fields));
    const failed = await healthySnitch(store, owner, { schedule: { cron: '0 * * * *' } }, NOW - 5 * HOUR);
    await sweep(store, NOW);
    right.push(await snitchOf(store, owner, failed.token));
    const ahead = [];
    for (const fields of rules) {
      const { token } = await newSnitch(store, owner, fields);
      await checkIn(store, token, AHEAD);
      ahead.push(token);
    }
    // Only the deadline lies ahead: the schedule was changed while the clock did.
    const changed = await healthySnitch(store, owner);
    await store.updateSnitch(owner.id, changed.token, { schedule: { cron: '0 4 * * *' } }, AHEAD);
    assert.ok(((await dueOf(store, owner, changed.token)) ?? 0) > AHEAD);
    await setAnew(store);
    assert.is(await dueOf(store, owner, changed.token), utc('2025-07-10T04:15:00'));
    for (const { token, state } of right) assert.equal((await snitchOf(store, owner, token)).state, state);
    for (const [index, token] of ahead.entries()) {
      const { state } = await snitchOf(store, owner, token);
      assert.is(state.lastCheckInAt, NOW);
      assert.ok((state.dueAt ?? 0) <= NOW + 9 * DAY, `the rule ${index} is due at ${state.dueAt}`);
    }
    const [berlin] = ahead;
    assert.is(await dueOf(store, owner, berlin ?? ''), utc('2025-07-10T00:45:00'));
  });

  test('deliveries that wait for more than 25 hours are due now', async ({ store, query }) => {
    const owner = await newCase(store, {
      members: ['ann@example.com', 'bob@example.com', 'eve@example.com'],
    });
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW);
    await query('UPDATE deliveries SET next_attempt_at = ? WHERE target LIKE ?', AHEAD, 'ann%');
    await query('UPDATE deliveries SET next_attempt_at = ? WHERE target LIKE ?', NOW + 25 * HOUR, 'bob%');
    await query('UPDATE deliveries SET next_attempt_at = ?, leased = 1 WHERE target LIKE ?', AHEAD, 'eve%');
    await setAnew(store);
    const listed = await store.listDeliveries(owner.id, { state: null, limit: 9, before: null });
    assert.equal(
      listed.reverse().map(({ nextAttemptAt }) => (nextAttemptAt ?? 0) - NOW),
      [0, 25 * HOUR, 2 * MINUTE],
    );
  });

  test('a blind window that ends in the future is cut', async ({ store, query }) => {
    await store.openBlindWindow({ start: NOW - MINUTE, end: AHEAD });
    await store.openBlindWindow({ start: AHEAD, end: AHEAD + MINUTE });
    await setAnew(store);
    assert.equal(
      await query('SELECT started_at - ? AS start, ended_at - ? AS "end" FROM blind_windows', NOW, NOW),
      [
        { start: -MINUTE, end: 0 },
        { start: 40 * DAY, end: 40 * DAY },
      ],
    );
  });

  test('many snitches go in slices, from any of them on', async ({ store }) => {
    const owner = await newCase(store);
    const snitches = await Promise.all(Array.from({ length: 1_100 }, () => newSnitch(store, owner)));
    await Promise.all(snitches.map(({ token }) => checkIn(store, token, AHEAD)));
    const next = await store.setAnewSlice(NOW, 0);
    assert.ok(next);
    await setAnew(store);
    for (const { token } of snitches) assert.ok(((await dueOf(store, owner, token)) ?? 0) < NOW + 2 * HOUR);
  });

  test('a change that was counted because the snitch flapped is told soon', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await newSnitch(store, owner);
    for (let index = 0; index < 15; index += 1) {
      const outcome = index % 2 === 0 ? 'error' : 'healthy';
      await checkIn(store, token, AHEAD + index * 1_000, { outcome });
    }
    await setAnew(store);
    const alerts = async () => store.listAlerts(owner.id, token, { limit: 100, before: null });
    assert.is((await alerts()).length, 13);
    await sweep(store, NOW + 10 * MINUTE);
    const told = (await alerts()).find(({ alert }) => alert.details?.flapping?.phase === 'over');
    assert.equal([told?.alert.type, told?.alert.at], ['snitch.errored', NOW + 10 * MINUTE]);
    assert.is(told?.alert.details?.flapping?.changedAt, NOW);
    assert.is(told?.deliveries.length, 1);
  });

  test('a reminder names no silence that begins in a time to come', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, {}, AHEAD);
    await sweep(store, AHEAD + 3 * HOUR);
    await setAnew(store);
    await sweep(store, NOW + 2 * HOUR);
    const listed = await store.listAlerts(owner.id, token, { limit: 9, before: { at: AHEAD } });
    assert.is(listed[0]?.alert.snitch?.previous_status, 'missing');
    assert.is(listed[0]?.alert.details?.missingSince, undefined);
  });
});
