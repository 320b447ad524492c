/** Snitches with a schedule or a grace, over simulated time (`extensions: When a job is due`). */
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { SnitchFields } from '../../src/core/snitch.ts';
import type { Store } from './acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  DAY,
  HOUR,
  healthySnitch,
  MINUTE,
  newCase,
  SECOND,
  snitchOf,
  sweep,
  utc,
} from './fixture.ts';

const BERLIN = 'Europe/Berlin';
const GRACE = 15 * MINUTE;

/** The instant at which the clock of a zone shows the time, in the form `2026-03-29T03:00`. */
function local(time: string, timezone = BERLIN): number {
  return Temporal.PlainDateTime.from(time).toZonedDateTime(timezone).epochMilliseconds;
}

function daysFrom(first: string, count: number): Temporal.PlainDate[] {
  return Array.from({ length: count }, (_, index) => Temporal.PlainDate.from(first).add({ days: index }));
}

function at(day: Temporal.PlainDate, time: string): number {
  return local(`${day}T${time}`);
}

function scheduled(cron: string, fields: Partial<SnitchFields> = {}): Partial<SnitchFields> {
  return { schedule: { cron }, timezone: BERLIN, interval: 'daily', ...fields };
}

async function dueOf(store: Store, owner: Case, token: string): Promise<number | null> {
  return (await snitchOf(store, owner, token)).state.dueAt;
}

/** Opens the window and works through all snitches. */
async function live(store: Store, start: number, end: number): Promise<void> {
  await store.openBlindWindow({ start, end });
  while (await store.postponeSlice(end));
}

async function rescheduleAll(store: Store, now: number): Promise<void> {
  while (await store.rescheduleSlice(now));
}

