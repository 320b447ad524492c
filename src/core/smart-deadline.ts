/** The learned deadline of `smart` snitches (`spec §2 alert_type`, `decisions: Periods and deadlines`). */
import { DAY, MINUTE, WEEK } from '../text/durations.ts';
import { type Calendar, type Interval, nominalLength, type Period } from './interval.ts';
import { type LateRuns, NO_LATE_RUNS } from './late-runs.ts';
import { type Known, LocalClock, locate, startOf, within } from './places.ts';

/** With fewer known periods than this, nothing is learned. */
export const LEAST_KNOWN = 5;

/**
 * The smallest margin: a minute for what any job needs, and a share of the interval for what its host is doing.
 */
const SMALLEST_MARGIN = MINUTE;
const MARGIN_SHARE = 0.01;

/** The margin is this many spreads wide, divided by the number of known places: the less is known, the wider. */
const SPREADS_OF_ONE = 8;

/**
 * The reach of the places is how far the latest lies from the middle one. If run times are normally distributed, it
 * is about three times that of the late quarter; the longer their tail, the more. The margin stretches with it,
 * within bounds.
 */
const NORMAL_REACH = 3;
const MOST_STRETCH = 5;

/**
 * The margin of a long tail is narrower if late runs are remembered and the latest of all agree with each other: a
 * month-end run is long each time. It is part of the reach, and twice what the latest lies behind the fifth latest.
 */
const LATEST_COMPARED = 5;
const REACH_SHARE = 0.75;
const GAP_FACTOR = 2;

/**
 * How far the deadline stays on the way to the basic one, as a share: with the fewest known periods, and in the
 * long run.
 */
const FIRST_DOUBT = 0.5;
const LASTING_DOUBT = 0.04;

/**
 * With this many known periods the share no longer shrinks: they cover a day of hourly runs, or three weeks of
 * daily ones.
 */
const FIRST_DOUBT_ENDS = 25;

/**
 * Load follows the calendar. Until a job that runs several times a day has been watched for a week, and a daily one
 * for a month, the share is no smaller than this; it shrinks during another third of that time.
 */
const DOUBT_IN_FIRST_WEEK = 0.75;
const DOUBT_IN_FIRST_MONTH = 0.55;
const LONGEST_MONTH = 31 * DAY;
const THIRD = 1 / 3;

/** Offsets of a zone differ by half an hour at least; a smaller difference between two spreads says nothing. */
const TELLING_DIFFERENCE = 20 * MINUTE;

/** A run that a clock change catches midway looks shifted. Only a second check-in after the change is conclusive. */
const TELLING_CHECK_INS = 2;

/** A weekday counts as one without a run once this many of it have passed without one. */
const WEEKDAYS_WITHOUT_RUN = 2;

/** The period in which the check-in is expected. */
interface NextPeriod {
  /** What the local clock reads at its start, or would read, had it not skipped that time. */
  start: number;
  /** How far the clock is ahead of UTC as the period begins, and as it ends. */
  opening: number;
  closing: number;
}

/** What a set of places says about the next check-in. */
interface Expectation {
  /** Like `earliest`, but by the earlier of two clock readings if the clock changes within the period. */
  soonest: number;
  earliest: number;
  latest: number;
  margin: number;
  spread: number;
}

/**
 * The instant by which the check-in after the one at `from` is expected: in the period that follows the one of
 * `from`, and never later than the basic deadline, the end of that period.
 *
 * 1. With fewer than five known periods the deadline is the basic one.
 * 2. Each first check-in has a place in its period. A job that is scheduled in local time keeps that place on the local
 *    clock; one that is scheduled in UTC shifts with daylight saving. If the history tells the two apart (in one
 *    reading the places scatter less), that reading is used; otherwise the later of the two.
 * 3. The learned point is the latest place known: a job that is sometimes late is expected late. Late runs remembered
 *    from before the known periods count as if the job had been just as late relative to its usual place today.
 * 4. The margin after it is as wide as the places reach from their middle to the latest one, and up to five times as
 *    wide if few of them are late (late runs foretell later ones), but narrower if the latest over a long time agree
 *    with each other; the less is known, the wider. If the places are scattered over the period, this makes the
 *    deadline the basic one.
 * 5. The deadline stays part of the way to the basic one: half of it at first, a 25th once enough is known. If it is
 *    known since when the job has been watched, the deadline stays more than half of the way until a week or a month
 *    has been seen.
 * 6. A check-in so close to the next period that it may be that period's own, come a little early, answers for it,
 *    and a weekday on which the job was never seen has no learned point: both have the basic deadline.
 *
 * @param firstCheckIns ascending: the first check-in of each of the last periods, at most 50
 * @param from the last check-in, or the moment at which counting restarts
 * @param late the late runs remembered from before those
 */
