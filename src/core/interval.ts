/** The 17 intervals and their calendar-aligned periods in any IANA time zone (`decisions: Periods and deadlines`). */
import { DAY, HOUR, MINUTE } from '../text/durations.ts';

export { isTimeZone, spelledTimeZone } from '../text/time-zone.ts';

type IntervalRule =
  /** Follows the clock of the time zone in steps of at most an hour. */
  | { kind: 'clock'; step: number; nominal: number }
  /** Steps of several hours from local midnight. */
  | { kind: 'hours'; hours: number; nominal: number }
  | { kind: 'day' | 'week' | 'month'; nominal: number };

const clock = (minutes: number): IntervalRule => ({
  kind: 'clock',
  step: minutes * MINUTE,
  nominal: minutes * MINUTE,
});
const hours = (count: number): IntervalRule => ({ kind: 'hours', hours: count, nominal: count * HOUR });

const RULES = {
  '1_minute': clock(1),
  '2_minute': clock(2),
  '3_minute': clock(3),
  '5_minute': clock(5),
  '10_minute': clock(10),
  '15_minute': clock(15),
  '30_minute': clock(30),
  hourly: clock(60),
  '2_hour': hours(2),
  '3_hour': hours(3),
  '4_hour': hours(4),
  '6_hour': hours(6),
  '8_hour': hours(8),
  '12_hour': hours(12),
  daily: { kind: 'day', nominal: DAY },
  weekly: { kind: 'week', nominal: 7 * DAY },
  monthly: { kind: 'month', nominal: 30 * DAY },
} as const satisfies Record<string, IntervalRule>;

export type Interval = keyof typeof RULES;

export const INTERVALS = Object.keys(RULES) as readonly Interval[];

export function isInterval(value: unknown): value is Interval {
  return typeof value === 'string' && Object.hasOwn(RULES, value);
}

/** Minute intervals allow the `basic` alert type only (`spec §2`). */
export function isMinuteInterval(interval: Interval): boolean {
  return RULES[interval].nominal < HOUR;
}

/** The interval's usual length in milliseconds; a month counts as 30 days. */
export function nominalLength(interval: Interval): number {
  return RULES[interval].nominal;
}

/** The shortest interval that is not shorter than `gap` milliseconds; monthly if there is none. */
export function intervalFor(gap: number): Interval {
  return INTERVALS.find((interval) => nominalLength(interval) >= gap) ?? 'monthly';
}

/** A stretch of time from `start` (inclusive) to `end` (exclusive). */
export interface Period {
  start: number;
  end: number;
}

function contains({ start, end }: Period, at: number): boolean {
  return start <= at && at < end;
}

/** How many recently used intervals of zones a calendar remembers: a calculation costs about a hundred look-ups. */
const REMEMBERED_PERIODS = 2_000;

/** Periods of one interval in one zone. */
interface Periods {
  last: Period | null;
  /** The period found before `last`. */
  other: Period | null;
  /** A period found as the successor of another. */
  behind: Period | null;
}

/**
 * Answers which period an instant lies in. Periods tile the time line: each instant lies in exactly one, and the
 * end of a period is the start of the next. A calendar only remembers answers; it has no other state.
 */
export class Calendar {
  /** By zone and then by interval: a combined key would cost more than all the rest. */
  readonly #zones = new Map<string, Map<Interval, Periods>>();
  #count = 0;

  /** The period of `interval` in `timezone` that contains the instant `at`. */
  periodAt(interval: Interval, timezone: string, at: number): Period {
    const known = this.#remembered(interval, timezone);
    const { last, other } = known;
    if (last && contains(last, at)) return last;
    // Going through many snitches alternates between this period and the next.
    if (other && contains(other, at)) return other;
    const period = findPeriod(RULES[interval], timezone, at);
    known.last = period;
    known.other = last;
    return period;
  }

  /** The period after the one that contains the instant `at`. */
  periodAfter(interval: Interval, timezone: string, at: number): Period {
    const { end } = this.periodAt(interval, timezone, at);
    const known = this.#remembered(interval, timezone);
    if (known.behind?.start === end) return known.behind;
    const period = findPeriod(RULES[interval], timezone, end);
    known.behind = period;
    return period;
  }

  #remembered(interval: Interval, timezone: string): Periods {
    return this.#zones.get(timezone)?.get(interval) ?? this.#remember(interval, timezone);
  }

  #remember(interval: Interval, timezone: string): Periods {
    if (this.#count >= REMEMBERED_PERIODS) {
      this.#zones.clear();
      this.#count = 0;
    }
    const ofZone = this.#zones.get(timezone) ?? new Map<Interval, Periods>();
    this.#zones.set(timezone, ofZone);
    const periods = { last: null, other: null, behind: null };
    ofZone.set(interval, periods);
    this.#count += 1;
    return periods;
  }
}

/**
 * The instant `count` intervals after `at`, keeping the wall-clock time of day for intervals of a day and more
 * (a monthly job that ran on the 31st is next expected on the last day of a shorter month).
 */
