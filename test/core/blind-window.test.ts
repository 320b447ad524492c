import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type BlindWindow, beyond, postpone } from '../../src/core/blind-window.ts';
import { type DeadlineContext, deadlineAfter } from '../../src/core/deadline.ts';
import { addIntervals, Calendar, type Interval, nominalLength } from '../../src/core/interval.ts';
import { type AlertType, newSnitchState, type SnitchState, type Status } from '../../src/core/snitch.ts';
import { transition } from '../../src/core/transition.ts';
import { cases } from '../cases.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An instant of the wall clock in `timezone`, such as `2025-07-09 10:30`. */
const local = (time: string, timezone = 'UTC') =>
  Temporal.PlainDateTime.from(time.replace(' ', 'T')).toZonedDateTime(timezone).epochMilliseconds;

function contextOf(timezone: string, firstCheckIns: readonly number[] = []): DeadlineContext {
  const rules = { timezone, reminders: 'period', errorNotices: true } as const;
  return { calendar: new Calendar(), rules, firstCheckIns };
}

function healthy(
  interval: Interval,
  lastCheckInAt: number,
  context: DeadlineContext,
  alertType: AlertType = 'basic',
): SnitchState {
  const state = newSnitchState(interval, alertType);
  const dueAt = deadlineAfter(state, lastCheckInAt, context);
  return { ...state, status: 'healthy', checkedInAt: lastCheckInAt, lastCheckInAt, dueAt };
}

interface Row {
  interval: Interval;
  /** In local time: the last check-in; with `days`, as many daily or hourly ones up to it are known. */
  seen: string;
  /** How many first check-ins are known, one interval apart and ending with `seen`, with these places in turn. */
  known?: number;
  places?: number[];
  smart?: true;
  zone?: string;
  windows: [from: string, to: string][];
  /** The deadline after the windows; absent where it stays. */
  due?: string;
}

function outcome({ interval, seen, known = 0, places = [0], smart, zone = 'UTC', windows }: Row) {
  const at = local(seen, zone);
  const history = Array.from(
    { length: known },
    (_, index) => addIntervals(interval, zone, at, index + 1 - known) + (places[index % places.length] ?? 0),
  );
  const context = contextOf(zone, history);
  const before = healthy(interval, at, context, smart ? 'smart' : 'basic');
  let state = before;
  for (const [from, to] of windows) {
    state = postpone(state, { start: local(from, zone), end: local(to, zone) }, context) ?? state;
  }
  return { before, state };
}

