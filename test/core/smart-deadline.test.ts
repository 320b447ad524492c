import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar, INTERVALS, type Interval, isMinuteInterval } from '../../src/core/interval.ts';
import type { LateRuns } from '../../src/core/late-runs.ts';
import { smartDeadline } from '../../src/core/smart-deadline.ts';
import { cases } from '../cases.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BERLIN = 'Europe/Berlin';

const utc = (iso: string) => Date.parse(`${iso}Z`);
const local = (iso: string, timezone = BERLIN) =>
  Temporal.PlainDateTime.from(iso).toZonedDateTime(timezone).epochMilliseconds;

/** The deadline after the last of `checkIns`. */
function deadline(interval: Interval, checkIns: readonly number[], timezone = 'UTC'): number {
  return smartDeadline(new Calendar(), interval, timezone, checkIns, checkIns.at(-1)!);
}
const basic = (interval: Interval, from: number, timezone = 'UTC') =>
  new Calendar().periodAfter(interval, timezone, from).end;

/** `count` days at the wall-clock time `time` of `timezone`, the last of them on `lastDay`. */
function days(lastDay: string, time: string, count: number, timezone = 'UTC'): number[] {
  const last = Temporal.PlainDateTime.from(`${lastDay}T${time}`);
  return Array.from(
    { length: count },
    (_, index) => last.subtract({ days: count - 1 - index }).toZonedDateTime(timezone).epochMilliseconds,
  );
}

function every(step: number, last: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * step);
}

function assertBetween(at: number, low: number, high: number): void {
  const shown = [at, low, high].map((instant) => new Date(instant).toISOString());
  assert.ok(at >= low && at <= high, `${shown[0]} is not between ${shown[1]} and ${shown[2]}`);
}

const learning = suite('smart deadline: learning');

learning('with fewer than five known periods it is the basic one', () => {
  for (const count of [0, 1, 4]) {
    const known = days('2025-07-09', '02:00', 4).slice(4 - count);
    const from = utc('2025-07-09T02:00:00');
    assert.is(smartDeadline(new Calendar(), 'daily', 'UTC', known, from), utc('2025-07-11T00:00:00'));
  }
});

learning('with five it is half way between the learned point and the basic one', () => {
  const due = deadline('daily', days('2025-07-09', '02:00', 5));
  assertBetween(due, utc('2025-07-10T12:00:00'), utc('2025-07-10T14:00:00'));
});

learning('the more is known, the sooner it is', () => {
  const dues = [5, 8, 12, 20, 25].map((count) => deadline('daily', days('2025-07-09', '02:00', count)));
  for (const [index, due] of dues.slice(1).entries()) assert.ok(due < dues[index]!);
});

learning('a daily job at two: less than two hours after it, and not before half past', () => {
  const due = deadline('daily', days('2025-07-09', '02:00', 50));
  assertBetween(due, utc('2025-07-10T02:28:00'), utc('2025-07-10T03:45:00'));
});

learning('a daily job at two and at four in turn: as soon after four as one that is always late', () => {
  const nights = days('2025-07-09', '02:00', 40).map((at, index) => (index % 2 === 0 ? at : at + 2 * HOUR));
  assertBetween(deadline('daily', nights), utc('2025-07-10T04:28:00'), utc('2025-07-10T06:00:00'));
});

learning('an hourly job at ten past', () => {
  const due = deadline('hourly', every(HOUR, utc('2025-07-09T10:10:00'), 50));
  assertBetween(due, utc('2025-07-09T11:11:00'), utc('2025-07-09T11:15:00'));
});

learning('a six-hourly job', () => {
  const due = deadline('6_hour', every(6 * HOUR, utc('2025-07-09T13:00:00'), 50));
  assertBetween(due, utc('2025-07-09T19:07:00'), utc('2025-07-09T19:25:00'));
});

learning('a weekly job on Wednesday', () => {
  const due = deadline('weekly', every(7 * DAY, utc('2025-07-09T04:00:00'), 30));
  assertBetween(due, utc('2025-07-16T07:00:00'), utc('2025-07-16T14:00:00'));
});

