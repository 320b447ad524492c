/**
 * Which times of the local clock a cron or an OnCalendar expression means, and the search for the next and the last.
 *
 * Both kinds of expression come down to certain days, and the same times on each of them. There are no clock changes
 * here: a *wall time* is what a local clock shows, as milliseconds since 1970-01-01 00:00 on that clock.
 * `zone-clock.ts` says at which instant the clock shows it.
 */
import { DAY, SECOND } from '../../text/durations.ts';

/** A month of the Gregorian calendar. */
export interface Month {
  year: number;
  /** 1 to 12. */
  month: number;
  /** 28 to 31 days. */
  length: number;
  /** The weekday of its first day: 0 for Sunday to 6. */
  firstWeekday: number;
}

export interface Pattern {
  /** The months in which it runs at all, one bit each: the lowest for January. */
  months: number;
  /** The days of such a month on which it runs, the lowest bit for the 1st. Bits beyond its end mean nothing. */
  daysIn(month: Month): number;
  /** Seconds since midnight in ascending order, at least one. */
  times: readonly number[];
}

/** The Gregorian calendar repeats after 400 years: what does not come by then never comes. */
const MONTHS_TO_SEARCH = 400 * 12;

/** The first wall time of the pattern after `wall`; null if there is none. */
export function nextWallTime(pattern: Pattern, wall: number): number | null {
  const today = Math.floor(wall / DAY);
  const day = nextDay(pattern, today);
  if (day === null) return null;
  const time = day === today ? firstAfter(pattern.times, wall - today * DAY) : pattern.times[0];
  if (time !== undefined) return day * DAY + time * SECOND;
  const later = nextDay(pattern, today + 1);
  return later === null ? null : later * DAY + (pattern.times[0] ?? 0) * SECOND;
}

/** The last wall time of the pattern that is not after `wall`; null if there is none. */
export function lastWallTime(pattern: Pattern, wall: number): number | null {
  const today = Math.floor(wall / DAY);
  const day = lastDay(pattern, today);
  if (day === null) return null;
  const time = day === today ? lastUntil(pattern.times, wall - today * DAY) : pattern.times.at(-1);
  if (time !== undefined) return day * DAY + time * SECOND;
  const earlier = lastDay(pattern, today - 1);
  return earlier === null ? null : earlier * DAY + (pattern.times.at(-1) ?? 0) * SECOND;
}

/** Days: four years, with the leap day that one of them has. */
const CYCLE = 1_461;

/**
 * The longest time between two runs in the four years that begin with the first one after `wall`, in milliseconds; null
 * if there are fewer than two. No run is missed, however many there are, because each day has the same times.
 */
export function longestGapAfter(pattern: Pattern, wall: number): number | null {
  const { times } = pattern;
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  let longest = 0;
  for (const [index, time] of times.entries()) longest = Math.max(longest, time - (times[index - 1] ?? time));
  const begin = nextDay(pattern, Math.floor(wall / DAY));
  for (let day = begin; day !== null && begin !== null; ) {
    const next: number | null = nextDay(pattern, day + 1);
    if (next === null || next - begin > CYCLE) break;
    longest = Math.max(longest, (next - day) * (DAY / SECOND) + first - last);
    day = next;
  }
  return longest > 0 ? longest * SECOND : null;
}

/** The first day of the pattern from the day `from` on, in days since 1970-01-01. */
function nextDay(pattern: Pattern, from: number): number | null {
  let { year, month, day } = dateOf(from);
  for (let searched = 0; searched <= MONTHS_TO_SEARCH; searched += 1) {
    if (hasMonth(pattern, month)) {
      const first = dayNumber(year, month, 1);
      const days = daysIn(pattern, year, month, first) & -(1 << (day - 1));
      if (days !== 0) return first + lowestBit(days);
    }
    [year, month, day] = month === 12 ? [year + 1, 1, 1] : [year, month + 1, 1];
  }
  return null;
}

/** The last day of the pattern up to the day `until`. */
function lastDay(pattern: Pattern, until: number): number | null {
  let { year, month, day } = dateOf(until);
  for (let searched = 0; searched <= MONTHS_TO_SEARCH; searched += 1) {
    if (hasMonth(pattern, month)) {
      const first = dayNumber(year, month, 1);
      const days = daysIn(pattern, year, month, first) & (2 ** day - 1);
      if (days !== 0) return first + highestBit(days);
    }
    [year, month, day] = month === 1 ? [year - 1, 12, 31] : [year, month - 1, 31];
  }
  return null;
}

function hasMonth({ months }: Pattern, month: number): boolean {
  return (months & (1 << (month - 1))) !== 0;
}

function daysIn(pattern: Pattern, year: number, month: number, first: number): number {
  const length = monthLength(year, month);
  // 1970-01-01 was a Thursday.
  const firstWeekday = (((first + 4) % 7) + 7) % 7;
  return pattern.daysIn({ year, month, length, firstWeekday }) & (2 ** length - 1);
}

function monthLength(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function dayNumber(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day) / DAY;
}

function dateOf(number: number): { year: number; month: number; day: number } {
  const date = new Date(number * DAY);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

function highestBit(bits: number): number {
  return 31 - Math.clz32(bits);
}

/** The first of `times` that is later in the day than `passed` milliseconds after midnight. */
function firstAfter(times: readonly number[], passed: number): number | undefined {
  return times[countUntil(times, passed)];
}

function lastUntil(times: readonly number[], passed: number): number | undefined {
  return times[countUntil(times, passed) - 1];
}

/** How many of `times` are not later than `passed` milliseconds after midnight. */
function countUntil(times: readonly number[], passed: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) * SECOND <= passed) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The days of a month that `matches` accepts, given their weekday, 0 for Sunday. There are only 28 kinds of months,
 * so each is worked out once: searches go through hundreds of years.
 */
export function daysWhere(
  matches: (weekday: number, day: number, length: number) => boolean,
): (month: Month) => number {
  const counted = new Map<number, number>();
  return ({ firstWeekday, length }) => {
    const kind = length * 7 + firstWeekday;
    const known = counted.get(kind);
    if (known !== undefined) return known;
    let days = 0;
    for (let day = 1; day <= length; day += 1) {
      if (matches((firstWeekday + day - 1) % 7, day, length)) days |= 1 << (day - 1);
    }
    counted.set(kind, days);
    return days;
  };
}

/** Bits for days or months, from their numbers: the lowest for 1. */
export function bitsOf(numbers: Iterable<number>): number {
  let bits = 0;
  for (const number of numbers) bits |= 1 << (number - 1);
  return bits;
}

/** The times of day at which hours, minutes and seconds meet; each list ascending. */
export function timesOf(
  hours: readonly number[],
  minutes: readonly number[],
  seconds: readonly number[],
): number[] {
  return hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => (hour * 60 + minute) * 60 + second)),
  );
}
