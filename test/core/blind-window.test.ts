import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { postpone } from '../../src/core/blind-window.ts';
import { Calendar, type Interval } from '../../src/core/interval.ts';
import { newSnitchState, type SnitchState, type Status } from '../../src/core/snitch.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const utc = (iso: string) => Date.parse(`${iso}Z`);

function healthy(interval: Interval, lastCheckInAt: number, timezone = 'UTC'): SnitchState {
  return {
    ...newSnitchState(interval, 'basic'),
    status: 'healthy',
    checkedInAt: lastCheckInAt,
    lastCheckInAt,
    dueAt: new Calendar().periodAfter(interval, timezone, lastCheckInAt).end,
  };
}

const postponed = (snitch: SnitchState, start: number, end: number, timezone = 'UTC') =>
  postpone(snitch, { start, end }, timezone, new Calendar());

const window = suite('blind window');

const CHECKED_IN = utc('2025-07-09T10:59:00');
const EXPECTED = CHECKED_IN + HOUR;
const TOLERANCE = 3 * MINUTE; // 5 % of an hour.

window('a deadline whose check-in was expected inside it moves by one period', () => {
  const snitch = healthy('hourly', CHECKED_IN);
  assert.is(snitch.dueAt, utc('2025-07-09T12:00:00'));
  assert.equal(postponed(snitch, EXPECTED - 10 * SECOND, EXPECTED + 20 * SECOND), {
    ...snitch,
    dueAt: utc('2025-07-09T13:00:00'),
    postponed: true,
  });
});

window('the expectation reaches 5 % of the interval to either side', () => {
  const snitch = healthy('hourly', CHECKED_IN);
  const before = EXPECTED - TOLERANCE;
  const after = EXPECTED + TOLERANCE;
  assert.ok(postponed(snitch, before - MINUTE, before), 'the window ends as the expectation begins');
  assert.is(postponed(snitch, before - MINUTE, before - 1), null, 'it ends 1 ms earlier');
  assert.ok(postponed(snitch, after, after + MINUTE), 'it begins as the expectation ends');
  assert.is(postponed(snitch, after + 1, after + MINUTE), null, 'it begins 1 ms later');
});

window(
  'after a pause the expectation is the last one before the deadline, however old the last check-in',
  () => {
    const snitch = { ...healthy('hourly', CHECKED_IN), dueAt: utc('2025-07-09T20:00:00') };
    const expected = utc('2025-07-09T19:59:00');
    assert.is(postponed(snitch, EXPECTED, EXPECTED + MINUTE), null);
    assert.is(postponed(snitch, expected, expected + MINUTE)?.dueAt, utc('2025-07-09T21:00:00'));
  },
);

window('it reaches at least 60 s', () => {
  const snitch = healthy('5_minute', CHECKED_IN);
  const expected = CHECKED_IN + 5 * MINUTE;
  assert.ok(postponed(snitch, expected - 2 * MINUTE, expected - MINUTE));
  assert.is(postponed(snitch, expected - 2 * MINUTE, expected - MINUTE - 1), null);
  assert.ok(postponed(snitch, expected + MINUTE, expected + 2 * MINUTE));
  assert.is(postponed(snitch, expected + MINUTE + 1, expected + 2 * MINUTE), null);
});

window('a window between two expected check-ins excuses nothing', () => {
  assert.is(postponed(healthy('daily', CHECKED_IN), CHECKED_IN + HOUR, CHECKED_IN + 20 * HOUR), null);
});

window('it happens once', () => {
  const once = postponed(healthy('hourly', CHECKED_IN), EXPECTED, EXPECTED + MINUTE)!;
  assert.is(postponed(once, EXPECTED, EXPECTED + MINUTE), null);
});

window('an errored snitch awaits its check-in as a healthy one does', () => {
  const snitch: SnitchState = { ...healthy('hourly', CHECKED_IN), status: 'errored' };
  assert.is(postponed(snitch, EXPECTED, EXPECTED)?.dueAt, utc('2025-07-09T13:00:00'));
});