/** "When the service itself was blind" of decisions.md, clause by clause. */
const TABLE: Record<string, Record<string, Row>> = {
  'with at least 5 known first check-ins: from the earliest to the latest place, 1 minute wider on both sides':
    {
      'a restart at 04:05 costs a job that runs at 03:00 nothing': {
        interval: 'daily',
        seen: '2025-07-09 03:00',
        known: 5,
        windows: [['2025-07-10 04:05:00', '2025-07-10 04:05:02']],
      },
      'nor the same job before it is known': {
        interval: 'daily',
        seen: '2025-07-09 03:00',
        windows: [['2025-07-10 04:05:00', '2025-07-10 04:05:02']],
      },
      'nor a monthly one': {
        interval: 'monthly',
        seen: '2025-07-01 03:00',
        known: 5,
        windows: [['2025-08-01 04:05:00', '2025-08-01 04:05:02']],
      },
      'nor a monthly one before it is known': {
        interval: 'monthly',
        seen: '2025-07-01 03:00',
        windows: [['2025-08-01 04:05:00', '2025-08-01 04:05:02']],
      },
      'a window that ends a minute before the earliest': {
        interval: 'daily',
        seen: '2025-07-09 03:00',
        known: 6,
        places: [0, 10 * MINUTE],
        due: '2025-07-12 00:00',
        windows: [['2025-07-10 02:58:00', '2025-07-10 02:59:00']],
      },
      'and one that ends earlier': {
        interval: 'daily',
        seen: '2025-07-09 03:00',
        known: 6,
        places: [0, 10 * MINUTE],
        windows: [['2025-07-10 02:58:00', '2025-07-10 02:58:59']],
      },
      'a window that begins a minute after the latest': {
        interval: 'daily',
        seen: '2025-07-09 03:00',
        known: 6,
        places: [0, 10 * MINUTE],
        due: '2025-07-12 00:00',
        windows: [['2025-07-10 03:11:00', '2025-07-10 03:12:00']],
      },
      'and one that begins later': {
        interval: 'daily',
        seen: '2025-07-09 03:00',
        known: 6,
        places: [0, 10 * MINUTE],
        windows: [['2025-07-10 03:11:01', '2025-07-10 03:12:00']],
      },
      'the last check-in does not count where places are known': {
        interval: 'daily',
        seen: '2025-07-09 03:00',
        known: 6,
        places: [-2 * HOUR],
        windows: [['2025-07-10 02:59:00', '2025-07-10 03:10:00']],
      },
      'a monthly job of the last day, in a short month': {
        interval: 'monthly',
        seen: '2025-01-31 04:00',
        known: 5,
        due: '2025-04-01 00:00',
        windows: [['2025-02-28 03:59:50', '2025-02-28 04:00:10']],
      },
    },
  'else the last check-in plus one interval, ± the larger of 60 s and 5 %, at most 15 minutes': {
    'hourly: 3 minutes before': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      due: '2025-07-09 13:00',
      windows: [['2025-07-09 11:20', '2025-07-09 11:27']],
    },
    'hourly: earlier': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      windows: [['2025-07-09 11:20', '2025-07-09 11:26:59.999']],
    },
    'hourly: 3 minutes after': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      due: '2025-07-09 13:00',
      windows: [['2025-07-09 11:33', '2025-07-09 11:40']],
    },
    'hourly: later': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      windows: [['2025-07-09 11:33:00.001', '2025-07-09 11:40']],
    },
    'every minute: 60 s': {
      interval: '5_minute',
      seen: '2025-07-09 10:02',
      due: '2025-07-09 10:15',
      windows: [['2025-07-09 10:08', '2025-07-09 10:08:10']],
    },
    'every minute: more than 60 s': {
      interval: '5_minute',
      seen: '2025-07-09 10:02',
      windows: [['2025-07-09 10:08:00.001', '2025-07-09 10:08:10']],
    },
    'daily: 15 minutes, not 72': {
      interval: 'daily',
      seen: '2025-07-09 03:00',
      windows: [['2025-07-10 03:15:00.001', '2025-07-10 04:00']],
    },
    'weekly: 15 minutes': {
      interval: 'weekly',
      seen: '2025-07-09 03:00',
      due: '2025-07-28 00:00',
      windows: [['2025-07-16 03:15', '2025-07-16 04:00']],
    },
    'four known are too few': {
      interval: 'daily',
      seen: '2025-07-09 03:00',
      known: 4,
      places: [-2 * HOUR],
      due: '2025-07-12 00:00',
      windows: [['2025-07-10 03:10', '2025-07-10 03:12']],
    },
  },
  'a deadline in a window, while the expected time is not, moves by the length of the window, at least a minute':
    {
      'by 10 minutes': {
        interval: 'hourly',
        seen: '2025-07-09 10:30',
        due: '2025-07-09 12:10',
        windows: [['2025-07-09 11:55', '2025-07-09 12:05']],
      },
      'by a minute': {
        interval: 'hourly',
        seen: '2025-07-09 10:30',
        due: '2025-07-09 12:01',
        windows: [['2025-07-09 11:59:59', '2025-07-09 12:00:01']],
      },
      'again in the next window': {
        interval: 'hourly',
        seen: '2025-07-09 10:30',
        due: '2025-07-09 12:05',
        windows: [
          ['2025-07-09 11:59:59', '2025-07-09 12:00:01'],
          ['2025-07-09 12:00:30', '2025-07-09 12:04:30'],
        ],
      },
      'in a window that begins with it': {
        interval: 'hourly',
        seen: '2025-07-09 10:30',
        due: '2025-07-09 12:10',
        windows: [['2025-07-09 12:00', '2025-07-09 12:10']],
      },
      'in a window that ends with it': {
        interval: 'hourly',
        seen: '2025-07-09 10:30',
        due: '2025-07-09 12:10',
        windows: [['2025-07-09 11:50', '2025-07-09 12:00']],
      },
      'a window before the deadline changes nothing': {
        interval: 'hourly',
        seen: '2025-07-09 10:30',
        windows: [['2025-07-09 11:40', '2025-07-09 11:59:59']],
      },
      'nor one after it': {
        interval: 'hourly',
        seen: '2025-07-09 10:30',
        windows: [['2025-07-09 12:00:01', '2025-07-09 12:10']],
      },
    },
  'to the end of the first period that begins after the window': {
    'hourly, seen 10:30, down 11:30:00–11:30:10': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      due: '2025-07-09 13:00',
      windows: [['2025-07-09 11:30:00', '2025-07-09 11:30:10']],
    },
    'a window that ends as a period begins': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      due: '2025-07-09 13:00',
      windows: [['2025-07-09 11:30', '2025-07-09 12:00']],
    },
    'a window longer than the interval': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      due: '2025-07-09 22:00',
      windows: [['2025-07-09 11:30', '2025-07-09 20:15']],
    },
    'two windows in a row, each over an expected time': {
      interval: 'hourly',
      seen: '2025-07-09 10:30',
      due: '2025-07-09 14:00',
      windows: [
        ['2025-07-09 11:30', '2025-07-09 11:31'],
        ['2025-07-09 12:30', '2025-07-09 12:31'],
      ],
    },
    'ten windows in a row': {
      interval: 'daily',
      seen: '2025-07-01 03:00',
      due: '2025-07-13 00:00',
      windows: Array.from({ length: 10 }, (_, day): [string, string] => {
        const date = `2025-07-${String(day + 2).padStart(2, '0')}`;
        return [`${date} 02:59:59`, `${date} 03:00:01`];
      }),
    },
    weekly: {
      interval: 'weekly',
      seen: '2025-07-09 04:00',
      due: '2025-07-28 00:00',
      windows: [['2025-07-16 03:00', '2025-07-16 05:00']],
    },
    monthly: {
      interval: 'monthly',
      seen: '2025-01-31 04:00',
      due: '2025-04-01 00:00',
      windows: [['2025-02-28 03:00', '2025-02-28 05:00']],
    },
    'every 6 hours, in Berlin': {
      interval: '6_hour',
      seen: '2025-07-09 01:00',
      zone: 'Europe/Berlin',
      due: '2025-07-09 18:00',
      windows: [['2025-07-09 07:00', '2025-07-09 07:01']],
    },
    'daily, in Kathmandu': {
      interval: 'daily',
      seen: '2025-07-09 03:00',
      zone: 'Asia/Kathmandu',
      known: 9,
      due: '2025-07-12 00:00',
      windows: [['2025-07-10 03:00', '2025-07-10 03:00:02']],
    },
  },
  'a window that was over when the period of the check-in began postpones nothing': {
    'however close to it the check-in is expected': {
      interval: 'hourly',
      seen: '2025-07-09 10:00:20',
      known: 50,
      smart: true,
      windows: [['2025-07-09 10:50', '2025-07-09 10:59:40']],
    },
    'also where it ends as the period begins': {
      interval: 'hourly',
      seen: '2025-07-09 10:00:20',
      known: 50,
      smart: true,
      windows: [['2025-07-09 10:50', '2025-07-09 11:00']],
    },
  },
  'a smart deadline: to the deadline of the first expected time after the window': {
    daily: {
      // 4 % of the way from the latest place with its margin to midnight.
      interval: 'daily',
      seen: '2025-07-09 03:00',
      known: 50,
      smart: true,
      due: '2025-07-11 04:04:13.440',
      windows: [['2025-07-10 02:59:59', '2025-07-10 03:00:01']],
    },
    'which may be in the same period as the end of a long window': {
      interval: 'daily',
      seen: '2025-07-09 03:00',
      known: 50,
      smart: true,
      due: '2025-07-12 04:04:13.440',
      windows: [['2025-07-10 02:59:59', '2025-07-12 01:00']],
    },
    'not yet learned: as basic': {
      interval: 'daily',
      seen: '2025-07-09 03:00',
      known: 4,
      smart: true,
      due: '2025-07-12 00:00',
      windows: [['2025-07-10 02:59:59', '2025-07-10 03:00:01']],
    },
  },
  'daylight saving': {
    'a local job is expected by the local clock': {
      interval: 'daily',
      seen: '2025-03-29 04:00',
      zone: 'Europe/Berlin',
      due: '2025-04-01 00:00',
      windows: [['2025-03-30 03:59:59', '2025-03-30 04:00:01']],
    },
    'a job that counts in UTC an hour later': {
      interval: 'daily',
      seen: '2025-03-29 04:00',
      zone: 'Europe/Berlin',
      due: '2025-04-01 00:00',
      windows: [['2025-03-30 04:59:59', '2025-03-30 05:00:01']],
    },
    'and no job two hours later': {
      interval: 'daily',
      seen: '2025-03-29 04:00',
      zone: 'Europe/Berlin',
      windows: [['2025-03-30 05:59:59', '2025-03-30 06:00:01']],
    },
    'every 12 hours by the local clock': {
      interval: '12_hour',
      seen: '2025-10-25 15:00',
      zone: 'Europe/Berlin',
      due: '2025-10-27 00:00',
      windows: [['2025-10-26 03:00', '2025-10-26 03:01']],
    },
    'a known local job as the clock goes back': {
      interval: 'daily',
      seen: '2025-10-25 04:00',
      zone: 'Europe/Berlin',
      known: 9,
      due: '2025-10-28 00:00',
      windows: [['2025-10-26 03:59:59', '2025-10-26 04:00:01']],
    },
  },
};

