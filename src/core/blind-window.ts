/** Which deadlines a blind window postpones (`decisions: When the service itself was blind`). */
import { MINUTE } from '../text/durations.ts';
import type { DeadlineContext } from './deadline.ts';
import { addIntervals, addIntervalsOnWallClock, nominalLength, type Period } from './interval.ts';
import { LEAST_KNOWN, learnedTime, smartDeadlineIn } from './smart-deadline.ts';
import type { SnitchState } from './snitch.ts';

/** A stretch of time in which the daemon could not receive check-ins; both ends in milliseconds. */
export interface BlindWindow {
  start: number;
  end: number;
}

/** A window longer than this is told to the team, in milliseconds. */
export const NOTICE_AFTER = MINUTE;

/** Without a history, the time around the expected instant: a share of the interval within these bounds. */
const TOLERANCE_SHARE = 0.05;
const SMALLEST_TOLERANCE = MINUTE;
const LARGEST_TOLERANCE = 15 * MINUTE;

/** With a history, the known places are widened by so much on both sides. */
const WIDER = MINUTE;

/** A late job gets at least so much time more. */
const LEAST_MOVE = MINUTE;

/**
 * The state with its deadline postponed, or null where `window` excuses nothing.
 *
 * 1. Only a deadline that can raise an alarm is looked at, however often windows postponed it before.
 * 2. It awaits the check-in of one period: the one that it lies in, or ends. A window that was over when that period
 *    began postpones nothing, since the period can be heard whole.
 * 3. Where the time at which that check-in was expected overlaps the window, it may have been lost. The deadline is
 *    then the end of the first period that begins after the window; a learned one is that of the first period whose
 *    check-in is expected after the window.
 * 4. Where that time does not overlap, and the deadline itself lies in the window, the check-in was late. The deadline
 *    moves by the length of the window, at least a minute: the time that a late job could not use.
 */
export function postpone(
  snitch: SnitchState,
  window: BlindWindow,
  context: DeadlineContext,
): SnitchState | null {
  const { dueAt, movedFrom } = snitch;
  if (dueAt === null || !couldPostpone(snitch, window, context)) return null;
  const awaited = periodBefore(snitch, movedFrom ?? dueAt, context);
  const expected = expectedTimes(snitch, awaited, movedFrom ?? dueAt, context);
  const count = snitch.postponed + 1;
  if (expected.some(({ start, end }) => start <= window.end && end >= window.start)) {
    const later = deadlineAfterWindow(snitch, awaited, window, context);
    return later > dueAt ? { ...snitch, dueAt: later, postponed: count, movedFrom: null } : null;
  }
  if (dueAt < window.start || dueAt > window.end) return null;
  const moved = dueAt + Math.max(LEAST_MOVE, window.end - window.start);
  return { ...snitch, dueAt: moved, postponed: count, movedFrom: movedFrom ?? dueAt };
}

/** Whether the window is worth a look at the history of the snitch: rules 1 and 2 of `postpone`. */
export function couldPostpone(
  snitch: SnitchState,
  window: BlindWindow,
  context: Omit<DeadlineContext, 'firstCheckIns'>,
): boolean {
  const { status, dueAt, movedFrom } = snitch;
  if ((status !== 'healthy' && status !== 'errored') || dueAt === null) return false;
  return periodBefore(snitch, movedFrom ?? dueAt, context).start < window.end;
}

/** The state after all of `windows`, which are in the order in which they ended, and those that postponed it. */
export function postponeByAll<Window extends BlindWindow>(
  snitch: SnitchState,
  windows: readonly Window[],
  context: DeadlineContext,
): { snitch: SnitchState; by: Window[] } {
  const by: Window[] = [];
  let state = snitch;
  for (const window of windows) {
    const postponed = postpone(state, window, context);
    if (!postponed) continue;
    state = postponed;
    by.push(window);
  }
  return { snitch: state, by };
}

/** The period whose check-in a deadline awaits. */
function periodBefore(
  { interval }: SnitchState,
  deadline: number,
  { calendar, rules }: Pick<DeadlineContext, 'calendar' | 'rules'>,
): Period {
  return calendar.periodAt(interval, rules.timezone, deadline - 1);
}

/**
 * When the check-in of the period `awaited` is expected: by the known places of the last periods; with too few of them
 * as many intervals after the last check-in as fit before the deadline. Where the clock changes in between, a job that
 * follows the local clock and one that counts in UTC are expected an hour apart, and both may be meant.
 */
function expectedTimes(
  snitch: SnitchState,
  awaited: Period,
  deadline: number,
  { rules, firstCheckIns }: DeadlineContext,
): Period[] {
  const { interval, lastCheckInAt } = snitch;
  const { timezone } = rules;
  const learned = learnedTime(awaited, interval, timezone, firstCheckIns);
  if (learned) return [{ start: learned.start - WIDER, end: learned.end + WIDER }];
  if (lastCheckInAt === null) return [awaited];
  const share = TOLERANCE_SHARE * nominalLength(interval);
  const tolerance = Math.min(LARGEST_TOLERANCE, Math.max(SMALLEST_TOLERANCE, share));
  const readings = [
    (count: number) => addIntervals(interval, 'UTC', lastCheckInAt, count),
    (count: number) => addIntervalsOnWallClock(interval, timezone, lastCheckInAt, count),
  ];
  return readings.map((after) => {
    const at = lastBefore(deadline, after, (deadline - lastCheckInAt) / nominalLength(interval));
    return { start: at - tolerance, end: at + tolerance };
  });
}

/** The last of the instants `after(1)`, `after(2)`, … before `deadline`, and at least the first. */
function lastBefore(deadline: number, after: (count: number) => number, about: number): number {
  let count = Math.max(1, Math.floor(about) - 1);
  while (after(count + 1) < deadline) count += 1;
  return after(count);
}

/** The deadline of the first check-in that can be heard after the window. */
function deadlineAfterWindow(
  { interval, alertType }: SnitchState,
  awaited: Period,
  window: BlindWindow,
  { calendar, rules, firstCheckIns, late }: DeadlineContext,
): number {
  const { timezone } = rules;
  let period = calendar.periodAt(interval, timezone, Math.max(awaited.start, window.end));
  if (alertType === 'basic' || firstCheckIns.length < LEAST_KNOWN) {
    return period.start >= window.end
      ? period.end
      : calendar.periodAfter(interval, timezone, period.start).end;
  }
  for (;;) {
    const time = learnedTime(period, interval, timezone, firstCheckIns);
    if (time && time.start - WIDER > window.end) {
      return smartDeadlineIn(period, interval, timezone, firstCheckIns, null, late);
    }
    period = calendar.periodAfter(interval, timezone, period.start);
  }
}
