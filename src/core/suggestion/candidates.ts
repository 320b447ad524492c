/**
 * Which schedules a history may come from. Each is a guess that `fit.ts` judges: it need not be right, but the right one
 * has to be among them.
 */
import { DAY, HOUR, MINUTE, SECOND } from '../../text/durations.ts';
import { LocalClock } from '../places.ts';
import type { ScheduleRule } from '../schedule/schedule.ts';
import { median } from './history.ts';

export interface Candidate {
  rule: ScheduleRule;
  timezone: string;
  /** How complicated it is to write down: if two fit equally well, the simpler one is meant. */
  complexity: number;
}

/** Minutes and hours that a clock divides into equal steps. */
const STEPS_OF_MINUTES = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30] as const;
const STEPS_OF_HOURS = [1, 2, 3, 4, 6, 8, 12] as const;

/** A step is tried if the usual gap is about as long. */
const NEAR = 0.3;

/** A weekday, or a time of day, belongs to the schedule if the job ran on this share of the days on which it could have. */
const USUAL_SHARE = 0.5;

/** Times of day closer together than this belong to one run. */
const SAME_RUN = HOUR;
const MOST_RUNS_A_DAY = 12;

/** Over fewer months, runs may fall on the same day of the month by chance. */
const LEAST_MONTHS = 3;

/** This share of the places must lie together. The others are manual or late runs. */
const TOGETHER = 0.92;

/** Two arcs are about as long if they differ by this share of the circle. */
const ALIKE = 0.02;

/** If the host's clock is ahead, a check-in may come seconds early: up to ten seconds it counts for its run. */
const CLOCKS_DIFFER = 8 * SECOND;
const EARLY = 10 * MINUTE;

/** People write times that end in 0 or 5. */
const ROUND = 5 * MINUTE;

const WEEKDAYS = 7;

/** 1 January 1970 was a Thursday. */
const FIRST_WEEKDAY = 4;

/**
 * @param instants ascending: when the runs began, or where that is unknown, when they checked in
 * @param timezones the zones that the job may follow, the likeliest first
 */
export function candidates(instants: readonly number[], timezones: readonly string[]): Candidate[] {
  const gap = usualGap(instants);
  if (Number.isNaN(gap)) return [];
  const found = timezones.flatMap((timezone, index) => {
    const clock = LocalClock.of(timezone);
    const walls = instants.map((at) => at + clock.aheadOfUtc(at));
    const crons = [...steps(walls, gap), ...timesOfDay(walls), ...daysOfMonth(walls)];
    return crons.map(({ cron, complexity }) => ({
      rule: { cron },
      timezone,
      complexity: complexity + index * 0.01,
    }));
  });
  return [...found, ...everySoOften(gap, timezones[0] ?? 'UTC')];
}

/** The median, so neither missed nor manual runs move it. */
function usualGap(instants: readonly number[]): number {
  return median(instants.slice(1).map((at, index) => at - (instants[index] ?? at)));
}

interface Cron {
  cron: string;
  complexity: number;
}

/** Every few minutes or hours, by the clock. */
function steps(walls: readonly number[], gap: number): Cron[] {
  const isNear = (length: number) => Math.abs(gap - length) < NEAR * length;
  const minutes = STEPS_OF_MINUTES.filter((step) => isNear(step * MINUTE)).map((step) => {
    const from = Math.floor(startOnCircle(walls, step * MINUTE) / MINUTE);
    const field = step === 1 ? '*' : from === 0 ? `*/${step}` : `${from}-59/${step}`;
    return { cron: `${field} * * * *`, complexity: 0.01 };
  });
  const hours = STEPS_OF_HOURS.filter((step) => isNear(step * HOUR)).map((step) => {
    const start = startOnCircle(walls, step * HOUR);
    const hour = Math.floor(start / HOUR);
    const field = hoursFrom(hour, step);
    return { cron: `${minuteOf(start)} ${field} * * *`, complexity: 0.01 };
  });
  return [...minutes, ...hours];
}

/** Two or three hours of a day are listed; more are written as a step. */
function hoursFrom(hour: number, step: number): string {
  if (step === 1) return '*';
  if (step < 8) return hour === 0 ? `*/${step}` : `${hour}-23/${step}`;
  return Array.from({ length: 24 / step }, (_, index) => hour + index * step).join(',');
}

/** Once or several times a day, on all days or some weekdays. */
function timesOfDay(walls: readonly number[]): Cron[] {
  const start = startOnCircle(walls, DAY);
  const found = groupsOfDay(walls, start).filter(({ share }) => share >= USUAL_SHARE / 2);
  if (found.length === 0 || found.length > MOST_RUNS_A_DAY) return [];
  const minute = Math.min(...found.map(({ from }) => minuteOf(from % DAY)));
  const hours = [...new Set(found.map(({ from }) => Math.floor((from % DAY) / HOUR)))].sort((a, b) => a - b);
  const time = `${minute} ${hours.join(',')}`;
  const several = hours.length > 1 ? 0.04 : 0;
  const weekdays = usualWeekdays(walls.map((wall) => wall - start + EARLY));
  const daily = { cron: `${time} * * *`, complexity: several };
  if (weekdays.length === 0 || weekdays.length === WEEKDAYS) return [daily];
  return [daily, { cron: `${time} * * ${ranges(weekdays)}`, complexity: several + 0.02 }];
}

