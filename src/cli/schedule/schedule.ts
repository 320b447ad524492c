/** When a job runs, as days and minutes of the day, and which interval fits that. */
import { INTERVALS } from '../../api/intervals.ts';
import { DAY } from '../../text/durations.ts';

export interface Day {
  /** In four digits. */
  year: number;
  /** 1 to 12. */
  month: number;
  /** 1 to 31. */
  day: number;
  /** 0 for Sunday to 6. */
  weekday: number;
  daysInMonth: number;
}

/** The job runs on the days that match, at each of the minutes, which are in order. */
export interface Schedule {
  matches(day: Day): boolean;
  /** Minutes since midnight. */
  minutes: readonly number[];
}

/** Says why no snitch can watch such a schedule. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
}

const MINUTES_OF = { hour: 60, day: 24 * 60, month: 31 * 24 * 60 };

/** Five years from here have two leap days: enough to tell what runs every month from what does not. */
const FIRST_DAY = Date.UTC(2024, 0, 1);
const DAYS = 5 * 366;

/**
 * The longest time between two runs of any of `schedules`, in minutes, on days of 24 hours.
 *
 * @returns null if there are fewer than two runs
 */
export function longestGap(schedules: readonly Schedule[]): number | null {
  const minutesOf = new Map<string, readonly number[]>();
  let longest = 0;
  let last: number | null = null;
  let runs = 0;
  for (let number = 0; number < DAYS; number += 1) {
    const day = dayOf(number);
    const active = schedules.map((schedule) => schedule.matches(day));
    if (!active.includes(true)) continue;
    const key = active.join();
    const minutes = minutesOf.get(key) ?? merged(schedules.filter((_, index) => active[index]));
    if (!minutesOf.has(key)) {
      minutesOf.set(key, minutes);
      longest = Math.max(longest, ...gapsWithin(minutes));
    }
    if (last !== null) longest = Math.max(longest, number * MINUTES_OF.day + (minutes[0] ?? 0) - last);
    last = number * MINUTES_OF.day + (minutes.at(-1) ?? 0);
    runs += minutes.length;
  }
  return runs < 2 ? null : longest;
}

/** Whether every run is still in its own calendar period when it comes up to `delay` minutes late. */
export function staysInPeriod(schedules: readonly Schedule[], interval: string, delay: number): boolean {
  for (let number = 0; delay > 0 && number < DAYS; number += 1) {
    const day = dayOf(number);
    const active = schedules.filter((schedule) => schedule.matches(day));
    if (active.some(({ minutes }) => minutes.some((minute) => leftOf(day, minute, interval) <= delay)))
      return false;
  }
  return true;
}

/** How many minutes of the period are left at `minute` of `day`. Weeks begin on Monday. */
function leftOf({ weekday, day, daysInMonth }: Day, minute: number, interval: string): number {
  const leftOfDay = MINUTES_OF.day - minute;
  if (interval === 'weekly') return ((7 - weekday) % 7) * MINUTES_OF.day + leftOfDay;
  if (interval === 'monthly') return (daysInMonth - day) * MINUTES_OF.day + leftOfDay;
  const length = lengthOf(interval);
  return length - (minute % length);
}

function dayOf(number: number): Day {
  const date = new Date(FIRST_DAY + number * DAY);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return { year, month, day: date.getUTCDate(), weekday: date.getUTCDay(), daysInMonth };
}

function merged(schedules: readonly Schedule[]): number[] {
  return [...new Set(schedules.flatMap(({ minutes }) => minutes))].sort((one, other) => one - other);
}

function gapsWithin(minutes: readonly number[]): number[] {
  return minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? minute));
}

/** The shortest interval that is not shorter than `gap` minutes; null if even a month is too short. */
export function intervalForGap(gap: number): string | null {
  return INTERVALS.find((interval) => lengthOf(interval) >= gap) ?? null;
}

function lengthOf(interval: string): number {
  const [, count, unit] = /^(\d+)_(minute|hour)$/.exec(interval) ?? [];
  if (count !== undefined) return Number(count) * (unit === 'hour' ? MINUTES_OF.hour : 1);
  return (
    { hourly: MINUTES_OF.hour, daily: MINUTES_OF.day, weekly: 7 * MINUTES_OF.day }[interval] ??
    MINUTES_OF.month
  );
}

/** `15m`, `2d 16h` */
export function gapInWords(gap: number): string {
  const parts = [
    [Math.floor(gap / MINUTES_OF.day), 'd'],
    [Math.floor((gap % MINUTES_OF.day) / MINUTES_OF.hour), 'h'],
    [Math.round(gap % MINUTES_OF.hour), 'm'],
  ] as const;
  return parts.flatMap(([count, unit]) => (count > 0 ? [`${count}${unit}`] : [])).join(' ');
}

/** A range of whole numbers with a step, both ends included. */
export function steps(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}
