/** How the state machine treats open runs (`extensions: What a run must look like`). */
import { nextReminder } from './deadline.ts';
import type { OpenRun } from './open-run.ts';
import { apart, overranBy, overrunsAt, stillInTime, together, withoutEnded, withStart } from './runs.ts';
import type { SnitchState } from './snitch.ts';
import type { StateTrigger, Transition, TransitionContext, Trigger } from './trigger.ts';

/**
 * The transition of a snitch with open runs. Open runs only change when the sweep must look, and what it finds then.
 *
 * @param withoutRuns decides what the trigger does to a snitch without open runs
 */
export function withRuns(
  before: SnitchState,
  trigger: StateTrigger,
  context: TransitionContext,
  withoutRuns: (before: SnitchState, trigger: StateTrigger, context: TransitionContext) => Transition,
): Transition {
  const { plain, open } = apart(before);
  const { now } = context;
  if (trigger.kind === 'due') {
    if (before.dueAt === null || before.dueAt > now) return { snitch: before, alert: null };
    const run = isAwaited(before) ? overranBy(plain, open, now) : null;
    if (run) {
      const after = overrun(plain, run, context);
      return { ...after, snitch: together(after.snitch, open) };
    }
  }
  // A run that started in time held the deadline back until now.
  const held = trigger.kind === 'due' && isAwaited(before) ? { ...plain, dueAt: before.dueAt } : plain;
  const after = withoutRuns(held, heard(before, trigger, now), context);
  const left = runsLeft(before, after.snitch, trigger, context);
  return { ...after, snitch: together(withEnd(after.snitch, trigger, left, now), left) };
}

/** If the run that overran ends with an error that does not count yet, the snitch stays failed, and its reason says so. */
function withEnd(
  after: SnitchState,
  trigger: StateTrigger,
  left: readonly OpenRun[],
  now: number,
): SnitchState {
  const { status, reason } = after;
  if (trigger.kind !== 'checkIn' || status !== 'failed' || reason?.kind !== 'overran') return after;
  const goesOn = left.some(({ startedAt }) => startedAt === reason.startedAt);
  return goesOn || reason.endedAt ? after : { ...after, reason: { ...reason, endedAt: trigger.at ?? now } };
}

/**
 * A late end that is older than the last check-in changes nothing, unless the alarm is about its own run: then it
 * counts as if it had come with that check-in, which has already moved the deadline.
 */
function heard(before: SnitchState, trigger: StateTrigger, now: number): StateTrigger {
  const { reason, lastCheckInAt } = before;
  if (trigger.kind !== 'checkIn' || trigger.at === undefined || reason?.kind !== 'overran') return trigger;
  const { open } = apart(before);
  const left = withoutEnded(open, endOf(trigger, now));
  const isItsRun = open.some((run) => run.startedAt === reason.startedAt && !left.includes(run));
  return isItsRun ? { ...trigger, at: Math.max(trigger.at, lastCheckInAt ?? trigger.at) } : trigger;
}

/** Which of the open runs are watched from now on. */
function runsLeft(
  before: SnitchState,
  after: SnitchState,
  trigger: StateTrigger,
  { now }: TransitionContext,
): readonly OpenRun[] {
  const { open } = apart(before);
  const left = trigger.kind === 'checkIn' ? withoutEnded(open, endOf(trigger, now)) : open;
  // Runs that overran have been reported, or stayed silent because the snitch was paused.
  return isAwaited(before) || before.status === after.status ? left : stillInTime(after, left, now);
}

function endOf({ runId = null, at }: Extract<Trigger, { kind: 'checkIn' }>, now: number) {
  return { id: runId, at: at ?? now, isLate: at !== undefined };
}

function isAwaited({ status }: SnitchState): boolean {
  return status === 'healthy' || status === 'errored';
}

/** The state after the start of a run, if the length of runs is watched. */
export function withStartOf(
  before: SnitchState,
  { runId, at }: Extract<Trigger, { kind: 'start' }>,
  now: number,
): SnitchState {
  if (before.maxRuntime === null) return before;
  const { plain, open } = apart(before);
  return together(plain, withStart(before, open, { id: runId, at: at ?? now, now }));
}

/** A run took too long: the snitch fails, whatever its own deadline is. */
function overrun(before: SnitchState, run: OpenRun, context: TransitionContext): Transition {
  const snitch: SnitchState = {
    ...before,
    status: 'failed',
    reason: { kind: 'overran', startedAt: run.startedAt },
    dueAt: nextReminder(before, overrunsAt(run, before), context.now, context),
    postponed: 0,
    movedFrom: null,
  };
  return { snitch, alert: { type: 'snitch.missing', status: 'failed', previousStatus: before.status } };
}
