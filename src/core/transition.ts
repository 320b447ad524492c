/** The whole state machine: `decisions: Transitions`, row by row. */
import type { AlertDecision } from './alert.ts';
import { type DeadlineContext, deadlineAfter, nextReminder } from './deadline.ts';
import { nominalLength } from './interval.ts';
import type { Pause, PauseUntil, RememberedStatus, SnitchState } from './snitch.ts';

export type Trigger =
  /** `at` is when the job checked in, where that was earlier than now: it could not reach the service then. */
  | { kind: 'checkIn'; outcome: 'healthy' | 'error'; at?: number }
  /** The sweep found `dueAt` in the past. */
  | { kind: 'due' }
  | { kind: 'pause'; until: PauseUntil }
  | { kind: 'unpause' }
  /** The interval, the alert type or the case's rules changed: the state carries the new ones. */
  | { kind: 'rescheduled' };

export interface TransitionContext extends DeadlineContext {
  /** The instant of the trigger. */
  now: number;
}

export interface Transition {
  snitch: SnitchState;
  alert: AlertDecision | null;
}

/**
 * What `trigger` makes of the snitch: the new state, and the alert that must be sent, if any. A trigger that changes
 * nothing answers with the same object. Pausing a pending snitch is refused before it comes here.
 */
export function transition(before: SnitchState, trigger: Trigger, context: TransitionContext): Transition {
  const snitch = endPause(before, context);
  switch (trigger.kind) {
    case 'checkIn':
      return checkIn(snitch, trigger, context);
    case 'due':
      return due(snitch, context);
    case 'pause':
      return pause(snitch, trigger.until);
    case 'unpause':
      return silent(snitch.pause ? resume(snitch, snitch.pause, context) : snitch);
    case 'rescheduled':
      return silent(restart(snitch, context.now, context));
  }
}

function checkIn(
  before: SnitchState,
  trigger: Extract<Trigger, { kind: 'checkIn' }>,
  context: TransitionContext,
): Transition {
  const healthy = trigger.outcome === 'healthy' || !context.rules.errorNotices;
  const at = trigger.at ?? momentOf(before, context.now);
  if (trigger.at !== undefined && at < (before.lastCheckInAt ?? at)) return silent(before);
  const snitch = { ...before, lastCheckInAt: at, checkedInAt: healthy ? at : before.checkedInAt };
  if (before.pause) {
    const remembered: RememberedStatus = healthy ? 'healthy' : 'errored';
    if (!healthy || before.pause.until.kind !== 'healthy') {
      return silent({ ...snitch, pause: { ...before.pause, remembered } });
    }
  }
  const dueAt = deadlineAfter(snitch, at, context);
  if (trigger.at !== undefined && dueAt <= context.now) {
    // A late check-in answers for its own period. Where the next one is over as well, a failure stands, and a
    // deadline that was moved because the service was blind is not moved back.
    if (healthy && before.status === 'failed') return silent(snitch);
    snitch.dueAt = Math.max(dueAt, before.dueAt ?? dueAt);
  } else {
    snitch.dueAt = dueAt;
    snitch.postponed = false;
  }
  snitch.pause = null;
  snitch.status = healthy ? 'healthy' : 'errored';
  if (snitch.status === before.status) return silent(snitch);
  const type = healthy ? 'snitch.reporting' : 'snitch.errored';
  return { snitch, alert: { type, status: snitch.status, previousStatus: before.status } };
}

/**
 * The instant that a check-in counts for. A clock that was set back a little must move no deadline back, so the
 * later of the two check-ins counts; but a last check-in further ahead than an interval came from a clock that was
 * wrong, and waiting for that future would be silence.
 */
function momentOf(snitch: SnitchState, now: number): number {
  const last = snitch.lastCheckInAt ?? now;
  return last > now && last - now <= nominalLength(snitch.interval) ? last : now;
}

function due(before: SnitchState, context: TransitionContext): Transition {
  const { dueAt, status } = before;
  if (dueAt === null || dueAt > context.now) return silent(before);
  const snitch: SnitchState = {
    ...before,
    status: 'failed',
    dueAt: nextReminder(before, dueAt, context.now, context),
    postponed: false,
  };
  return { snitch, alert: { type: 'snitch.missing', status: 'failed', previousStatus: status } };
}

function pause(before: SnitchState, until: PauseUntil): Transition {
  const remembered = before.pause?.remembered ?? rememberable(before);
  const snitch: SnitchState = {
    ...before,
    status: 'paused',
    pause: { until, remembered },
    dueAt: until.kind === 'time' ? until.at : null,
    postponed: false,
  };
  if (before.pause) return silent(snitch);
  return { snitch, alert: { type: 'snitch.paused', status: 'paused', previousStatus: before.status } };
}

function rememberable({ status }: SnitchState): RememberedStatus {
  if (status === 'pending' || status === 'paused') {
    throw new TypeError(`a ${status} snitch has no status to remember`);
  }
  return status;
}

/**
 * A pause ends at its time, whether or not the sweep has come by: a check-in just after it must not be muted, since
 * the alert that it raises would never be sent.
 */
function endPause(snitch: SnitchState, context: TransitionContext): SnitchState {
  const { pause } = snitch;
  const over = pause?.until.kind === 'time' && pause.until.at <= context.now;
  return over ? resume(snitch, pause, context) : snitch;
}

/** Ends a pause. Silence while muted raises nothing: the deadline starts again from this moment. */
function resume(before: SnitchState, { remembered }: Pause, context: TransitionContext): SnitchState {
  return restart({ ...before, status: remembered, pause: null, dueAt: null }, context.now, context);
}

/** The deadline or the reminder counted from `from`; a pending or paused snitch has neither. */
function restart(snitch: SnitchState, from: number, context: TransitionContext): SnitchState {
  switch (snitch.status) {
    case 'pending':
    case 'paused':
      return snitch;
    case 'healthy':
    case 'errored':
      return { ...snitch, dueAt: deadlineAfter(snitch, from, context), postponed: false };
    case 'failed':
      return { ...snitch, dueAt: nextReminder(snitch, from, from, context), postponed: false };
  }
}

function silent(snitch: SnitchState): Transition {
  return { snitch, alert: null };
}