export function addIntervals(interval: Interval, timezone: string, at: number, count: number): number {
  const rule: IntervalRule = RULES[interval];
  if (rule.kind === 'clock' || rule.kind === 'hours') return at + rule.nominal * count;
  const unit = ({ day: 'days', week: 'weeks', month: 'months' } as const)[rule.kind];
  return zoned(timezone, at).add({ [unit]: count }).epochMilliseconds;
}

/**
 * The instant `count` intervals after `at` by the wall clock of `timezone`, even for intervals that `addIntervals`
 * counts in real time: the two differ if the clock changes in between, and there is no knowing beforehand which of them
 * a job follows.
 */
export function addIntervalsOnWallClock(
  interval: Interval,
  timezone: string,
  at: number,
  count: number,
): number {
  const rule: IntervalRule = RULES[interval];
  if (rule.kind !== 'clock' && rule.kind !== 'hours') return addIntervals(interval, timezone, at, count);
  const wall = zoned(timezone, at)
    .toPlainDateTime()
    .add({ minutes: (rule.nominal / MINUTE) * count });
  return wall.toZonedDateTime(timezone).epochMilliseconds;
}

function findPeriod(rule: IntervalRule, timezone: string, at: number): Period {
  return rule.kind === 'clock' ? clockPeriod(rule.step, timezone, at) : wallPeriod(rule, timezone, at);
}

function zoned(timezone: string, at: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
}

function offsetAt(timezone: string, at: number): number {
  return zoned(timezone, at).offsetNanoseconds / 1e6;
}

/**
 * Periods of at most an hour count real time, so the hour that a clock change repeats is two periods and not one
 * of double length. If a change is not a multiple of the step (Lord Howe moves by half an hour), the odd remainder
 * after the change joins the period before it: a period shorter than the job's own rhythm would raise a false
 * alarm.
 */
function clockPeriod(step: number, timezone: string, at: number): Period {
  const offset = offsetAt(timezone, at);
  let start = floorTo(step, at + offset) - offset;
  let end = start + step;
  if (offsetAt(timezone, start) !== offset) {
    const change = transitionAfter(timezone, start, at);
    const before = offsetAt(timezone, change - 1);
    if (start < change) start = floorTo(step, change - 1 + before) - before;
  }
  if (offsetAt(timezone, end) !== offset) {
    const change = transitionAfter(timezone, at, end);
    const after = offsetAt(timezone, change);
    end = -floorTo(step, -(change + after)) - after;
  }
  return { start, end };
}

function floorTo(step: number, value: number): number {
  return Math.floor(value / step) * step;
}

/** The first change of the zone's offset after `from`; `until` if the zone data has none. */
function transitionAfter(timezone: string, from: number, until: number): number {
  return zoned(timezone, from).getTimeZoneTransition('next')?.epochMilliseconds ?? until;
}

/**
 * Periods of more than an hour follow the wall clock: each boundary is the first instant at which the local clock
 * reads at least the boundary's time. Boundaries never go backwards, so the two loops below always find the
 * period around `at`, even in zones that skip or repeat midnight, an hour or a whole day.
 */
function wallPeriod(rule: Exclude<IntervalRule, { kind: 'clock' }>, timezone: string, at: number): Period {
  let wall = wallStart(rule, zoned(timezone, at).toPlainDateTime());
  let start = firstInstant(timezone, wall);
  while (start > at) {
    wall = nextWall(rule, wall, -1);
    start = firstInstant(timezone, wall);
  }
  for (;;) {
    wall = nextWall(rule, wall, 1);
    const end = firstInstant(timezone, wall);
    if (end > at) return { start, end };
    start = end;
  }
}

function wallStart(
  rule: Exclude<IntervalRule, { kind: 'clock' }>,
  wall: Temporal.PlainDateTime,
): Temporal.PlainDateTime {
  const midnight = wall.round({ smallestUnit: 'day', roundingMode: 'floor' });
  switch (rule.kind) {
    case 'hours':
      return midnight.add({ hours: floorTo(rule.hours, wall.hour) });
    case 'day':
      return midnight;
    case 'week':
      return midnight.subtract({ days: midnight.dayOfWeek - 1 });
    case 'month':
      return midnight.with({ day: 1 });
  }
}

function nextWall(
  rule: Exclude<IntervalRule, { kind: 'clock' }>,
  wall: Temporal.PlainDateTime,
  direction: 1 | -1,
): Temporal.PlainDateTime {
  switch (rule.kind) {
    case 'hours':
      return wall.add({ hours: rule.hours * direction });
    case 'day':
      return wall.add({ days: direction });
    case 'week':
      return wall.add({ weeks: direction });
    case 'month':
      return wall.add({ months: direction });
  }
}

/** The first instant at which the local clock reads `wall` or later: the end of the gap if `wall` is skipped. */
function firstInstant(timezone: string, wall: Temporal.PlainDateTime): number {
  const found = wall.toZonedDateTime(timezone, { disambiguation: 'compatible' });
  if (found.toPlainDateTime().equals(wall)) return found.epochMilliseconds;
  const change = found.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  return change?.epochMilliseconds ?? found.epochMilliseconds;
}