export function smartDeadline(
  calendar: Calendar,
  interval: Interval,
  timezone: string,
  firstCheckIns: readonly number[],
  from: number,
  late: LateRuns = NO_LATE_RUNS,
): number {
  return smartDeadlineIn(
    calendar.periodAfter(interval, timezone, from),
    interval,
    timezone,
    firstCheckIns,
    from,
    late,
  );
}

/**
 * Like `smartDeadline`, for a period that is already known.
 *
 * @param from the last check-in if it could be the period's own, come a little early; null if it cannot
 */
export function smartDeadlineIn(
  next: Period,
  interval: Interval,
  timezone: string,
  firstCheckIns: readonly number[],
  from: number | null,
  late: LateRuns = NO_LATE_RUNS,
): number {
  if (firstCheckIns.length < LEAST_KNOWN) return next.end;
  const clock = LocalClock.of(timezone);
  const history = locate(interval, clock, firstCheckIns);
  const awaited = readingsOf(interval, clock, next);
  if (interval === 'daily' && isDayOff(awaited.start, history)) return next.end;
  const [oldest = next.start] = firstCheckIns;
  const lateBy = late.runs.filter(({ at }) => at < oldest).map(({ by }) => by);
  const { earliest, latest, margin } = expect(interval, history, awaited, lateBy);
  if (from !== null && from >= earliest - margin) return next.end;
  const learned = Math.max(latest, next.start) + margin;
  const watched = late.since === null ? null : next.start - Math.min(late.since, oldest);
  const doubt = Math.max(doubtAbout(history.length), doubtWithin(interval, watched));
  return Math.min(next.end, Math.round(learned + doubt * (next.end - learned)));
}

/**
 * From the earliest to the latest time at which the first check-in of `period` is expected, by the known places;
 * null if too few are known (`decisions: When the service itself was blind`). A job that runs on a day that this
 * month lacks is expected on the month's last day.
 */
export function learnedTime(
  period: Period,
  interval: Interval,
  timezone: string,
  firstCheckIns: readonly number[],
): Period | null {
  if (firstCheckIns.length < LEAST_KNOWN) return null;
  const clock = LocalClock.of(timezone);
  const last = Math.max(period.end - 1, firstCheckIns.at(-1) ?? 0);
  const ahead = clock.aheadThroughout(firstCheckIns[0] ?? 0, last);
  if (ahead !== null && interval !== 'monthly') return plainTime(period, interval, ahead, firstCheckIns);
  const awaited = readingsOf(interval, clock, period);
  const history = locate(interval, clock, firstCheckIns);
  const fitting =
    interval === 'monthly'
      ? history.map((known) => ({ ...known, place: inMonth(known.place, awaited.start) }))
      : history;
  const { soonest, latest } = expect(interval, fitting, awaited, []);
  return { start: soonest, end: latest };
}

/** `learnedTime` without a clock change, the usual case: kept quick, because a start may need it for a million jobs. */
function plainTime(
  period: Period,
  interval: Interval,
  ahead: number,
  firstCheckIns: readonly number[],
): Period {
  let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const at of firstCheckIns) {
    const place = at + ahead - startOf(interval, at + ahead);
    if (place < earliest) earliest = place;
    if (place > latest) latest = place;
  }
  const start = startOf(interval, period.start + ahead) - ahead;
  return { start: start + earliest, end: start + latest };
}

/** A place beyond the end of the month that starts at `start` moves to the same time of day on the last day. */
function inMonth(place: number, start: number): number {
  const date = new Date(start);
  const days = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return place < days * DAY ? place : (days - 1) * DAY + (place % DAY);
}

function readingsOf(interval: Interval, clock: LocalClock, period: Period): NextPeriod {
  const opening = clock.aheadOfUtc(period.start);
  const closing = clock.aheadOfUtc(period.end - 1);
  return { start: startOf(interval, period.start + opening), opening, closing };
}