learning('a monthly job of the first, and one of the last day', () => {
  const months = (day: number) =>
    Array.from({ length: 30 }, (_, index) => {
      const month = Temporal.PlainDate.from('2023-01-01').add({ months: index });
      return month.with({ day }).toZonedDateTime({ timeZone: 'UTC', plainTime: '03:00' }).epochMilliseconds;
    });
  // The history ends with June 2025.
  assertBetween(deadline('monthly', months(1)), utc('2025-07-01T12:00:00'), utc('2025-07-04T00:00:00'));
  const lastDay = deadline('monthly', months(31));
  assert.is(new Date(months(31)[1]!).getUTCDate(), 28);
  assertBetween(lastDay, utc('2025-07-31T03:00:00'), utc('2025-08-01T00:00:00'));
});

learning('a job that is sometimes late is expected late', () => {
  const known = days('2025-07-09', '02:00', 50).map((at, index) => (index % 3 === 0 ? at + 90 * MINUTE : at));
  assert.ok(deadline('daily', known) > utc('2025-07-10T03:58:00'));
});

learning('a long tail has a wider margin than a gentle one that reaches as far', () => {
  const delayed = (minutes: number[]) =>
    days('2025-07-09', '02:00', 50).map((at, index) => at + minutes[index % minutes.length]! * MINUTE);
  const gentle = deadline('daily', delayed([1, 1, 1, 1, 1, 1, 3, 5, 7, 9]));
  const long = deadline('daily', delayed([1, 1, 1, 1, 1, 1, 1, 1, 1, 9]));
  assert.ok(long > gentle + 20 * MINUTE);
});

learning('a history scattered over the whole period has the basic deadline', () => {
  const scattered = days('2025-07-09', '00:00', 50).map((at, index) => at + ((index * 7) % 24) * HOUR);
  assert.is(deadline('daily', scattered), basic('daily', scattered.at(-1)!));
});

learning('periods without a check-in leave the place of the others as it is', () => {
  const known = days('2025-07-09', '02:00', 50).filter((_, index) => index % 4 !== 2);
  assertBetween(deadline('daily', known), utc('2025-07-10T02:28:00'), utc('2025-07-10T03:45:00'));
});

learning('a later check-in of the same period changes nothing', () => {
  const known = days('2025-07-09', '02:00', 50);
  const again = smartDeadline(new Calendar(), 'daily', 'UTC', known, utc('2025-07-09T15:00:00'));
  assert.is(again, deadline('daily', known));
});

learning('a deadline that restarts before the run of its period is that of the following one', () => {
  const known = days('2025-07-09', '12:00', 50);
  const due = smartDeadline(new Calendar(), 'daily', 'UTC', known, utc('2025-07-20T08:00:00'));
  assertBetween(due, utc('2025-07-21T12:28:00'), utc('2025-07-21T13:30:00'));
});

learning.run();

const lateRuns = suite('smart deadline: late runs');

const TWO = days('2025-07-09', '02:00', 50);
const watched: LateRuns = { since: utc('2024-01-01T00:00:00'), runs: [] };
const lateOnce = (iso: string, by: number): LateRuns => ({ ...watched, runs: [{ at: utc(iso), by }] });
const due = (late: LateRuns, known = TWO) =>
  smartDeadline(new Calendar(), 'daily', 'UTC', known, known.at(-1)!, late);

lateRuns('one from before the known periods is awaited as late again, from the usual place of today', () => {
  const at = due(lateOnce('2025-03-01T05:00:00', 3 * HOUR));
  assertBetween(at, utc('2025-07-10T05:00:00'), basic('daily', TWO.at(-1)!));
  const moved = days('2025-07-09', '04:00', 50);
  assertBetween(
    due(lateOnce('2025-03-01T05:00:00', 30 * MINUTE), moved),
    utc('2025-07-10T04:30:00'),
    utc('2025-07-10T09:00:00'),
  );
});

lateRuns('one that is among the known periods counts once', () => {
  assert.is(due(lateOnce('2025-07-01T02:00:00', 3 * HOUR)), due(watched));
});

lateRuns('the margin is narrower where many were as late as each other', () => {
  const months = (lengths: number[]) => ({
    ...watched,
    runs: lengths.map((hours, month) => ({ at: utc(`2024-0${month + 1}-28T02:00:00`), by: hours * HOUR })),
  });
  const agreeing = due(months([2, 2.1, 2, 1.9, 2.1, 2]));
  const scattered = due(months([0.2, 2.1, 0.3, 0.1, 1.2, 0.6]));
  assertBetween(agreeing, utc('2025-07-10T04:06:00'), utc('2025-07-10T08:00:00'));
  assert.ok(scattered > agreeing + HOUR);
});

