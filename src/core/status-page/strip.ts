/**
 * The strip of a snitch: one mark for each of its last periods.
 *
 * 1. With an interval, the periods are those of the interval; with a schedule, each goes from one run to the next.
 * 2. Times when the service itself was away, and planned silences, are left out of a period, so nothing that happened
 *    then is held against the job.
 * 3. In what is left, the worst status counts: `missing`, then `error`, `well`, `paused`, and `none` if there was none
 *    yet, or it is not known.
 * 4. If nothing is left, the period is `planned`, or `away` if the service was away in it.
 */

import { MINUTE, SECOND } from '../../text/durations.ts';
import type { BlindWindow } from '../blind-window.ts';
import { type Calendar, type Interval, nominalLength } from '../interval.ts';
import { scheduleOf } from '../job-schedule.ts';
import type { ScheduleRule } from '../schedule/schedule.ts';
import type { Status } from '../snitch.ts';
import { STRIP } from './page.ts';
import type { Span } from './spans.ts';

export const MARKS = ['well', 'missing', 'error', 'paused', 'planned', 'away', 'none'] as const;

export type Mark = (typeof MARKS)[number];

/** When a job is due. */
export interface Rhythm {
  interval: Interval;
  schedule: ScheduleRule | null;
  /** The zone of the schedule; null for the case's. */
  timezone: string | null;
}

/**
 * When the last periods begin, in order, and finally when the current one ends. There are fewer if a schedule has not
 * had that many runs.
 */
export function periodEdges(
  { interval, schedule, timezone }: Rhythm,
  caseZone: string,
  calendar: Calendar,
  now: number,
): number[] {
  if (schedule && 'every' in schedule) return everyEdges(schedule.every * SECOND, now);
  const runs = schedule && scheduleOf({ schedule, timezone }, caseZone);
  if (runs) {
    const edges = [runs.nextAfter(now) ?? now + MINUTE];
    let run = runs.lastUntil(now);
    while (run !== null && edges.length <= STRIP) {
      edges.unshift(run);
      run = runs.lastUntil(run - 1);
    }
    return edges;
  }
  let period = calendar.periodAt(interval, caseZone, now);
  const edges = [period.start, period.end];
  while (edges.length <= STRIP) {
    period = calendar.periodAt(interval, caseZone, period.start - 1);
    edges.unshift(period.start);
  }
  return edges;
}

function everyEdges(length: number, now: number): number[] {
  const end = Math.floor(now / length) * length + length;
  return Array.from({ length: STRIP + 1 }, (_, index) => end - (STRIP - index) * length);
}

/** `days`, `hours`, `periods of 5 minutes`, `scheduled runs`: what a strip shows 60 of. */
export function periodsInWords({ interval, schedule }: Pick<Rhythm, 'interval' | 'schedule'>): string {
  if (schedule && !('every' in schedule)) return 'scheduled runs';
  if (schedule && 'every' in schedule) return 'expected runs';
  const whole = { '1_minute': 'minutes', hourly: 'hours', daily: 'days', weekly: 'weeks', monthly: 'months' };
  if (interval in whole) return whole[interval as keyof typeof whole];
  const minutes = nominalLength(interval) / MINUTE;
  return minutes < 60 ? `periods of ${minutes} minutes` : `periods of ${minutes / 60} hours`;
}

/** Times that do not count against a job. */
export interface Excused {
  /** When the service itself was away. */
  away: readonly BlindWindow[];
  /** Those times and planned silences: in order, without overlaps. */
  quiet: readonly BlindWindow[];
}

/** One mark for each period of `edges`. @param spans in their order */
export function marksOf(
  edges: readonly number[],
  spans: readonly Span[],
  { away, quiet }: Excused,
  now: number,
): Mark[] {
  const marks: Mark[] = [];
  for (let index = 0; index + 1 < edges.length; index += 1) {
    const start = edges[index] ?? 0;
    const end = Math.min(edges[index + 1] ?? 0, now);
    const statuses = statusesIn({ start, end }, spans, quiet);
    if (statuses !== null) marks.push(worstOf(statuses));
    else marks.push(away.some((window) => window.start < end && window.end > start) ? 'away' : 'planned');
  }
  return marks;
}

/** The statuses that it had outside of `quiet`; null if all of it was quiet. */
function statusesIn(
  { start, end }: BlindWindow,
  spans: readonly Span[],
  quiet: readonly BlindWindow[],
): Set<Status | null> | null {
  const found = new Set<Status | null>();
  let isQuiet = false;
  for (let index = spans.length - 1; index >= 0; index -= 1) {
    const span = spans[index];
    if (!span) break;
    const until = Math.min(end, spans[index + 1]?.from ?? Number.POSITIVE_INFINITY);
    const from = Math.max(start, span.from);
    if (until > from || (from === end && until === end)) {
      if (isWithin({ start: from, end: until }, quiet)) isQuiet = true;
      else found.add(span.status);
    }
    if (span.from <= start) break;
  }
  return found.size === 0 && isQuiet ? null : found;
}

/** Looks only at the last window that begins by `start`. */
function isWithin({ start, end }: BlindWindow, windows: readonly BlindWindow[]): boolean {
  let [low, high] = [0, windows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((windows[middle]?.start ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return low > 0 && (windows[low - 1]?.end ?? 0) >= end;
}

function worstOf(statuses: ReadonlySet<Status | null>): Mark {
  if (statuses.has('failed')) return 'missing';
  if (statuses.has('errored')) return 'error';
  if (statuses.has('healthy')) return 'well';
  return statuses.has('paused') ? 'paused' : 'none';
}
