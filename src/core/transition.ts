/** The whole state machine: `decisions: Transitions`, row by row. `watched-runs.ts` adds what open runs change. */
import { type BlindWindow, postponeByAll } from './blind-window.ts';
import { deadlineAnew, nextReminder } from './deadline.ts';
import { awaitedAfter, errorsAfter, statusAfterError } from './forgiven.ts';
import {
  afterHeld,
  afterMissed,
  heldAnew,
  holdRestarted,
  isHeldDue,
  needsChanged,
  relieved,
  silenceEnded,
} from './hold.ts';
import { usualLength } from './job-schedule.ts';
import type { Reason } from './reason.ts';
import { apart, together } from './runs.ts';
import {
  type Acknowledgement,
  isAlarming,
  type Pause,
  type PauseUntil,
  type RememberedStatus,
  type SnitchState,
} from './snitch.ts';
import {
  type StateTrigger,
  silent,
  type Transition,
  type TransitionContext,
  type Trigger,
} from './trigger.ts';
import { withRuns, withStartOf } from './watched-runs.ts';

export type { Transition, TransitionContext, Trigger } from './trigger.ts';

/**
 * What `trigger` does to the snitch: the new state, and the alert that must be sent, if any. If nothing changes, the
 * same object is returned. Pausing a pending snitch is refused before it gets here, and an acknowledgement without an
 * alarm changes nothing.
 */
export function transition(before: SnitchState, trigger: Trigger, context: TransitionContext): Transition {
  const after = decide(before, trigger, context);
  const { snitch } = after;
  // The acknowledgement was for the alarm, so it ends with it.
  const isOver = before.acknowledged !== null && snitch.status !== before.status;
  return isOver ? { ...after, snitch: { ...snitch, acknowledged: null } } : after;
}

function decide(before: SnitchState, trigger: Trigger, context: TransitionContext): Transition {
  switch (trigger.kind) {
    case 'start':
      return silent(withStartOf(before, trigger, context.now));
    case 'runtimeChanged':
      return silent(together(apart(before).plain, trigger.open));
    case 'relieved':
      return relieved(before, context);
    case 'silenceEnded':
      return silenceEnded(before, context);
    case 'needsChanged':
      return needsChanged(before, trigger.isHolderNeeded, context);
    case 'due':
      return before.held && isHeldDue(before, context.now)
        ? heldAnew(before, before.held, context)
        : afterMissed(before, decided(before, trigger, context), context);
    default:
      return before.held
        ? afterHeld(before, decided(before, trigger, context))
        : decided(before, trigger, context);
  }
}

/** As if nothing held alerts back. */
function decided(before: SnitchState, trigger: StateTrigger, context: TransitionContext): Transition {
  return before.runs === null
    ? withoutRuns(before, trigger, context)
    : withRuns(before, trigger, context, withoutRuns);
}