lateRuns('the deadline stays wide until a month of a daily job was seen, or a week of an hourly one', () => {
  const since = (iso: string): LateRuns => ({ since: utc(iso), runs: [] });
  const known = TWO.slice(-26);
  const dues = ['2025-06-14T02:00:00', '2025-06-02T02:00:00', '2025-05-20T02:00:00'].map((iso) =>
    due(since(iso), known),
  );
  assertBetween(dues[0]!, utc('2025-07-10T13:00:00'), utc('2025-07-10T16:00:00'));
  assert.ok(dues[0]! > dues[1]! && dues[1]! > dues[2]!);
  assertBetween(dues[2]!, utc('2025-07-10T02:28:00'), utc('2025-07-10T03:45:00'));
  const hours = every(HOUR, utc('2025-07-09T10:10:00'), 50);
  const hourly = (iso: string) =>
    smartDeadline(new Calendar(), 'hourly', 'UTC', hours, hours.at(-1)!, since(iso));
  assertBetween(hourly('2025-07-07T09:10:00'), utc('2025-07-09T11:40:00'), utc('2025-07-09T12:00:00'));
  assertBetween(hourly('2025-06-20T09:10:00'), utc('2025-07-09T11:11:00'), utc('2025-07-09T11:15:00'));
});

lateRuns('with fewer than five known periods they say nothing', () => {
  const known = TWO.slice(-4);
  assert.is(due(lateOnce('2025-03-01T05:00:00', 3 * HOUR), known), basic('daily', known.at(-1)!));
});

lateRuns.run();

const boundaries = suite('smart deadline: at the boundary of periods');

boundaries('a check-in just before midnight may be the next day’s own', () => {
  const known = days('2025-07-09', '00:00:02', 50);
  const early = utc('2025-07-09T23:59:58');
  const due = smartDeadline(new Calendar(), 'daily', 'UTC', known, early);
  assert.is(due, basic('daily', early));
});

boundaries('one long before midnight is not', () => {
  const known = days('2025-07-09', '00:00:02', 50);
  const due = smartDeadline(new Calendar(), 'daily', 'UTC', known, utc('2025-07-09T14:00:00'));
  assert.ok(due < utc('2025-07-10T02:00:00'));
});

boundaries.run();

const weekdays = suite('smart deadline: weekdays');

/** Monday to Friday at two, for `weeks` weeks up to Friday, July 11. */
const workdays = (weeks: number) =>
  days('2025-07-11', '02:00', 7 * weeks - 2).filter((at) => ![0, 6].includes(new Date(at).getUTCDay()));

weekdays('from Monday to Thursday the next workday has its learned deadline', () => {
  const known = workdays(8).slice(0, -1);
  assertBetween(deadline('daily', known), utc('2025-07-11T02:28:00'), utc('2025-07-11T03:45:00'));
});

weekdays('after Friday it is no sooner than the basic one', () => {
  assert.is(deadline('daily', workdays(8)), utc('2025-07-13T00:00:00'));
  assert.is(deadline('daily', workdays(3)), utc('2025-07-13T00:00:00'));
});

weekdays('two weeks without a Saturday are enough to know it', () => {
  const known = days('2025-07-11', '02:00', 15).filter((at) => ![0, 6].includes(new Date(at).getUTCDay()));
  assert.is(new Date(known[0]!).getUTCDay(), 5);
  assert.is(deadline('daily', known), utc('2025-07-13T00:00:00'));
  assert.ok(deadline('daily', known.slice(1)) < utc('2025-07-13T00:00:00'), 'a day less is not');
});

weekdays('a job that does run on Saturdays has its learned deadline there', () => {
  const known = days('2025-07-11', '02:00', 40);
  assert.ok(deadline('daily', known) < utc('2025-07-12T04:00:00'));
});

weekdays.run();

const clockChanges = suite('smart deadline: clock changes');

const SOON = 100 * MINUTE;

/** Asserts that the run due at `expected` is awaited, and for no longer than `patience`. */
function assertAwaits(known: number[], expected: number, patience: number): void {
  assertBetween(deadline('daily', known, BERLIN), expected + 25 * MINUTE, expected + patience);
}

clockChanges('a job of local time keeps its place through spring and autumn', () => {
  for (const lastDay of ['2025-03-29', '2025-03-30', '2025-10-25', '2025-10-26']) {
    const next = Temporal.PlainDate.from(lastDay).add({ days: 1 });
    // On the day after the change, one check-in does not tell yet which clock the job follows.
    assertAwaits(days(lastDay, '07:00', 50, BERLIN), local(`${next}T07:00`), SOON + HOUR);
  }
  for (const lastDay of ['2025-04-01', '2025-10-28']) {
    const next = Temporal.PlainDate.from(lastDay).add({ days: 1 });
    assertAwaits(days(lastDay, '07:00', 50, BERLIN), local(`${next}T07:00`), SOON);
  }
});

