/** Which deadlines a blind window postpones (`decisions: When the service itself was blind`). */
import { MINUTE } from '../text/durations.ts';
import type { DeadlineContext } from './deadline.ts';
import { expectationOf, expectedFrom } from './expectation.ts';
import { afterBlindness, apart, together, type UsualRuntime } from './runs.ts';
import type { SnitchState } from './snitch.ts';

/** A stretch of time in which the daemon could not receive check-ins; both ends in milliseconds. */
export interface BlindWindow {
  start: number;
  end: number;
}

/** The team is told about a window longer than this, in milliseconds. */
export const NOTICE_AFTER = MINUTE;

/** A late job gets at least this much more time. */
const LEAST_MOVE = MINUTE;

/**
 * The state with its deadline postponed, or null if `window` excuses nothing.
 *
 * 1. Only a deadline that can raise an alarm is postponed, however often windows have postponed it already.
 * 2. It awaits the check-in of one period: the one that it lies in or ends. A window that was over when that period
 *    began postpones nothing, since check-ins could be received throughout the period.
 * 3. If the time at which that check-in was expected overlaps the window, the check-in may have been lost. The
 *    deadline is then the end of the first period that begins after the window; a learned deadline is that of the
 *    first period whose check-in is expected after the window, and a schedule's is that of the first run after it.
 * 4. If that time does not overlap but the deadline itself lies in the window, the check-in was already late. The
 *    deadline moves by the length of the window, at least a minute: the time that a late job could not use.
 * 5. An open run that may have ended in the window no longer raises an alarm. Its end would have been the awaited
 *    check-in, so the deadline is then at least that of the first check-in that cannot fall into the window.
 */
export function postpone(
  snitch: SnitchState,
  window: BlindWindow,
  context: BlindnessContext,
): SnitchState | null {
  return snitch.runs === null
    ? postponeOwn(snitch, window, context)
    : postponeWithRuns(snitch, window, context);
}

export interface BlindnessContext extends DeadlineContext {
  /** For a snitch with open runs: how long earlier runs took, if enough of them are known. */
  usualRuntime?: UsualRuntime | null;
}

function postponeWithRuns(
  snitch: SnitchState,
  window: BlindWindow,
  context: BlindnessContext,
): SnitchState | null {
  if (!isAwaited(snitch)) return null;
  const { plain, open } = apart(snitch);
  const usual = context.usualRuntime ?? null;
  const runs = open.map((run) => afterBlindness(run, plain, { ...window, least: LEAST_MOVE }, usual));
  const own = postponeOwn(plain, window, context);
  const isLost = runs.some(({ excused }, index) => excused && !open[index]?.excused);
  const after = isLost ? awaitNext(own ?? plain, window, context) : own;
  if (!after && runs.every((run, index) => run === open[index])) return null;
  return { ...together(after ?? plain, runs), postponed: snitch.postponed + 1 };
}

/** Moves the deadline to that of the first check-in that cannot fall into the window, unless it is later already. */
function awaitNext(plain: SnitchState, { end }: BlindWindow, context: DeadlineContext): SnitchState {
  const { dueAt, movedFrom } = plain;
  if (dueAt === null) return plain;
  const next = expectationOf(plain, movedFrom ?? dueAt, context).deadlineBehind(end);
  return next === null || next > dueAt ? { ...plain, dueAt: next, movedFrom: null } : plain;
}

function postponeOwn(snitch: SnitchState, window: BlindWindow, context: DeadlineContext): SnitchState | null {
  const { dueAt, movedFrom } = snitch;
  if (dueAt === null || !couldPostpone(snitch, window, context)) return null;
  const expected = expectationOf(snitch, movedFrom ?? dueAt, context);
  const count = snitch.postponed + 1;
  if (expected.times().some(({ start, end }) => start <= window.end && end >= window.start)) {
    const later = expected.deadlineBehind(window.end);
    return later === null || later > dueAt
      ? { ...snitch, dueAt: later, postponed: count, movedFrom: null }
      : null;
  }
  if (dueAt < window.start || dueAt > window.end) return null;
  const moved = dueAt + Math.max(LEAST_MOVE, window.end - window.start);
  return { ...snitch, dueAt: moved, postponed: count, movedFrom: movedFrom ?? dueAt };
}

/** Whether the window makes it worth reading the history of the snitch: rules 1 and 2 of `postpone`. */
export function couldPostpone(
  snitch: SnitchState,
  window: BlindWindow,
  context: Omit<DeadlineContext, 'firstCheckIns'>,
): boolean {
  const { dueAt, movedFrom, runs } = snitch;
  if (!isAwaited(snitch) || dueAt === null) return false;
  if (runs !== null) return true;
  return expectedFrom(snitch, movedFrom ?? dueAt, context) < window.end;
}

/** The state after all of `windows`, given in the order in which they ended, and the windows that postponed it. */
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

/** A held alert whose cause is over awaits a deadline too. */
function isAwaited({ status, held }: SnitchState): boolean {
  if (status === 'failed') return held?.wellSince != null;
  return status === 'healthy' || status === 'errored';
}

/**
 * The parts of a window outside the `known` ones, in order, so no time is counted twice; empty if they cover it all.
 */
export function beyond(window: BlindWindow, known: readonly BlindWindow[]): BlindWindow[] {
  return known.reduce((parts, one) => parts.flatMap((part) => without(part, one)), [window]);
}

function without({ start, end }: BlindWindow, one: BlindWindow): BlindWindow[] {
  const before = { start, end: Math.min(end, one.start) };
  const behind = { start: Math.max(start, one.end), end };
  return [before, behind].filter((part) => part.start < part.end);
}
