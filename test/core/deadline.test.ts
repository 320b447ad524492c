import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  basicDeadline,
  type DeadlineContext,
  deadlineAfter,
  deadlineAfterCheckIn,
  nextReminder,
} from '../../src/core/deadline.ts';
import { Calendar, INTERVALS, type Interval } from '../../src/core/interval.ts';
import type { AlertType, CaseRules, Reminders, Status } from '../../src/core/snitch.ts';
import { newSnitchState } from '../../src/core/snitch.ts';
import { transition } from '../../src/core/transition.ts';
import { cases } from '../cases.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const utc = (iso: string) => Date.parse(`${iso}Z`);
const local = (iso: string, timezone: string) =>
  Temporal.PlainDateTime.from(iso).toZonedDateTime(timezone).epochMilliseconds;

function contextOf(rules: Partial<CaseRules> = {}, firstCheckIns: number[] = []): DeadlineContext {
  return {
    calendar: new Calendar(),
    rules: { timezone: 'UTC', reminders: 'period', errorNotices: true, ...rules },
    firstCheckIns,
  };
}

const due = (interval: Interval, from: number, timezone = 'UTC') =>
  Number(deadlineAfter({ interval, alertType: 'basic' }, from, contextOf({ timezone })));

const basic = suite('deadline: basic');

basic('the examples of decisions.md: hourly', () => {
  assert.is(due('hourly', utc('2025-07-09T10:59:00')), utc('2025-07-09T12:00:00'));
  assert.is(due('hourly', utc('2025-07-09T11:01:00')), utc('2025-07-09T13:00:00'));
});

basic('a check-in on the boundary answers for the period that begins', () => {
  assert.is(due('hourly', utc('2025-07-09T11:00:00')), utc('2025-07-09T13:00:00'));
  assert.is(due('hourly', utc('2025-07-09T10:59:59.999')), utc('2025-07-09T12:00:00'));
});

basic('weekly: any check-in of a week is good until the Monday after the next week', () => {
  const monday = utc('2025-07-07T00:00:00');
  for (const at of [monday, utc('2025-07-09T15:00:00'), utc('2025-07-13T23:59:59')]) {
    assert.is(due('weekly', at), monday + 14 * DAY);
  }
});

basic('monthly: any check-in of a month is good until the end of the next', () => {
  for (const at of ['2024-01-01T00:00:00', '2024-01-31T23:59:59']) {
    assert.is(due('monthly', utc(at)), utc('2024-03-01T00:00:00'));
  }
  assert.is(due('monthly', utc('2024-11-30T12:00:00')), utc('2025-01-01T00:00:00'));
});

basic('it is the end of a local period', () => {
  const at = local('2025-07-09T23:30', 'America/New_York');
  assert.is(due('daily', at, 'America/New_York'), local('2025-07-11T00:00', 'America/New_York'));
  assert.is(due('daily', at, 'UTC'), utc('2025-07-12T00:00:00'));
  assert.is(
    due('hourly', local('2025-07-09T10:59', 'Asia/Kathmandu'), 'Asia/Kathmandu'),
    local('2025-07-09T12:00', 'Asia/Kathmandu'),
  );
});

basic('a day of 23 and one of 25 hours', () => {
  const timezone = 'Europe/Berlin';
  const spring = local('2025-03-29T12:00', timezone);
  assert.is(due('daily', spring, timezone), local('2025-03-31T00:00', timezone));
  assert.is(due('daily', spring, timezone) - spring, 35 * HOUR);
  const autumn = local('2025-10-25T12:00', timezone);
  assert.is(due('daily', autumn, timezone) - autumn, 37 * HOUR);
});

basic('hourly across a clock change: no hour is forgiven, and none demanded twice', () => {
  const timezone = 'Europe/Berlin';
  // 01:59 CET; the next hour is 03:00–04:00 CEST.
  assert.is(due('hourly', utc('2025-03-30T00:59:00'), timezone), utc('2025-03-30T02:00:00'));
  // 02:30 CEST; the next hour is 02:00–03:00 CET.
  assert.is(due('hourly', utc('2025-10-26T00:30:00'), timezone), utc('2025-10-26T02:00:00'));
});