clockChanges('a job of UTC shifts with the clock of its case', () => {
  for (const lastDay of ['2025-03-29', '2025-03-30', '2025-10-25', '2025-10-26']) {
    const last = utc(`${lastDay}T06:00:00`);
    assertAwaits(every(DAY, last, 50), last + DAY, SOON + HOUR);
  }
  for (const lastDay of ['2025-04-01', '2025-10-28']) {
    const last = utc(`${lastDay}T06:00:00`);
    assertAwaits(every(DAY, last, 50), last + DAY, SOON);
  }
});

clockChanges('a job of UTC is awaited through a change at midnight itself', () => {
  // Havana skips the hour after midnight on March 9: noon UTC is 07:00 on the day before and 08:00 on that day.
  const last = utc('2025-03-08T12:00:00');
  const due = deadline('daily', every(DAY, last, 50), 'America/Havana');
  assertBetween(due, last + DAY + 25 * MINUTE, last + DAY + SOON);
});

clockChanges('a job of UTC that a clock change carries over midnight', () => {
  // 22:30 UTC is 23:30 in winter and half past midnight of the next day in summer.
  const last = utc('2025-04-02T22:30:00');
  assertAwaits(every(DAY, last, 50), last + DAY, 25 * HOUR);
  const settled = utc('2025-06-20T22:30:00');
  assertAwaits(every(DAY, settled, 50), settled + DAY, SOON);
});

clockChanges('a run that the repeated hour makes look early does not hasten the next day’s deadline', () => {
  const known = days('2025-10-25', '03:50', 50, BERLIN);
  const inTheRepeatedHour = utc('2025-10-26T01:50:00');
  assertAwaits([...known, inTheRepeatedHour], local('2025-10-27T03:50'), SOON + HOUR);
});

clockChanges.run();

const bounds = suite('smart deadline: bounds');

const ZONES = ['UTC', BERLIN, 'America/Havana', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia'];

bounds(
  'it is a whole instant, later than from and than the period of from, and never later than basic',
  () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...INTERVALS.filter((interval) => !isMinuteInterval(interval))),
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(2011, 0), max: Date.UTC(2026, 0) }),
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (interval, timezone, start, places, tightness) => {
          const calendar = new Calendar();
          let period = calendar.periodAt(interval, timezone, start);
          const known: number[] = [];
          for (const place of places) {
            known.push(period.start + Math.floor(place * tightness * (period.end - period.start)));
            period = calendar.periodAfter(interval, timezone, period.start);
          }
          const before = [...known];
          const from = known.at(-1) ?? start;
          const due = smartDeadline(calendar, interval, timezone, known, from);
          const next = calendar.periodAfter(interval, timezone, from);
          assert.ok(Number.isInteger(due));
          assert.ok(due > from && due > next.start, 'after from, in the following period');
          assert.ok(due <= next.end, 'not later than basic');
          assert.equal(known, before, 'and the history is not changed');
        },
      ),
      { numRuns: cases(400) },
    );
  },
);

bounds('it is never later than basic with late runs, and never sooner for one that was later', () => {
  const runLate = (by: number) => ({
    since: utc('2024-01-01T00:00:00'),
    runs: [{ at: utc('2025-03-01T02:00:00'), by }],
  });
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 5, maxLength: 50 }),
      fc.nat(30 * HOUR),
      fc.nat(30 * HOUR),
      (minutes, one, other) => {
        const known = days('2025-07-09', '02:00', minutes.length).map(
          (at, index) => at + minutes[index]! * MINUTE,
        );
        const from = known.at(-1)!;
        const dues = [0, Math.min(one, other), Math.max(one, other)].map((by) =>
          smartDeadline(new Calendar(), 'daily', 'UTC', known, from, by === 0 ? watched : runLate(by)),
        );
        assert.ok(dues[0]! <= dues[1]! && dues[1]! <= dues[2]!);
        assert.ok(dues[2]! <= basic('daily', from) && dues[0]! > from);
      },
    ),
  );
});

bounds('the same history gives the same deadline', () => {
  const known = days('2025-07-09', '02:00', 50);
  assert.is(deadline('daily', known), deadline('daily', known));
});

bounds.run();