function withoutRuns(before: SnitchState, trigger: StateTrigger, context: TransitionContext): Transition {
  const snitch = endPause(before, context);
  switch (trigger.kind) {
    case 'checkIn':
      return checkIn(snitch, trigger, context);
    case 'due':
      return due(snitch, trigger, context);
    case 'pause':
      return pause(snitch, trigger.until, context.now);
    case 'unpause':
      return silent(snitch.pause ? resume(snitch, snitch.pause, context) : snitch);
    case 'acknowledge':
      return silent(acknowledge(snitch, trigger, context.now));
    case 'unacknowledge':
      return silent(
        snitch.acknowledged ? restartReminder({ ...snitch, acknowledged: null }, context) : snitch,
      );
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
  const at = trigger.at ?? momentOf(before, context);
  const { why = { kind: 'error' } } = trigger;
  if (trigger.at !== undefined && at < (before.lastCheckInAt ?? at)) return silent(before);
  const snitch = {
    ...before,
    lastCheckInAt: at,
    checkedInAt: healthy ? at : before.checkedInAt,
    errorsInRow: healthy ? 0 : errorsAfter(before, trigger.at),
  };
  const status = healthy ? 'healthy' : statusAfterError(snitch);
  const reason = status === 'errored' ? why : healthy ? null : before.reason;
  if (before.pause) {
    const remembered = status === 'pending' ? before.pause.remembered : status;
    const covered = { ...snitch, reason };
    const older = trigger.at !== undefined && before.pause.since !== null && at < before.pause.since;
    if (!healthy || older || before.pause.until.kind !== 'healthy') {
      return silent({ ...covered, pause: { ...before.pause, remembered } });
    }
  }
  // A pending snitch never alerts, so it has no deadline.
  if (status === 'pending') return silent(snitch);
  const fresh = {
    ...snitch,
    ...deadline(awaitedAfter(before, status, at, context)),
    status,
    reason,
    pause: null,
  } as const;
  const after = trigger.at === undefined ? { snitch: fresh, by: [] } : deliveredLate(fresh, before, context);
  // The check-in answered for its own run, but by now the next run is missing.
  if (!after) return silent({ ...snitch, reason: silence(fresh.dueAt ?? at, undefined) });
  if (status === before.status) return { snitch: after.snitch, alert: null, postponedBy: after.by };
  const type = healthy ? 'snitch.reporting' : 'snitch.errored';
  return {
    snitch: after.snitch,
    alert: { type, status, previousStatus: before.status },
    postponedBy: after.by,
  };
}

/**
 * The deadline after a late check-in: it answers for its own period, and windows since then postpone the deadline
 * as if it had come in time. If a later deadline is already awaited, it is never moved back. Null if the next
 * period is over as well: then a failure stands.
 */
function deliveredLate(
  fresh: SnitchState,
  before: SnitchState,
  context: TransitionContext,
): { snitch: SnitchState; by: readonly BlindWindow[] } | null {
  const after = postponeByAll(fresh, context.windows ?? [], context);
  // A schedule without further runs awaits nothing.
  const next = after.snitch.dueAt ?? Number.POSITIVE_INFINITY;
  const over = next <= context.now;
  if (over && fresh.status !== 'errored' && before.status === 'failed') return null;
  const awaited = before.status === 'healthy' || before.status === 'errored';
  if (!awaited && !over) return after;
  const { dueAt, postponed, movedFrom } = before;
  const isLater = dueAt !== null && dueAt > next;
  return isLater ? { snitch: { ...fresh, dueAt, postponed, movedFrom }, by: [] } : after;
}

/** A deadline or reminder that no blind window postponed yet. */
function deadline(dueAt: number | null): Pick<SnitchState, 'dueAt' | 'postponed' | 'movedFrom'> {
  return { dueAt, postponed: 0, movedFrom: null };
}

/**
 * The instant that a check-in counts for. A clock that was set back a little must not move a deadline back, so the
 * later of the two check-ins counts. But if the last one lies further ahead than an interval, or than the gap between
 * two scheduled runs, the clock was wrong then, and waiting for that future would mean silence. The sweep moves one that
 * is less far ahead to the present (`setAnew`), usually within a second; this covers check-ins that come before that.
 */
function momentOf(snitch: SnitchState, { now, rules }: TransitionContext): number {
  const last = snitch.lastCheckInAt ?? now;
  return last > now && last - now <= usualLength(snitch, rules.timezone) ? last : now;
}

function due(
  before: SnitchState,
  { startedAt }: Extract<Trigger, { kind: 'due' }>,
  context: TransitionContext,
): Transition {
  const { dueAt, status } = before;
  if (dueAt === null || dueAt > context.now) return silent(before);
  const snitch: SnitchState = {
    ...before,
    status: 'failed',
    reason: status === 'failed' ? before.reason : silence(dueAt, startedAt),
    ...deadline(nextReminder(before, dueAt, context.now, context)),
  };
  return { snitch, alert: { type: 'snitch.missing', status: 'failed', previousStatus: status } };
}

function silence(by: number, startedAt: number | undefined): Reason {
  return { kind: 'noCheckIn', by, ...(startedAt === undefined ? {} : { startedAt }) };
}

function pause(before: SnitchState, until: PauseUntil, now: number): Transition {
  const { remembered, since } = before.pause ?? { remembered: rememberable(before), since: now };
  const snitch: SnitchState = {
    ...before,
    status: 'paused',
    pause: { until, remembered, since },
    ...deadline(until.kind === 'time' ? until.at : null),
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
      return { ...snitch, ...deadline(deadlineAnew(snitch, from, context)) };
    case 'failed':
      // There are no reminders of an acknowledged alarm.
      if (snitch.acknowledged) return { ...snitch, ...deadline(null) };
      if (snitch.held) return holdRestarted(snitch, snitch.held, from, context);
      return { ...snitch, ...deadline(nextReminder(snitch, from, from, context)) };
  }
}

/** An errored snitch still awaits its next check-in; a failed one awaits none, and its reminders stop. */
function acknowledge(
  snitch: SnitchState,
  { note, by }: Extract<Trigger, { kind: 'acknowledge' }>,
  now: number,
): SnitchState {
  if (!isAlarming(snitch)) return snitch;
  const acknowledged = acknowledgedAgain(snitch.acknowledged, { note, by }, now);
  if (acknowledged === snitch.acknowledged) return snitch;
  return { ...snitch, acknowledged, ...(snitch.status === 'failed' ? deadline(null) : {}) };
}

/**
 * A second acknowledgement of the same alarm adds its note, or replaces the first one's. Who was first, and when,
 * stays: that is the person to ask.
 */
function acknowledgedAgain(
  first: Acknowledgement | null,
  { note, by }: { note: string | null; by: string },
  now: number,
): Acknowledgement {
  if (first === null) return { at: now, note, by };
  return note === null || note === first.note ? first : { ...first, note };
}

/** The time to the next reminder restarts now; the deadline of an errored snitch stays as it is. */
function restartReminder(snitch: SnitchState, context: TransitionContext): SnitchState {
  return snitch.status === 'failed' ? restart(snitch, context.now, context) : snitch;
}