interface Group {
  /** Milliseconds after midnight of the day on which the first group lies; may reach into the next day. */
  from: number;
  /** The share of the days of the history on which it ran. */
  share: number;
}

/** Times of day that lie together, on a day that begins at `start`. */
function groupsOfDay(walls: readonly number[], start: number): Group[] {
  const offsets = walls.map((wall) => modulo(wall - start + EARLY, DAY) - EARLY).sort((a, b) => a - b);
  const days = new Set(walls.map((wall) => Math.floor((wall - start + EARLY) / DAY))).size;
  const groups: number[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const offset of offsets) {
    if (offset - last > SAME_RUN) groups.push([]);
    groups.at(-1)?.push(offset);
    last = offset;
  }
  return groups.map((group) => ({ from: start + Math.max(0, group[0] ?? 0), share: group.length / days }));
}

/**
 * The weekdays on which the job ran at least half of the time, 0 for Sunday.
 *
 * @param walls shifted so each day begins just before the run
 */
function usualWeekdays(walls: readonly number[]): number[] {
  const days = [...new Set(walls.map((wall) => Math.floor(wall / DAY)))];
  const [first = 0, last = 0] = [days[0], days.at(-1)];
  const weeks = (last - first + 1) / WEEKDAYS;
  return Array.from({ length: WEEKDAYS }, (_, weekday) => weekday).filter((weekday) => {
    const count = days.filter((day) => modulo(day + FIRST_WEEKDAY, WEEKDAYS) === weekday).length;
    return count >= USUAL_SHARE * Math.max(1, Math.floor(weeks));
  });
}

/** Once a month: on a day of the month, the last one, or a weekday of a certain week. */
function daysOfMonth(walls: readonly number[]): Cron[] {
  const start = startOnCircle(walls, DAY);
  const dates = [...new Set(walls.map((wall) => Math.floor((wall - start + EARLY) / DAY)))].map(
    (day) => new Date(day * DAY),
  );
  const months = new Set(dates.map((date) => date.getUTCFullYear() * 12 + date.getUTCMonth()));
  if (months.size < LEAST_MONTHS || dates.length > 1.5 * months.size) return [];
  const time = `${minuteOf(start)} ${Math.floor(start / HOUR)}`;
  const day = mostFrequent(dates.map((date) => date.getUTCDate()));
  const weekday = mostFrequent(dates.map((date) => date.getUTCDay()));
  const week = mostFrequent(dates.map((date) => Math.ceil(date.getUTCDate() / WEEKDAYS)));
  return [
    { cron: `${time} ${day} * *`, complexity: 0 },
    { cron: `${time} L * *`, complexity: 0.01 },
    { cron: `${time} * * ${weekday}#${week}`, complexity: 0.02 },
    { cron: `${time} * * ${weekday}L`, complexity: 0.02 },
  ].filter(({ cron }) => !cron.includes('#5'));
}

/** Each run a fixed time after the one before, whatever the clock shows. */
function everySoOften(gap: number, timezone: string): Candidate[] {
  const unit = gap < HOUR ? 10 * SECOND : gap < DAY ? MINUTE : HOUR;
  const length = Math.round(gap / unit) * unit;
  if (length < MINUTE || length > 366 * DAY) return [];
  return [{ rule: { every: length / SECOND }, timezone, complexity: 0.1 }];
}

/**
 * Most of the places lie together on a circle of `length`. This is where they begin, as a schedule would put it: on a
 * full minute, or on a multiple of five minutes if that is about as near.
 */
function startOnCircle(walls: readonly number[], length: number): number {
  const places = walls.map((wall) => modulo(wall, length)).sort((a, b) => a - b);
  const span = Math.ceil(TOGETHER * places.length) - 1;
  const arcs = places.map((from, index) => {
    const to = places[(index + span) % places.length] ?? from;
    return { index, from, arc: modulo(to - from, length) };
  });
  const shortest = Math.min(...arcs.map(({ arc }) => arc));
  const first = arcs.find(({ arc }) => arc <= shortest + ALIKE * length) ?? { index: 0, from: 0, arc: 0 };
  let { index, from } = first;
  for (let looked = 0; looked < places.length - span - 1; looked += 1) {
    index = (index || places.length) - 1;
    const earlier = places[index] ?? from;
    if (modulo(from - earlier, length) > Math.max(first.arc / 2, ALIKE * length)) break;
    from = earlier;
  }
  const minute = Math.floor((from + CLOCKS_DIFFER) / MINUTE) * MINUTE;
  const round = Math.floor(minute / ROUND) * ROUND;
  return modulo(minute - round <= Math.min(first.arc, ROUND) ? round : minute, length);
}

function minuteOf(wall: number): number {
  return Math.floor((wall % HOUR) / MINUTE);
}

function modulo(value: number, length: number): number {
  return ((value % length) + length) % length;
}

function mostFrequent(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), [0, 0])[0];
}

/** `1-5` for Monday to Friday, `1,3,5` for every other day. @param numbers ascending */
function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found
    .map(([from, to]) => (to - from > 1 ? `${from}-${to}` : to > from ? `${from},${to}` : `${from}`))
    .join(',');
}