contract('schedules over time', (test) => {
  test('weekdays at three, for a year: no false alarm, and each miss is found within its grace', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const begun = local('2026-01-01T12:00');
    const fields = scheduled('0 3 * * 1-5', { interval: 'weekly' });
    const { token } = await healthySnitch(store, owner, fields, begun);
    let runs = 0;
    let missed = 0;
    for (const day of daysFrom('2026-01-02', 365)) {
      assert.is(await sweep(store, at(day, '02:59')), 0, `${day}`);
      if (day.dayOfWeek > 5) {
        assert.is(await sweep(store, at(day, '23:59')), 0, `${day} is no day of work`);
        continue;
      }
      runs += 1;
      const due = at(day, '03:00') + GRACE;
      if (runs % 20 === 0) {
        missed += 1;
        assert.is(await sweep(store, due - 1), 0, `${day}`);
        assert.is(await sweep(store, due), 1, `${day}`);
        await checkIn(store, token, at(day, '09:00'));
      } else {
        await checkIn(store, token, at(day, '03:00') + (runs % 15) * MINUTE);
        assert.is(await sweep(store, due), 0, `${day}`);
      }
    }
    const alerts = await alertsOf(store, owner, token);
    const expected = Array.from({ length: missed }, () => [
      'snitch.missing from healthy',
      'snitch.reporting from missing',
    ]);
    assert.ok(missed > 10);
    assert.equal(alerts, ['snitch.reporting from pending', ...expected.flat()]);
  });

  test('a nightly job that crosses midnight is not accused, and its miss is found', async ({ store }) => {
    const owner = await newCase(store);
    const fields = scheduled('50 23 * * *', { grace: 45 * 60 });
    const { token } = await healthySnitch(store, owner, fields, local('2026-02-28T23:55'));
    for (const [index, day] of daysFrom('2026-03-01', 60).entries()) {
      const run = at(day, '23:50');
      assert.is(await sweep(store, run - 1), 0, `${day}`);
      await checkIn(store, token, run + (index % 2 === 0 ? 5 : 40) * MINUTE);
    }
    const due = local('2026-04-30T00:35') + DAY;
    assert.is(await dueOf(store, owner, token), due);
    assert.is(await sweep(store, due - 1), 0);
    assert.is(await sweep(store, due), 1);
  });

  test('a time that a clock change skips is due when the gap ends, and a doubled one once', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, scheduled('30 2 * * *'), local('2026-03-28T02:31'));
    assert.is(await dueOf(store, owner, token), utc('2026-03-29T01:15:00'));
    await checkIn(store, token, utc('2026-10-24T00:31:00'));
    assert.is(await dueOf(store, owner, token), utc('2026-10-25T00:45:00'));
    await checkIn(store, token, utc('2026-10-25T00:31:00'));
    assert.is(await dueOf(store, owner, token), utc('2026-10-26T01:45:00'), 'the second 02:30 is no run');
  });

  test('a check-in shortly before its run answers for it, and a second one does not', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, scheduled('0 3 * * *'), local('2026-05-04T02:57'));
    await checkIn(store, token, local('2026-05-05T02:56'));
    assert.is(await dueOf(store, owner, token), local('2026-05-06T03:00') + GRACE);
    await checkIn(store, token, local('2026-05-05T12:00'));
    await checkIn(store, token, local('2026-05-06T02:58'));
    assert.is(await dueOf(store, owner, token), local('2026-05-06T03:00') + GRACE, 'made by hand');
  });

  test('every so many seconds counts from the last check-in', async ({ store }) => {
    const owner = await newCase(store);
    const begun = utc('2026-05-04T10:00:00');
    const fields = { schedule: { every: 5_400 }, interval: '2_hour' } as const;
    const { token } = await healthySnitch(store, owner, fields, begun);
    assert.is(await dueOf(store, owner, token), begun + 99 * MINUTE);
    await checkIn(store, token, begun + 89 * MINUTE);
    assert.is(
      await dueOf(store, owner, token),
      begun + (89 + 99) * MINUTE,
      'there is no run that it came early for',
    );
  });

  test('a changed schedule, time zone or grace restarts the deadline from now, and nothing else does', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, scheduled('0 3 * * *'), local('2026-05-04T03:01'));
    const now = local('2026-05-05T03:05');
    const change = async (changes: Partial<SnitchFields>) => {
      await store.updateSnitch(owner.id, token, changes, now);
      return dueOf(store, owner, token);
    };
    const awaited = local('2026-05-05T03:15');
    assert.is(await change({ schedule: { cron: '0 3 * * *' }, name: 'other', interval: 'weekly' }), awaited);
    assert.is(await change({ grace: 600 }), local('2026-05-06T03:10'));
    assert.is(await change({ timezone: 'America/New_York' }), local('2026-05-05T03:10', 'America/New_York'));
    assert.is(await change({ schedule: { calendar: '*:0/30' } }), local('2026-05-05T03:40'));
    assert.is(await change({ schedule: null, interval: 'hourly', grace: null }), local('2026-05-05T05:00'));
  });

  test('what does not decide yet when it is due is kept for when it will', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { interval: 'hourly' }, utc('2026-05-04T12:20:00'));
    const now = utc('2026-05-04T12:30:00');
    const change = (changes: Partial<SnitchFields>) => store.updateSnitch(owner.id, token, changes, now);
    await change({ timezone: BERLIN });
    await change({ schedule: { cron: '0 3 * * *' } });
    assert.is(await dueOf(store, owner, token), local('2026-05-05T03:15'));
    await change({ interval: 'weekly' });
    await change({ schedule: null });
    assert.is(await dueOf(store, owner, token), utc('2026-05-18T00:00:00'));
  });

  test('the time zone of the case is that of a schedule without one of its own', async ({ store }) => {
    const owner = await newCase(store);
    const begun = utc('2026-05-04T12:00:00');
    const follows = await healthySnitch(store, owner, { schedule: { cron: '0 3 * * *' } }, begun);
    const own = await healthySnitch(store, owner, scheduled('0 3 * * *'), begun);
    const named = await healthySnitch(store, owner, { schedule: { calendar: '03:00 Asia/Tokyo' } }, begun);
    assert.is(follows.state.dueAt, utc('2026-05-05T03:15:00'));
    const now = utc('2026-05-05T01:05:00');
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, now);
    await rescheduleAll(store, now);
    assert.is(await dueOf(store, owner, follows.token), local('2026-05-06T03:15', 'Asia/Tokyo'));
    assert.is(await dueOf(store, owner, own.token), own.state.dueAt, 'it is overdue, and stays so');
    assert.is(await dueOf(store, owner, named.token), local('2026-05-06T03:15', 'Asia/Tokyo'));
  });

  test('silence while paused raises nothing, and a run that was answered early stays answered', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, scheduled('0 3 * * *'), local('2026-05-04T03:01'));
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, local('2026-05-04T12:00'));
    assert.is(await sweep(store, local('2026-05-06T04:00')), 0);
    await store.unpauseSnitch(owner.id, token, local('2026-05-06T04:00'));
    assert.is(await dueOf(store, owner, token), local('2026-05-07T03:15'));
    await checkIn(store, token, local('2026-05-07T02:56'));
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, local('2026-05-07T02:57'));
    await store.unpauseSnitch(owner.id, token, local('2026-05-07T02:58'));
    assert.is(await dueOf(store, owner, token), local('2026-05-08T03:15'));
  });

  test('a blind window across a run postpones to the deadline of the next run, and another one does not', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const begun = local('2026-05-08T03:01');
    const { token } = await healthySnitch(store, owner, scheduled('0 3 * * 1-5'), begun);
    await live(store, local('2026-05-08T03:10'), local('2026-05-10T02:00'));
    await live(store, local('2026-05-11T02:50'), local('2026-05-11T02:54'));
    assert.is(await dueOf(store, owner, token), local('2026-05-11T03:15'));
    await live(store, local('2026-05-11T03:10'), local('2026-05-11T03:10') + 2 * SECOND);
    assert.is(await dueOf(store, owner, token), local('2026-05-12T03:15'));
    await live(store, local('2026-05-12T02:00'), local('2026-05-12T02:57'));
    assert.is(
      await dueOf(store, owner, token),
      local('2026-05-13T03:15'),
      'a clock that is ahead was not heard',
    );
    assert.is(await sweep(store, local('2026-05-13T03:15') - 1), 0);
    assert.is(await sweep(store, local('2026-05-13T03:15')), 1);
  });

  test('a blind window where a check-in of `every` was expected postpones by what may lie behind it', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const begun = utc('2026-05-04T10:00:00');
    const { token } = await healthySnitch(store, owner, { schedule: { every: 3_600 }, grace: 300 }, begun);
    await live(store, begun + 30 * MINUTE, begun + 50 * MINUTE);
    assert.is(await dueOf(store, owner, token), begun + 65 * MINUTE);
    await live(store, begun + 57 * MINUTE, begun + 70 * MINUTE);
    assert.is(await dueOf(store, owner, token), begun + (70 + 65) * MINUTE);
  });

  test('the notice of a blind window names no deadline where the schedule has no further run', async ({
    store,
  }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const begun = local('2026-05-11T12:00');
    const once = { schedule: { calendar: '2026-05-12 03:00' }, timezone: BERLIN };
    const { token } = await healthySnitch(store, owner, { name: 'a', ...once }, begun);
    await healthySnitch(store, owner, { name: 'b', ...scheduled('0 3 * * *') }, begun);
    await live(store, local('2026-05-12T02:50'), local('2026-05-12T03:30'));
    assert.is(await dueOf(store, owner, token), null);
    const alerts = await store.listAlerts(owner.id, null, { limit: 9, before: null });
    const notice = alerts.find(({ alert }) => alert.notice !== null)?.alert.notice;
    assert.equal(
      notice?.snitches?.map(({ name, deadlineAt }) => [name, deadlineAt]),
      [
        ['b', local('2026-05-13T03:15')],
        ['a', null],
      ],
    );
  });

  test('the same after a restart', async ({ store, reopen }) => {
    const owner = await newCase(store);
    const fields = scheduled('0 3 * * 1-5', { grace: 120 });
    const { token, state } = await healthySnitch(store, owner, fields, local('2026-05-08T03:01'));
    const again = await reopen();
    assert.equal((await snitchOf(again, owner, token)).state, state);
    await again.setAnewSlice(local('2026-05-11T03:01'), 0);
    assert.is(await sweep(again, local('2026-05-11T03:02') - 1), 0);
    assert.is(await sweep(again, local('2026-05-11T03:02')), 1);
  });

  test('a deadline that was set while the clock ran ahead is corrected, and one in its grace stays', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const fields = scheduled('*/5 * * * *', { interval: 'monthly' });
    const { token } = await healthySnitch(store, owner, fields, local('2026-05-08T03:01'));
    await store.setAnewSlice(local('2026-05-08T01:01'), 0);
    assert.is(await dueOf(store, owner, token), local('2026-05-08T01:06'));
    const once = {
      schedule: { calendar: '2026-05-09 03:00' },
      timezone: BERLIN,
      interval: 'monthly',
    } as const;
    const last = await healthySnitch(store, owner, once, local('2026-05-08T12:00'));
    await store.setAnewSlice(local('2026-05-09T03:05'), 0);
    assert.is(await dueOf(store, owner, last.token), local('2026-05-09T03:15'), 'no further run follows');
  });

  test('a schedule that has no further run awaits nothing after its last', async ({ store }) => {
    const owner = await newCase(store);
    const once = {
      schedule: { calendar: '2026-05-09 03:00' },
      timezone: BERLIN,
      interval: 'monthly',
    } as const;
    const kept = await healthySnitch(store, owner, once, local('2026-05-08T12:00'));
    const silent = await healthySnitch(store, owner, once, local('2026-05-08T12:00'));
    await checkIn(store, kept.token, local('2026-05-09T03:01'));
    assert.is(await dueOf(store, owner, kept.token), null);
    assert.is(await sweep(store, local('2026-05-09T03:15')), 1);
    assert.is((await snitchOf(store, owner, silent.token)).state.status, 'failed');
    assert.is(await sweep(store, local('2027-05-09T03:15')), 0);
    assert.is((await snitchOf(store, owner, kept.token)).state.status, 'healthy');
  });

  test('a check-in of the last run that is delivered late ends the failure', async ({ store }) => {
    const owner = await newCase(store);
    const once = {
      schedule: { calendar: '2026-05-09 03:00' },
      timezone: BERLIN,
      interval: 'monthly',
    } as const;
    const { token } = await healthySnitch(store, owner, once, local('2026-05-08T12:00'));
    await sweep(store, local('2026-05-09T03:15'));
    await checkIn(store, token, local('2026-05-09T03:01'), { now: local('2026-05-09T05:00') });
    const { state } = await snitchOf(store, owner, token);
    assert.equal([state.status, state.dueAt], ['healthy', null]);
  });

  test('a check-in that a wrong clock made too far ahead is not waited for', async ({ store }) => {
    const owner = await newCase(store);
    const fields = scheduled('*/5 * * * *', { interval: 'monthly' });
    const { token } = await healthySnitch(store, owner, fields, local('2026-05-08T03:01'));
    await checkIn(store, token, local('2026-05-08T02:31'));
    assert.is(await dueOf(store, owner, token), local('2026-05-08T02:36'));
    await checkIn(store, token, local('2026-05-08T02:28'));
    assert.is(
      await dueOf(store, owner, token),
      local('2026-05-08T02:36'),
      'a little back moves nothing back',
    );
  });

  test('a reminder comes at each further run plus grace, never more than one an hour', async ({ store }) => {
    const owner = await newCase(store);
    const begun = local('2026-05-07T03:01');
    const weekdays = await healthySnitch(store, owner, scheduled('0 3 * * 1-5'), begun);
    const friday = local('2026-05-08T03:15');
    assert.is(await sweep(store, friday + SECOND), 1);
    assert.is(await dueOf(store, owner, weekdays.token), local('2026-05-11T03:15'));
    assert.is(await sweep(store, local('2026-05-11T03:15') + SECOND), 1);
    assert.is(await dueOf(store, owner, weekdays.token), local('2026-05-12T03:15'));
    const often = await healthySnitch(store, owner, scheduled('*/10 * * * *'), begun);
    const every = await healthySnitch(store, owner, { schedule: { every: 2_400 }, grace: 60 }, begun);
    await sweep(store, begun + HOUR);
    assert.is(
      await dueOf(store, owner, often.token),
      local('2026-05-07T05:01'),
      'ten minutes would be too often',
    );
    assert.is(await dueOf(store, owner, every.token), begun + (41 + 80) * MINUTE);
  });

  test('the case says whether and how often it is reminded', async ({ store }) => {
    const begun = local('2026-05-07T03:01');
    const due = local('2026-05-08T03:15');
    for (const [reminders, next] of [
      ['off', null],
      ['hourly', due + HOUR],
      ['daily', due + DAY],
    ] as const) {
      const owner = await newCase(store, { reminders });
      const { token } = await healthySnitch(store, owner, scheduled('0 3 * * *'), begun);
      await sweep(store, due);
      assert.is(await dueOf(store, owner, token), next, reminders);
    }
  });

  test('a grace without a schedule makes the deadline and the reminders of the interval later', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const begun = utc('2026-05-04T02:00:00');
    const { token } = await healthySnitch(store, owner, { interval: 'daily', grace: 6 * 3_600 }, begun);
    const due = utc('2026-05-06T06:00:00');
    assert.is(await sweep(store, due - 1), 0);
    assert.is(await sweep(store, due), 1);
    assert.is(await dueOf(store, owner, token), due + DAY);
    const history = Array.from({ length: 20 }, (_, index) => begun + index * DAY);
    const learned: (number | null)[] = [];
    for (const grace of [null, 1_800]) {
      const fields = { interval: 'daily', alertType: 'smart', grace } as const;
      const smart = await healthySnitch(store, owner, fields, begun);
      for (const time of history) await checkIn(store, smart.token, time);
      learned.push(await dueOf(store, owner, smart.token));
    }
    assert.ok((learned[0] ?? 0) < utc('2026-05-25T00:00:00'), 'it is a learned one');
    assert.is((learned[1] ?? 0) - (learned[0] ?? 0), 30 * MINUTE);
  });

  test('a blind window moves the deadline of an interval with grace by whole periods', async ({ store }) => {
    const owner = await newCase(store);
    const begun = utc('2026-05-04T10:20:00');
    const { token } = await healthySnitch(store, owner, { interval: 'hourly', grace: 600 }, begun);
    await live(store, utc('2026-05-04T11:50:00'), utc('2026-05-04T11:51:00'));
    assert.is(await dueOf(store, owner, token), utc('2026-05-04T12:10:00'));
    await live(store, utc('2026-05-04T12:05:00'), utc('2026-05-04T12:06:00'));
    assert.is(await dueOf(store, owner, token), utc('2026-05-04T12:10:00'), 'the job was due at 11:20');
    await checkIn(store, token, utc('2026-05-04T12:20:00'));
    await live(store, utc('2026-05-04T13:15:00'), utc('2026-05-04T13:25:00'));
    assert.is(await dueOf(store, owner, token), utc('2026-05-04T15:10:00'));
  });

  test('an alert keeps what its mail must say of the schedule and the grace', async ({ store }) => {
    const owner = await newCase(store);
    const begun = local('2026-05-07T03:01');
    const { token } = await healthySnitch(store, owner, scheduled('0 3 * * *', { timezone: null }), begun);
    const due = utc('2026-05-07T03:15:00');
    await sweep(store, due);
    const [last] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.equal(last?.alert.details?.schedule, { rule: { cron: '0 3 * * *' }, timezone: 'UTC' });
    assert.equal([last?.alert.details?.grace, last?.alert.details?.deadlineAt], [GRACE, due]);
  });
});