for (const [clause, rows] of Object.entries(TABLE)) {
  const test = suite(clause);
  for (const [name, row] of Object.entries(rows)) {
    test(name, () => {
      const { before, state } = outcome(row);
      const zone = row.zone ?? 'UTC';
      const shown = (at: number | null) =>
        at === null
          ? null
          : Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDateTime().toString();
      assert.is(
        shown(state.dueAt),
        row.due === undefined ? shown(before.dueAt) : shown(local(row.due, zone)),
      );
      assert.is(state.postponed, row.due === undefined ? 0 : row.windows.length);
    });
  }
  test.run();
}

const states = suite('which snitches a blind window concerns');

const CHECKED_IN = local('2025-07-09 10:59');
const UTC = contextOf('UTC');
const EXPECTED: BlindWindow = { start: CHECKED_IN + HOUR, end: CHECKED_IN + HOUR + MINUTE };

states('an errored snitch awaits its check-in as a healthy one does', () => {
  const snitch: SnitchState = { ...healthy('hourly', CHECKED_IN, UTC), status: 'errored' };
  assert.is(postpone(snitch, EXPECTED, UTC)?.dueAt, local('2025-07-09 13:00'));
});

states('pending, paused and failed await nothing', () => {
  for (const status of ['pending', 'paused', 'failed'] as Status[]) {
    const snitch = { ...healthy('hourly', CHECKED_IN, UTC), status };
    assert.is(postpone(snitch, EXPECTED, UTC), null, status);
  }
  assert.is(postpone(newSnitchState('hourly', 'basic'), EXPECTED, UTC), null);
});

