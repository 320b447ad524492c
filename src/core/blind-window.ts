/** Which deadlines a blind window postpones (`decisions: When the service itself was blind`). */
import { addIntervals, type Calendar, nominalLength } from './interval.ts';
import type { SnitchState } from './snitch.ts';

/** A stretch of time in which the daemon could not receive check-ins; both ends in milliseconds. */
export interface BlindWindow {
  start: number;
  end: number;
}

/** A window longer than this is told to the team, in milliseconds. */
export const NOTICE_AFTER = 60_000;

const SMALLEST_TOLERANCE = 60_000;
const TOLERANCE = 0.05;

/**
 * The state with its deadline postponed, or null where `window` excuses nothing.
 *
 * 1. Only a deadline that can raise an alarm, and was not postponed before, is looked at.
 * 2. Its check-in was expected one interval after the last, give or take the larger of 60 s and 5 % of the interval;
 *    where a pause or a new schedule put the deadline further off, as many intervals after the last as fit before it.
 * 3. Where that stretch meets the window, the deadline moves by one period.
 * 4. Where the check-in after that was expected in the window as well (the window is longer than the interval), the
 *    deadline counts from the end of the window: the job could not be heard before.
 */
export function postpone(
  snitch: SnitchState,
  window: BlindWindow,
  timezone: string,
  calendar: Calendar,
): SnitchState | null {
  const { interval, status, lastCheckInAt, postponed, dueAt } = snitch;
  if (status !== 'healthy' && status !== 'errored') return null;
  if (postponed || dueAt === null || lastCheckInAt === null) return null;
  const tolerance = Math.max(SMALLEST_TOLERANCE, TOLERANCE * nominalLength(interval));
  const count = intervalsUntil(snitch, lastCheckInAt, dueAt, timezone);
  const expected = addIntervals(interval, timezone, lastCheckInAt, count);
  if (expected + tolerance < window.start || expected - tolerance > window.end) return null;
  const later = onePeriodLater(snitch, dueAt, timezone, calendar);
  const expectedNext = addIntervals(interval, timezone, lastCheckInAt, count + 1);
  const heardFrom = window.end + TOLERANCE * nominalLength(interval);
  if (expectedNext >= heardFrom) return { ...snitch, dueAt: later, postponed: true };
  const afterWindow = calendar.periodAfter(interval, timezone, window.end).end;
  return { ...snitch, dueAt: Math.max(later, afterWindow), postponed: true };
}

/** How many intervals after `from`, at least one, the last check-in before `until` is expected. */
function intervalsUntil({ interval }: SnitchState, from: number, until: number, timezone: string): number {
  let count = Math.max(1, Math.floor((until - from) / nominalLength(interval)) - 1);
  while (addIntervals(interval, timezone, from, count + 1) < until) count += 1;
  return count;
}

/** A deadline at the end of a period moves to the end of the next; a learned one keeps its place in the period. */
function onePeriodLater(
  { interval }: SnitchState,
  dueAt: number,
  timezone: string,
  calendar: Calendar,
): number {
  const period = calendar.periodAt(interval, timezone, dueAt);
  return period.start === dueAt ? period.end : addIntervals(interval, timezone, dueAt, 1);
}