basic('it takes no notice of the history', () => {
  const history = [1, 2, 3, 4, 5, 6].map((day) => utc(`2025-07-0${day}T02:00:00`));
  assert.is(
    deadlineAfter(
      { interval: 'daily', alertType: 'basic' },
      utc('2025-07-06T02:00:00'),
      contextOf({}, history),
    ),
    utc('2025-07-08T00:00:00'),
  );
});

basic('a run of a schedule that was answered a little early stays answered by the next check-in', () => {
  const at = utc('2025-07-09T09:56:00');
  const due = utc('2025-07-09T11:05:00');
  const early = { ...newSnitchState('hourly', 'basic'), schedule: { cron: '0 * * * *' }, grace: 300 };
  const again = (status: Status, dueAt: number) =>
    deadlineAfterCheckIn(
      { ...early, status, checkedInAt: at, lastCheckInAt: at, dueAt },
      at + MINUTE,
      contextOf(),
    );
  for (const status of ['healthy', 'errored'] as const) assert.is(again(status, due), due, status);
  assert.is(again('healthy', due - HOUR), due - HOUR, 'by hand: the run at ten is still to come');
  assert.is(again('failed', due), due - HOUR, 'that is the time of a reminder');
});

basic.run();

const travel = suite('deadline: time travel');

/** A check-in, and the instant at which its snitch must be reported missing in Berlin, where DST ends on Oct 26. */
const JOURNEYS: [Interval, string, string][] = [
  ['1_minute', '2025-10-24T10:00:30', '2025-10-24T10:02:00'],
  ['2_minute', '2025-10-24T10:01:30', '2025-10-24T10:04:00'],
  ['3_minute', '2025-10-24T10:01:30', '2025-10-24T10:06:00'],
  ['5_minute', '2025-10-24T10:01:30', '2025-10-24T10:10:00'],
  ['10_minute', '2025-10-24T10:01:30', '2025-10-24T10:20:00'],
  ['15_minute', '2025-10-24T10:01:30', '2025-10-24T10:30:00'],
  ['30_minute', '2025-10-24T10:01:30', '2025-10-24T11:00:00'],
  ['hourly', '2025-10-24T10:59:59', '2025-10-24T12:00:00'],
  ['2_hour', '2025-10-24T10:01:30', '2025-10-24T14:00:00'],
  ['3_hour', '2025-10-24T10:01:30', '2025-10-24T15:00:00'],
  ['4_hour', '2025-10-24T10:01:30', '2025-10-24T16:00:00'],
  ['6_hour', '2025-10-24T10:01:30', '2025-10-24T18:00:00'],
  ['8_hour', '2025-10-24T10:01:30', '2025-10-25T00:00:00'],
  ['12_hour', '2025-10-24T10:01:30', '2025-10-25T00:00:00'],
  ['daily', '2025-10-25T10:01:30', '2025-10-27T00:00:00'],
  ['weekly', '2025-10-24T10:01:30', '2025-11-03T00:00:00'],
  ['monthly', '2025-10-24T10:01:30', '2025-12-01T00:00:00'],
];

for (const [interval, checkedIn, expected] of JOURNEYS) {
  travel(`${interval}: silent until 1 ms before its deadline, missing at it`, () => {
    const timezone = 'Europe/Berlin';
    const context = contextOf({ timezone });
    const from = local(checkedIn, timezone);
    const deadline = local(expected, timezone);
    const trigger = { kind: 'checkIn', outcome: 'healthy' } as const;
    const { snitch } = transition(newSnitchState(interval, 'basic'), trigger, { ...context, now: from });
    assert.is(snitch.dueAt, deadline);
    const steps = 25;
    for (let step = 0; step < steps; step += 1) {
      const now = from + Math.floor(((deadline - from) * step) / steps);
      assert.equal(transition(snitch, { kind: 'due' }, { ...context, now }), { snitch, alert: null });
    }
    const before = transition(snitch, { kind: 'due' }, { ...context, now: deadline - 1 });
    assert.is(before.snitch.status, 'healthy');
    assert.is(before.alert, null);
    const at = transition(snitch, { kind: 'due' }, { ...context, now: deadline });
    assert.is(at.snitch.status, 'failed');
    assert.is(at.alert?.type, 'snitch.missing');
  });
}

