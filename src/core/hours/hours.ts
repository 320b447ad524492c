/** The hours in which somebody wants to be told (`extensions: Which alerts a channel gets`). */
import { DAY, HOUR, MINUTE } from '../../text/durations.ts';
import { ZoneClock } from '../schedule/zone-clock.ts';

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type WeekDay = (typeof DAYS)[number];

/**
 * A daily window on some days. If its end is not later than its beginning, it ends on the next day but belongs to the
 * day on which it opens; if both are the same, it lasts until the same time of the next day.
 */
export interface Hours {
  /** An IANA name. */
  timezone: string;
  /** At least one, in the order of the week. */
  days: readonly WeekDay[];
  /** `HH:MM`, from 00:00 to 23:59. */
  from: string;
  /** `HH:MM`, from 00:00 to 24:00. */
  to: string;
}

/** How many days after an instant are searched: a week, and the days that a zone may skip. */
const LOOKED_AT = 10;

/**
 * The first instant at or after `at` that lies in the hours. A window opens when its zone's clock first shows its
 * beginning, or would have shown it, and closes when the clock shows its end for the last time: so a time that a clock
 * change skips counts as the end of the gap, and if a time is repeated, the window includes both.
 *
 * @param at in milliseconds since the epoch
 */
export function openingFrom({ timezone, days, from, to }: Hours, at: number): number {
  const clock = new ZoneClock(timezone);
  const today = Math.floor(clock.shownUntil(at) / DAY);
  const [opens, closes] = [minutesOf(from) * MINUTE, minutesOf(to) * MINUTE];
  for (let day = today - 2; day <= today + LOOKED_AT; day += 1) {
    if (!days.includes(weekdayOf(day))) continue;
    const start = clock.firstShowing(day * DAY + opens);
    const end = lastShowing(clock, (closes <= opens ? day + 1 : day) * DAY + closes);
    if (end > at && end > start) return Math.max(at, start);
  }
  // Reached only if a zone skips all of these days: too early is better than never.
  return at;
}

/** @param day counted from the epoch's, which was a Thursday */
function weekdayOf(day: number): WeekDay {
  return DAYS[(((day + 3) % 7) + 7) % 7] ?? 'mon';
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** The largest backward clock change that is considered: those of 1892 and 1969 were larger. */
const LARGEST_STEP = 3 * HOUR;

/** When the clock shows `wall` for the last time; if it is skipped, the end of the gap. */
function lastShowing(clock: ZoneClock, wall: number): number {
  const first = clock.firstShowing(wall);
  const again = Temporal.Instant.fromEpochMilliseconds(first).toZonedDateTimeISO(clock.timezone);
  const change = again.getTimeZoneTransition('next');
  if (!change || change.epochMilliseconds - first > LARGEST_STEP) return first;
  const before = change.subtract({ milliseconds: 1 }).offsetNanoseconds;
  const repeated = (before - change.offsetNanoseconds) / 1e6;
  const shown = first + repeated;
  return repeated > 0 && shown >= change.epochMilliseconds ? shown : first;
}

/** `mon-fri 08:00-18:00 Europe/Berlin`: text that `parseHours` reads back. */
export function hoursText({ timezone, days, from, to }: Hours): string {
  return [daysText(days), `${from}-${to}`, timezone].filter((part) => part !== '').join(' ');
}

function daysText(days: readonly WeekDay[]): string {
  if (days.length === DAYS.length) return '';
  const runs: WeekDay[][] = [];
  for (const day of DAYS.filter((one) => days.includes(one))) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && DAYS.indexOf(last) + 1 === DAYS.indexOf(day)) run.push(day);
    else runs.push([day]);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join(','))).join(',');
}