window('pending, paused and failed await nothing', () => {
  for (const status of ['pending', 'paused', 'failed'] as Status[]) {
    const snitch = { ...healthy('hourly', CHECKED_IN), status };
    assert.is(postponed(snitch, EXPECTED, EXPECTED + MINUTE), null, status);
  }
  assert.is(postponed(newSnitchState('hourly', 'basic'), EXPECTED, EXPECTED + MINUTE), null);
});

window('a window longer than the interval: the deadline counts from its end', () => {
  const snitch = healthy('hourly', CHECKED_IN);
  const later = postponed(snitch, utc('2025-07-09T11:30:00'), utc('2025-07-09T20:15:00'));
  assert.is(later?.dueAt, utc('2025-07-09T22:00:00'));
  assert.is(later?.postponed, true);
});

window('a window that ends before the second expectation: one period is enough', () => {
  const snitch = healthy('hourly', CHECKED_IN);
  const later = postponed(snitch, utc('2025-07-09T11:30:00'), utc('2025-07-09T12:40:00'));
  assert.is(later?.dueAt, utc('2025-07-09T13:00:00'));
});

window('a learned deadline keeps its place in the period', () => {
  const checkedIn = utc('2025-07-09T02:00:00');
  const snitch: SnitchState = {
    ...healthy('daily', checkedIn),
    alertType: 'smart',
    dueAt: utc('2025-07-10T02:40:00'),
  };
  const later = postponed(snitch, checkedIn + DAY - MINUTE, checkedIn + DAY + MINUTE);
  assert.is(later?.dueAt, utc('2025-07-11T02:40:00'));
});

window('a learned deadline keeps its local time across a clock change', () => {
  // Berlin's clock goes forward on March 30: 02:40 CET is followed a period later by 02:40 CEST.
  const checkedIn = utc('2025-03-29T03:00:00');
  const snitch: SnitchState = {
    ...healthy('daily', checkedIn, 'Europe/Berlin'),
    alertType: 'smart',
    dueAt: utc('2025-03-30T02:40:00'),
  };
  const later = postponed(snitch, utc('2025-03-30T01:50:00'), utc('2025-03-30T02:10:00'), 'Europe/Berlin');
  assert.is(later?.dueAt, utc('2025-03-31T02:40:00'));
});

window('weekly and monthly move by a week and by a month', () => {
  const weekly = healthy('weekly', utc('2025-07-09T04:00:00'));
  assert.is(
    postponed(weekly, utc('2025-07-16T03:00:00'), utc('2025-07-16T05:00:00'))?.dueAt,
    utc('2025-07-28T00:00:00'),
  );
  const monthly = healthy('monthly', utc('2025-01-31T04:00:00'));
  assert.is(monthly.dueAt, utc('2025-03-01T00:00:00'));
  assert.is(
    postponed(monthly, utc('2025-02-28T03:00:00'), utc('2025-02-28T05:00:00'))?.dueAt,
    utc('2025-04-01T00:00:00'),
  );
});

window('a deadline never moves backwards, and always past the window', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Interval>('5_minute', 'hourly', '6_hour', 'daily', 'weekly', 'monthly'),
      fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
      fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2026, 0) }),
      fc.integer({ min: 0, max: 70 * DAY }),
      fc.integer({ min: 0, max: 70 * DAY }),
      (interval, timezone, checkedIn, gap, length) => {
        const snitch = healthy(interval, checkedIn, timezone);
        const start = checkedIn + gap;
        const later = postponed(snitch, start, start + length, timezone);
        if (later === null) return;
        assert.ok(later.dueAt! > snitch.dueAt!);
        assert.ok(later.dueAt! > start + length);
        assert.equal(later, { ...snitch, dueAt: later.dueAt, postponed: true });
      },
    ),
    { numRuns: 500 },
  );
});

window.run();