travel('visits every interval', () => {
  assert.equal(
    JOURNEYS.map(([interval]) => interval),
    [...INTERVALS],
  );
});

travel('a job that checks in once in each period is never missing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...INTERVALS),
      fc.constantFrom('UTC', 'Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
      fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2026, 0) }),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
        minLength: 2,
        maxLength: 12,
      }),
      (interval, timezone, start, places) => {
        const context = contextOf({ timezone });
        let period = context.calendar.periodAt(interval, timezone, start);
        let deadline = Number.POSITIVE_INFINITY;
        for (const place of places) {
          const at = period.start + Math.floor(place * (period.end - period.start));
          assert.ok(at < deadline, 'it checks in before it is due');
          deadline = basicDeadline({ interval }, at, context);
          period = context.calendar.periodAfter(interval, timezone, at);
          assert.is(deadline, period.end, 'and a run left out is noticed as its period ends');
        }
      },
    ),
    { numRuns: cases(300) },
  );
});

travel.run();

const reminders = suite('deadline: reminders');

/** The instants of the reminders that follow a first alert, each handled `lateness` after it was due. */
function remindersAfter(
  schedule: { interval: Interval; alertType?: AlertType },
  dueAt: number,
  rules: Partial<CaseRules>,
  { count = 4, lateness = 0 } = {},
): number[] {
  const { interval, alertType = 'basic' } = schedule;
  const instants: number[] = [];
  let next: number | null = dueAt;
  for (let sent = 0; sent < count && next !== null; sent += 1) {
    next = nextReminder({ interval, alertType }, next, next + lateness, contextOf(rules));
    if (next !== null) instants.push(next);
  }
  return instants;
}

const NOON = utc('2025-07-09T12:00:00');

reminders('off: none', () => {
  assert.equal(remindersAfter({ interval: 'hourly' }, NOON, { reminders: 'off' }), []);
});

reminders('hourly: every hour, whatever the interval', () => {
  for (const interval of ['5_minute', 'hourly', 'weekly'] as const) {
    assert.equal(remindersAfter({ interval }, NOON, { reminders: 'hourly' }, { count: 3 }), [
      NOON + HOUR,
      NOON + 2 * HOUR,
      NOON + 3 * HOUR,
    ]);
  }
});

reminders('daily: every 24 hours, whatever the interval', () => {
  for (const interval of ['5_minute', 'hourly', 'weekly'] as const) {
    assert.equal(remindersAfter({ interval }, NOON, { reminders: 'daily' }, { count: 2 }), [
      NOON + DAY,
      NOON + 2 * DAY,
    ]);
  }
});

reminders('period: as each further period ends', () => {
  const period = { reminders: 'period' } as const;
  assert.equal(remindersAfter({ interval: 'hourly' }, NOON, period, { count: 2 }), [
    NOON + HOUR,
    NOON + 2 * HOUR,
  ]);
  assert.equal(remindersAfter({ interval: '6_hour' }, NOON, period, { count: 2 }), [
    NOON + 6 * HOUR,
    NOON + 12 * HOUR,
  ]);
  assert.equal(remindersAfter({ interval: 'weekly' }, utc('2025-07-14T00:00:00'), period, { count: 2 }), [
    utc('2025-07-21T00:00:00'),
    utc('2025-07-28T00:00:00'),
  ]);
  assert.equal(remindersAfter({ interval: 'monthly' }, utc('2025-02-01T00:00:00'), period, { count: 2 }), [
    utc('2025-03-01T00:00:00'),
    utc('2025-04-01T00:00:00'),
  ]);
});