states(
  'after a pause the check-in of the period before the deadline is meant, however old the last is',
  () => {
    const snitch = { ...healthy('hourly', CHECKED_IN, UTC), dueAt: local('2025-07-09 20:00') };
    const expected = local('2025-07-09 19:59');
    assert.is(postpone(snitch, EXPECTED, UTC), null);
    assert.is(
      postpone(snitch, { start: expected, end: expected + MINUTE }, UTC)?.dueAt,
      local('2025-07-09 21:00'),
    );
  },
);

states('where the last check-in is not known, the next may be lost in any window of its period', () => {
  const snitch = { ...healthy('hourly', CHECKED_IN, UTC), lastCheckInAt: null };
  const window = { start: local('2025-07-09 11:05'), end: local('2025-07-09 11:06') };
  assert.is(postpone(snitch, window, UTC)?.dueAt, local('2025-07-09 13:00'));
});

states('a window given twice postpones once', () => {
  const once = postpone(healthy('hourly', CHECKED_IN, UTC), EXPECTED, UTC)!;
  assert.is(postpone(once, EXPECTED, UTC), null);
  // The time around its next check-in begins within the window.
  const early = healthy('hourly', local('2025-07-09 10:01'), UTC);
  const long = { start: local('2025-07-09 11:00'), end: local('2025-07-09 11:59:30') };
  const later = postpone(early, long, UTC)!;
  assert.equal([later.dueAt, later.postponed], [local('2025-07-09 13:00'), 1]);
  assert.is(postpone(later, long, UTC), null);
  // Only its deadline lies in the window.
  const late = { start: local('2025-07-09 11:55'), end: local('2025-07-09 12:05') };
  const moved = postpone(healthy('hourly', local('2025-07-09 10:30'), UTC), late, UTC)!;
  assert.is(moved.dueAt, local('2025-07-09 12:10'));
  assert.is(postpone(moved, late, UTC), null);
});