/** @param watched how long the job has been known, in milliseconds; null if that is not remembered */
function doubtWithin(interval: Interval, watched: number | null): number {
  const length = nominalLength(interval);
  if (watched === null || length > DAY) return 0;
  const [first, cycle] = length < DAY ? [DOUBT_IN_FIRST_WEEK, WEEK] : [DOUBT_IN_FIRST_MONTH, LONGEST_MONTH];
  const left = 1 - (watched - cycle) / (THIRD * cycle);
  return first * Math.min(1, Math.max(0, left));
}

function doubtAbout(known: number): number {
  const unknown = Math.max(0, FIRST_DOUBT_ENDS - known) / (FIRST_DOUBT_ENDS - LEAST_KNOWN);
  return LASTING_DOUBT + (FIRST_DOUBT - LASTING_DOUBT) * unknown ** 2;
}

/**
 * When the next check-in is expected: for a job scheduled in local time, in UTC, or in either of them.
 *
 * @param lateBy how late the runs were that are no longer in the history
 */
function expect(
  interval: Interval,
  history: readonly Known[],
  { start, opening, closing }: NextPeriod,
  lateBy: readonly number[],
): Expectation {
  const smallest = Math.max(SMALLEST_MARGIN, MARGIN_SHARE * nominalLength(interval));
  const localPlaces = history.map(({ place }) => place);
  // If the clock changes within the period, the later of its two readings of a time is the safe one.
  const local = learn(localPlaces, lateBy, start - Math.min(opening, closing), smallest);
  local.soonest -= Math.abs(opening - closing);
  if (opening === closing && history.every(({ ahead }) => ahead === opening)) return local;
  const utcPlaces = history.map(({ place, ahead }) => within(interval, place + opening - ahead));
  const utc = learn(utcPlaces, lateBy, start - opening, smallest);
  if (history.filter(({ ahead }) => ahead === opening).length >= TELLING_CHECK_INS) {
    if (local.spread + TELLING_DIFFERENCE < utc.spread) return local;
    if (utc.spread + TELLING_DIFFERENCE < local.spread) return utc;
  }
  return {
    soonest: Math.min(local.soonest, utc.soonest),
    earliest: Math.min(local.earliest, utc.earliest),
    latest: Math.max(local.latest, utc.latest),
    // The wrong reading scatters by the clock change itself, which the later point allows for already.
    margin: Math.min(local.margin, utc.margin),
    spread: Math.min(local.spread, utc.spread),
  };
}

function learn(
  places: readonly number[],
  lateBy: readonly number[],
  start: number,
  smallest: number,
): Expectation {
  const sorted = places.toSorted((a, b) => a - b);
  const count = sorted.length;
  const [earliest = 0, last = 0] = [sorted[0], sorted[count - 1]];
  const [middle = 0, lateQuarter = 0] = [sorted[count >> 1], sorted[(count * 3) >> 2]];
  const reaches = [...sorted.slice(-LATEST_COMPARED).map((place) => place - middle), ...lateBy];
  reaches.sort((a, b) => b - a);
  const reach = reaches[0] ?? 0;
  const latest = middle + reach;
  const tail = reach / (NORMAL_REACH * Math.max(1, lateQuarter - middle));
  const stretched = Math.min(Math.max(tail, 1), MOST_STRETCH) * reach;
  const gap = reach - (reaches[LATEST_COMPARED - 1] ?? 0);
  const agreed =
    lateBy.length < LATEST_COMPARED ? Number.POSITIVE_INFINITY : REACH_SHARE * reach + GAP_FACTOR * gap;
  const unknown = (SPREADS_OF_ONE / count) * (latest - earliest);
  return {
    soonest: start + earliest,
    earliest: start + earliest,
    latest: start + latest,
    margin: smallest + Math.min(stretched, agreed) + unknown,
    spread: last - earliest,
  };
}

/** Whether the job never ran on the weekday of `day`, and enough of those days have passed to say so. */
function isDayOff(day: number, history: readonly Known[]): boolean {
  const weeks = Math.floor((day - (history[0]?.period ?? day)) / WEEK);
  return weeks >= WEEKDAYS_WITHOUT_RUN && history.every(({ period }) => (day - period) % WEEK !== 0);
}