reminders('period: a sweep that acts a moment late skips none', () => {
  for (const lateness of [1, SECOND, 20 * SECOND]) {
    assert.equal(remindersAfter({ interval: 'hourly' }, NOON, {}, { count: 3, lateness }), [
      NOON + HOUR,
      NOON + 2 * HOUR,
      NOON + 3 * HOUR,
    ]);
  }
});

reminders('period: one an hour where the interval is shorter', () => {
  for (const interval of ['1_minute', '5_minute', '30_minute'] as const) {
    assert.equal(remindersAfter({ interval }, NOON, {}, { count: 3 }), [
      NOON + HOUR,
      NOON + 2 * HOUR,
      NOON + 3 * HOUR,
    ]);
  }
});

reminders('period: across a clock change at the end of each local day', () => {
  const timezone = 'Europe/Berlin';
  assert.equal(
    remindersAfter({ interval: 'daily' }, local('2025-10-26T00:00', timezone), { timezone }, { count: 2 }),
    [local('2025-10-27T00:00', timezone), local('2025-10-28T00:00', timezone)],
  );
});

reminders('period: a learned deadline is repeated at its place in each period', () => {
  const timezone = 'Europe/Berlin';
  const smart = { interval: 'daily', alertType: 'smart' } as const;
  assert.equal(remindersAfter(smart, local('2025-10-25T02:40', timezone), { timezone }, { count: 2 }), [
    local('2025-10-26T02:40', timezone),
    local('2025-10-27T02:40', timezone),
  ]);
});

reminders(
  'period: an hourly learned deadline is repeated at its place, though each sweep is a little late',
  () => {
    const smart = { interval: 'hourly', alertType: 'smart' } as const;
    const due = Date.UTC(2025, 9, 25, 12, 7);
    const late = 5_000;
    assert.is(nextReminder(smart, due, due + late, contextOf()), due + 3_600_000);
  },
);

reminders('never more than one an hour, however late the sweep', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...INTERVALS),
      fc.constantFrom<AlertType>('basic', 'smart'),
      fc.constantFrom<Reminders>('period', 'hourly', 'daily'),
      fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
      fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2026, 0) }),
      fc.array(fc.oneof(fc.integer({ min: 0, max: 1500 }), fc.integer({ min: 0, max: 3 * HOUR })), {
        minLength: 2,
        maxLength: 6,
      }),
      (interval, alertType, kind, timezone, from, latenesses) => {
        const context = contextOf({ timezone, reminders: kind });
        let dueAt = from;
        for (const lateness of latenesses) {
          const sentAt = dueAt + lateness;
          const next = nextReminder({ interval, alertType }, dueAt, sentAt, context)!;
          assert.ok(next - dueAt >= HOUR, `due ${(next - dueAt) / MINUTE} min after the one before`);
          // A sweep acts up to about a second late, so two sends may be closer to each other by that much.
          assert.ok(next - sentAt >= HOUR - MINUTE, `${(next - sentAt) / MINUTE} min after it was sent`);
          dueAt = next;
        }
      },
    ),
    { numRuns: cases(500) },
  );
});

reminders('a failed snitch whose reminders are off is silent for ever', () => {
  const context = contextOf({ reminders: 'off' });
  const healthy = transition(
    newSnitchState('hourly', 'basic'),
    { kind: 'checkIn', outcome: 'healthy' },
    { ...context, now: NOON },
  ).snitch;
  const failed = transition(healthy, { kind: 'due' }, { ...context, now: NOON + 2 * HOUR }).snitch;
  assert.is(failed.status, 'failed');
  assert.is(failed.dueAt, null);
  assert.is(transition(failed, { kind: 'due' }, { ...context, now: NOON + 99 * DAY }).alert, null);
});

reminders.run();