states('a window that is reported late moves no deadline back', () => {
  const snitch = healthy('hourly', local('2025-07-09 10:30'), UTC);
  const moved = postpone(snitch, { start: local('2025-07-09 11:50'), end: local('2025-07-09 13:20') }, UTC)!;
  assert.is(moved.dueAt, local('2025-07-09 13:30'));
  const late = { start: local('2025-07-09 11:25'), end: local('2025-07-09 11:40') };
  assert.is(postpone(moved, late, UTC), null);
  const same = postpone(snitch, { start: local('2025-07-09 11:50'), end: local('2025-07-09 12:50') }, UTC)!;
  assert.is(same.dueAt, local('2025-07-09 13:00'));
  assert.is(postpone(same, late, UTC), null, 'nor does it count where it leads to the same');
});

states('a deadline that was moved into another period still awaits its own check-in', () => {
  const snitch = healthy('hourly', local('2025-07-09 10:30'), UTC);
  const moved = postpone(snitch, { start: local('2025-07-09 11:50'), end: local('2025-07-09 12:20') }, UTC)!;
  assert.equal([moved.dueAt, moved.movedFrom], [local('2025-07-09 12:30'), local('2025-07-09 12:00')]);
  assert.is(postpone(moved, { start: local('2025-07-09 12:25'), end: local('2025-07-09 12:29') }, UTC), null);
});

states.run();

const properties = suite('blind windows and punctual jobs');

const INTERVALS: Interval[] = [
  '1_minute',
  '15_minute',
  'hourly',
  '6_hour',
  '12_hour',
  'daily',
  'weekly',
  'monthly',
];
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];

/** The runs of a job that runs at the same place in every period, by the local clock. */
function runsOf(interval: Interval, zone: string, from: number, place: number, count: number): number[] {
  const calendar = new Calendar();
  const { start } = calendar.periodAt(interval, zone, from);
  const first = start + Math.round(place * (interval === 'monthly' ? 27 * DAY : nominalLength(interval)));
  return Array.from({ length: count }, (_, index) => addIntervals(interval, zone, first, index));
}

/** Plays the runs and the windows through. @returns the instants at which the job was accused */
function live(
  state: SnitchState,
  runs: readonly number[],
  windows: readonly BlindWindow[],
  context: DeadlineContext,
): number[] {
  const accused: number[] = [];
  const history: number[] = [];
  const known = () => ({ ...context, firstCheckIns: history.slice(-50) });
  const events = [
    ...runs
      .filter((at) => !windows.some(({ start, end }) => start <= at && at < end))
      .map((at) => ({ at, window: null })),
    ...windows.map((window) => ({ at: window.end, window })),
  ].sort((a, b) => a.at - b.at || (a.window ? -1 : 1));
  let now = state;
  for (const { at, window } of events) {
    // What was due before this event, or before the window began, has been swept.
    const sweptUntil = window ? window.start : at;
    if (now.dueAt !== null && now.dueAt < sweptUntil && now.status === 'healthy') accused.push(now.dueAt);
    if (window) now = postpone(now, window, known()) ?? now;
    else {
      if (nominalLength(now.interval) >= HOUR) history.push(at);
      now = transition(now, { kind: 'checkIn', outcome: 'healthy' }, { ...known(), now: at }).snitch;
    }
  }
  return accused;
}

