/** The deadlines of random snitches: as they were learned, moved by blind windows, and set anew; written down. */
import { join } from 'node:path';
import { suite } from 'uvu';
import { postponeByAll } from '../../src/core/blind-window.ts';
import { setAnew } from '../../src/core/clock-ahead.ts';
import {
  type DeadlineContext,
  deadlineAfter,
  deadlineAfterCheckIn,
  deadlineAnew,
  nextReminder,
} from '../../src/core/deadline.ts';
import { expectationOf } from '../../src/core/expectation.ts';
import { Calendar, INTERVALS, isMinuteInterval, nominalLength } from '../../src/core/interval.ts';
import { usualLength } from '../../src/core/job-schedule.ts';
import { type Learned, NOTHING_LEARNED, withCheckIn } from '../../src/core/late-runs.ts';
import { newSnitchState, type SnitchState } from '../../src/core/snitch.ts';
import { assertKept, inOneLine } from '../kept-text.ts';
import { Dice } from '../random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const SNITCHES = 150;
const KEPT = join(import.meta.dirname, 'random-deadlines.txt');

/** Half an hour of change, a change at midnight, and none at all are among them. */
const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Havana', 'Asia/Kolkata'];

/** Around the changes of clocks, the ends of months and of the year, and a leap day. */
const TIMES = [
  '2026-03-28T20:00Z',
  '2026-04-04T10:00Z',
  '2026-07-15T13:20Z',
  '2026-10-24T21:40Z',
  '2026-10-31T03:00Z',
  '2026-12-31T22:10Z',
  '2028-02-28T09:00Z',
].map((time) => Date.parse(time));

const deadlines = suite('random deadlines');

const SCHEDULES = [
  { cron: '30 2 * * *' },
  { cron: '*/20 * * * *' },
  { cron: '0 5 L * *' },
  { cron: '15 9,17 * * 1-5' },
  { calendar: 'Sun *-*-* 00:30' },
  { calendar: '2026-11-05 10:00' },
  { every: 5_400 },
  { every: 86_400 },
];

function settingsOf(dice: Dice): SnitchState {
  const schedule = dice.isHit(0.35) ? dice.oneOf(SCHEDULES) : null;
  const interval = dice.oneOf(INTERVALS);
  const isSmart = schedule === null && !isMinuteInterval(interval) && dice.isHit(0.6);
  const timezone = schedule && dice.isHit(0.5) ? dice.oneOf(ZONES) : null;
  const grace = dice.oneOf([null, null, null, 0, 90, 3_600]);
  return newSnitchState(interval, isSmart ? 'smart' : 'basic', { schedule, timezone, grace });
}

/** What is known of a job that runs at its own time of each period, now and then late, and misses some. */
function learnedOf(dice: Dice, { interval }: SnitchState, timezone: string, now: number): Learned {
  const calendar = new Calendar();
  const place = dice.whole(0, 99) / 100;
  const spread = dice.oneOf([0.001, 0.01, 0.1, 0.4]);
  let learned = NOTHING_LEARNED;
  let period = calendar.periodAt(
    interval,
    timezone,
    now - dice.oneOf([3, 8, 30, 55]) * nominalLength(interval),
  );
  while (period.end < now) {
    const length = period.end - period.start;
    const late = dice.isHit(0.05) ? dice.whole(0, 30) / 100 : 0;
    const at =
      period.start + Math.floor(Math.min(0.999, place + spread * (dice.whole(0, 100) / 100) + late) * length);
    if (!dice.isHit(0.1)) learned = withCheckIn(learned, interval, timezone, at);
    period = calendar.periodAfter(interval, timezone, period.start);
  }
  return learned;
}

function describe(seed: number): string[] {
  const dice = new Dice(seed);
  const timezone = dice.oneOf(ZONES);
  const now = dice.oneOf(TIMES) + dice.whole(0, 3 * HOUR);
  const settings = settingsOf(dice);
  const learned = learnedOf(dice, settings, timezone, now);
  const rules = {
    timezone,
    reminders: dice.oneOf(['period', 'period', 'hourly', 'daily', 'off'] as const),
    errorNotices: true,
  };
  const context: DeadlineContext = { calendar: new Calendar(), rules, ...learned };
  const length = usualLength(settings, timezone);
  const lastCheckInAt = learned.firstCheckIns.at(-1) ?? now - dice.whole(0, Math.floor(1.5 * length));
  const dueAt = deadlineAfter(settings, lastCheckInAt, context);
  const status = dice.oneOf(['healthy', 'healthy', 'errored', 'failed'] as const);
  const state: SnitchState = { ...settings, status, lastCheckInAt, checkedInAt: lastCheckInAt, dueAt };
  const { interval, alertType, schedule, grace } = settings;
  return [
    `${seed}: ${interval} ${alertType} ${inOneLine({ schedule, zone: settings.timezone, grace })} ${timezone}, ${status}`,
    `  last ${inOneLine(lastCheckInAt)}, now ${inOneLine(now)}, known ${learned.firstCheckIns.length}, late ${inOneLine(learned.late)}`,
    `  due ${inOneLine(dueAt)}, after one now ${inOneLine(deadlineAfterCheckIn(state, now, context))}, anew ${inOneLine(deadlineAnew(state, now, context))}`,
    `  reminded ${inOneLine(nextReminder(state, dueAt ?? now, now, context))}, on time ${inOneLine(nextReminder(state, now, now, context))}`,
    ...(dueAt === null ? [] : expected(state, dueAt, context)),
    ...moved(dice, state, now, length, context),
  ];
}

function expected(state: SnitchState, dueAt: number, context: DeadlineContext): string[] {
  const { from, times, instant, deadlineBehind } = expectationOf(state, dueAt, context);
  const behind = [from, dueAt, dueAt + DAY].map(deadlineBehind);
  return [
    `  expected from ${inOneLine(from)} at ${inOneLine([instant(), ...times()])}, behind ${inOneLine(behind)}`,
  ];
}

function moved(
  dice: Dice,
  state: SnitchState,
  now: number,
  length: number,
  context: DeadlineContext,
): string[] {
  const start = Math.floor((state.dueAt ?? now) - (dice.whole(0, 120) / 100) * length);
  const windows = [
    { start, end: start + dice.oneOf([2_000, 10 * MINUTE, HOUR, DAY]) },
    { start: start + DAY + HOUR, end: start + DAY + dice.oneOf([2, 5]) * HOUR },
  ];
  const { snitch, by } = postponeByAll(state, windows, context);
  const { dueAt, movedFrom, postponed } = snitch;
  const ahead = setAnew({ ...state, dueAt: now + dice.oneOf([1.5, 2.2, 40]) * length }, now, context);
  return [
    `  blind ${inOneLine(windows)}: by ${by.length} to ${inOneLine({ dueAt, movedFrom, postponed })}`,
    `  set anew ${inOneLine(ahead && { dueAt: ahead.dueAt, lastCheckInAt: ahead.lastCheckInAt })}`,
  ];
}

deadlines('are as they were', () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= SNITCHES; seed += 1) lines.push(...describe(seed));
  assertKept(KEPT, lines);
});

deadlines.run();
