import * as assert from 'uvu/assert';
import {
  checkIn,
  contract,
  DAY,
  HOUR,
  MINUTE,
  newCase,
  newSnitch,
  type Opened,
  snitchOf,
  utc,
} from './fixture.ts';

const MIDNIGHT = utc('2025-03-01T00:00:00');

async function historyOf({ store }: Opened, token: string): Promise<readonly number[]> {
  return (await store.findLearned(token)).firstCheckIns;
}

contract('history of smart snitches', (test) => {
  test('the first check-in of each period is kept, and only that', async (opened) => {
    const { store } = opened;
    const { token } = await newSnitch(store, await newCase(store), { alertType: 'smart', interval: 'daily' });
    const first = [3 * HOUR, DAY + 2 * HOUR, 3 * DAY + 5 * HOUR].map((at) => MIDNIGHT + at);
    for (const at of first) {
      for (const later of [0, MINUTE, 4 * HOUR]) await checkIn(store, token, at + later);
    }
    assert.equal(await historyOf(opened, token), first);
  });

  test('an error check-in is a sign of life, start and log are none', async (opened) => {
    const { store } = opened;
    const { token } = await newSnitch(store, await newCase(store), { alertType: 'smart', interval: 'daily' });
    await checkIn(store, token, MIDNIGHT + HOUR, { outcome: 'start' });
    await checkIn(store, token, MIDNIGHT + 2 * HOUR, { outcome: 'log' });
    await checkIn(store, token, MIDNIGHT + 3 * HOUR, { outcome: 'error' });
    await checkIn(store, token, MIDNIGHT + 4 * HOUR);
    assert.equal(await historyOf(opened, token), [MIDNIGHT + 3 * HOUR]);
  });

  test('the last 50 periods are kept, for each snitch on its own', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { alertType: 'smart', interval: 'hourly' });
    const other = await newSnitch(store, owner, { alertType: 'smart', interval: 'hourly' });
    await checkIn(store, other.token, MIDNIGHT);
    const times = Array.from({ length: 60 }, (_, hour) => MIDNIGHT + hour * HOUR + (hour % 9) * MINUTE);
    for (const at of times) await checkIn(store, token, at);
    assert.equal(await historyOf(opened, token), times.slice(-50));
    assert.equal(await historyOf(opened, other.token), [MIDNIGHT]);
  });

  test('periods follow the time zone of the case', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store, { timezone: 'America/New_York' });
    const { token } = await newSnitch(store, owner, { alertType: 'smart', interval: 'daily' });
    const evening = MIDNIGHT + 2 * HOUR;
    const sameLocalDay = MIDNIGHT + 4 * HOUR;
    const nextLocalDay = MIDNIGHT + 6 * HOUR;
    for (const at of [evening, sameLocalDay, nextLocalDay]) await checkIn(store, token, at);
    assert.equal(await historyOf(opened, token), [evening, nextLocalDay]);
  });

  test('a basic snitch learns as well, so that it can become smart', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { alertType: 'basic', interval: 'daily' });
    await checkIn(store, token, MIDNIGHT + HOUR);
    await store.updateSnitch(owner.id, token, { alertType: 'smart' }, MIDNIGHT + 2 * HOUR);
    assert.equal(await historyOf(opened, token), [MIDNIGHT + HOUR]);
  });

  test('a new interval forgets what the old one taught', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { alertType: 'smart', interval: 'daily' });
    await checkIn(store, token, MIDNIGHT + HOUR);
    await store.updateSnitch(owner.id, token, { name: 'renamed' }, MIDNIGHT + 2 * HOUR);
    assert.is((await historyOf(opened, token)).length, 1);
    await store.updateSnitch(owner.id, token, { interval: 'hourly' }, MIDNIGHT + 2 * HOUR);
    assert.equal(await historyOf(opened, token), []);
  });

  test('what was known before a schedule is forgotten with it, since nothing was learned meanwhile', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { alertType: 'smart', interval: 'daily' });
    for (let day = 0; day < 50; day += 1) await checkIn(store, token, MIDNIGHT + day * DAY + 3 * HOUR);
    const moved = { schedule: { cron: '0 15 * * *' }, alertType: 'basic' } as const;
    await store.updateSnitch(owner.id, token, moved, MIDNIGHT + 49 * DAY + 4 * HOUR);
    for (let day = 50; day < 90; day += 1) await checkIn(store, token, MIDNIGHT + day * DAY + 15 * HOUR);
    const now = MIDNIGHT + 89 * DAY + 16 * HOUR;
    const smart = await store.updateSnitch(owner.id, token, { schedule: null, alertType: 'smart' }, now);
    assert.is(smart?.state.dueAt, MIDNIGHT + 91 * DAY, 'it runs at 15:00 now, and not at 3:00');
    assert.equal(await historyOf(opened, token), []);
  });

  test('the deadline of a smart snitch is learned from it, and that of a basic one is not', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const dueAfter = async (days: number, alertType: 'smart' | 'basic') => {
      const { token } = await newSnitch(store, owner, { alertType, interval: 'daily' });
      for (let day = 0; day < days; day += 1) await checkIn(store, token, MIDNIGHT + day * DAY + 3 * HOUR);
      const { dueAt } = (await snitchOf(store, owner, token)).state;
      return ((dueAt ?? 0) - MIDNIGHT - days * DAY) / HOUR;
    };
    const learned = await dueAfter(50, 'smart');
    assert.ok(learned > 3 && learned < 6, `${learned} h after midnight`);
    assert.is(await dueAfter(4, 'smart'), 24, 'too little is known');
    assert.is(await dueAfter(30, 'basic'), 24);
  });

  test('a snitch that becomes smart has its deadline learned at once, and back', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { alertType: 'basic', interval: 'daily' });
    for (let day = 0; day < 50; day += 1) await checkIn(store, token, MIDNIGHT + day * DAY + 3 * HOUR);
    const end = MIDNIGHT + 51 * DAY;
    const now = MIDNIGHT + 49 * DAY + 4 * HOUR;
    assert.is((await snitchOf(store, owner, token)).state.dueAt, end);
    const smart = await store.updateSnitch(owner.id, token, { alertType: 'smart' }, now);
    assert.ok((smart?.state.dueAt ?? end) < end - 12 * HOUR);
    assert.is((await store.updateSnitch(owner.id, token, { alertType: 'basic' }, now))?.state.dueAt, end);
  });

  test('what was learned counts for a check-in that was kept back during a blind window', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { alertType: 'basic', interval: 'daily' });
    for (let day = 0; day < 30; day += 1) await checkIn(store, token, MIDNIGHT + day * DAY + 3 * HOUR);
    // The next is expected at three o'clock, and the window is far from that: only the known places say so.
    const at = MIDNIGHT + 29 * DAY + 20 * HOUR;
    const start = MIDNIGHT + 30 * DAY + 19 * HOUR + 55 * MINUTE;
    await store.openBlindWindow({ start, end: start + 10 * MINUTE });
    await checkIn(store, token, at, { now: start + HOUR });
    const { state } = await snitchOf(store, owner, token);
    assert.equal([state.dueAt, state.postponed], [MIDNIGHT + 31 * DAY, 0]);
  });

  test('minute intervals, which cannot be smart, keep no history', async (opened) => {
    const { store } = opened;
    const { token } = await newSnitch(store, await newCase(store), { interval: '5_minute' });
    await checkIn(store, token, MIDNIGHT);
    assert.equal(await historyOf(opened, token), []);
  });

  test('a deleted snitch and a deleted case leave no history', async (opened) => {
    const { store, query } = opened;
    const owner = await newCase(store);
    const deleted = await newSnitch(store, owner);
    const left = await newSnitch(store, owner);
    for (const { token } of [deleted, left]) await checkIn(store, token, MIDNIGHT);
    await store.deleteSnitch(owner.id, deleted.token);
    assert.equal(await historyOf(opened, deleted.token), []);
    await store.deleteCase(owner.id);
    assert.equal(await query('SELECT id FROM snitch_states'), []);
  });

  test('a late run and since when the job is known outlive the periods that were learned from', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { alertType: 'smart', interval: 'daily' });
    const times = Array.from({ length: 80 }, (_, day) => MIDNIGHT + day * DAY + (day === 20 ? 5 : 2) * HOUR);
    for (const at of times) await checkIn(store, token, at);
    const { firstCheckIns, late } = await store.findLearned(token);
    assert.equal(firstCheckIns, times.slice(-50));
    assert.equal(late, { since: times[0], runs: [{ at: times[20], by: 3 * HOUR }] });
    const due = (await snitchOf(store, owner, token)).state.dueAt!;
    assert.ok(due > MIDNIGHT + 80 * DAY + 5 * HOUR, 'and the next run is awaited as late as that one');
    assert.ok(due < MIDNIGHT + 81 * DAY);
  });
});