properties('a job that checks in punctually whenever it can be heard is never accused', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...INTERVALS),
      fc.constantFrom(...ZONES),
      fc.constantFrom<AlertType>('basic', 'smart'),
      fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2026, 0) }),
      fc.double({ min: 0.05, max: 0.9, noNaN: true }),
      fc.array(
        fc.tuple(
          fc.integer({ min: 1, max: 29 }),
          fc.double({ min: -1.5, max: 0.5, noNaN: true }),
          fc.double({ min: 0, max: 2.5, noNaN: true }),
        ),
        { maxLength: 12 },
      ),
      (interval, zone, wanted, from, place, blindness) => {
        const alertType = nominalLength(interval) < HOUR ? 'basic' : wanted;
        const runs = runsOf(interval, zone, from, place, 32);
        const length = nominalLength(interval);
        // Around some run, beginning before or after it; two that touch become one.
        const windows: BlindWindow[] = [];
        for (const [run, offset, size] of [...blindness].sort((a, b) => a[0] - b[0])) {
          const start = Math.max(
            runs[run]! + Math.round(offset * length),
            runs[0]! + 1,
            (windows.at(-1)?.end ?? 0) + 1,
          );
          windows.push({ start, end: start + Math.round(size * length) });
        }
        const context = contextOf(zone);
        const pending = newSnitchState(interval, alertType);
        // A job that runs in UTC close to the end of its periods misses one when the local clock is set forward.
        fc.pre(live(pending, runs, [], context).length === 0);
        assert.equal(live(pending, runs, windows, context), []);
      },
    ),
    { numRuns: cases(1_500) },
  );
});

properties('a restart of 2 s away from the expected time and the deadline moves nothing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Interval>('hourly', '6_hour', 'daily', 'weekly', 'monthly'),
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2026, 0) }),
      fc.double({ min: 0.1, max: 0.7, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (interval, known, from, place, where) => {
        const runs = runsOf(interval, 'UTC', from, place, known + 1);
        const last = runs.at(-1)!;
        const context = contextOf('UTC', runs.slice(-known || runs.length));
        const snitch = healthy(interval, last, context);
        const expected = addIntervals(interval, 'UTC', last, 1);
        const start = last + Math.round(where * ((snitch.dueAt ?? 0) - last - 3 * SECOND));
        // A month and its days are longer or shorter: the places of the others count too.
        const around = interval === 'monthly' ? 4 * DAY : 15 * MINUTE;
        if (Math.abs(start - expected) <= around + 2 * SECOND) return;
        assert.is(postpone(snitch, { start, end: start + 2 * SECOND }, context), null);
      },
    ),
    { numRuns: cases(1_000) },
  );
});

properties('a deadline never moves backwards, and always past the window', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...INTERVALS),
      fc.constantFrom(...ZONES),
      fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2026, 0) }),
      fc.integer({ min: 0, max: 70 * DAY }),
      fc.integer({ min: 0, max: 70 * DAY }),
      (interval, zone, checkedIn, gap, length) => {
        const context = contextOf(zone);
        const snitch = healthy(interval, checkedIn, context);
        const start = checkedIn + gap;
        const later = postpone(snitch, { start, end: start + length }, context);
        if (later === null) return;
        assert.ok(later.dueAt! > snitch.dueAt!);
        assert.ok(later.dueAt! >= start + length);
        assert.is(later.postponed, 1);
      },
    ),
    { numRuns: cases(500) },
  );
});

const trimmed = suite('what of a window is not known yet');

trimmed('it lies before, between or behind those that are known', () => {
  const of = (start: number, end: number) => ({ start, end });
  const window = of(100, 200);
  assert.equal(beyond(window, []), [window]);
  assert.equal(beyond(window, [of(10, 90), of(210, 300)]), [window]);
  assert.equal(beyond(window, [of(90, 210)]), []);
  assert.equal(beyond(window, [window]), []);
  assert.equal(beyond(window, [of(90, 150)]), [of(150, 200)]);
  assert.equal(beyond(window, [of(150, 210)]), [of(100, 150)]);
  assert.equal(beyond(window, [of(120, 130), of(180, 220), of(50, 120)]), [of(130, 180)]);
  assert.equal(beyond(window, [of(150, 210), of(90, 150)]), []);
  assert.equal(beyond(window, [of(150, 160), of(120, 130)]), [of(100, 120), of(130, 150), of(160, 200)]);
});

trimmed.run();
properties.run();
