/**
 * Alerts that are held because something the snitch needs is down (`extensions: Acknowledge, silence, depend`): one
 * alert for a dead host instead of one for each of its jobs.
 *
 * 1. If a deadline passes, or a run takes too long, while something needed is down, the snitch fails as usual, but its
 *    alert is **held**: nobody is told yet. To people the failure has not happened: a check-in ends it silently, and
 *    any other alert gives the status before the failure as the previous one. There are no reminders.
 * 2. When everything it needs is well again, its deadline restarts. If that passes without a check-in, the alert is
 *    raised, with the deadline that was missed and how long it was held. If something needed fails meanwhile, it stays
 *    held.
 * 3. The deadline of a snitch that has not failed restarts likewise, because the awaited run may have fallen into the
 *    time when something it needs was down. This never makes a deadline earlier.
 * 4. A host dies between two of its check-ins, so the deadline of a job may pass a moment before the host's own. If
 *    nothing was heard from the host since the job was expected, and the host's own deadline falls within
 *    `LONGEST_DOUBT`, the alert waits until then, and is raised if the host has checked in.
 * 5. If people were already told about a failure, they get no reminders while something needed is down.
 *
 * The order of writes does not matter: a held snitch is swept again no later than its deadline can be, and then
 * decided by what is known about the snitches it needs. So a crash between two steps never loses an alert.
 */
import { MINUTE } from '../text/durations.ts';
import { basicDeadline, deadlineAnew, nextReminder } from './deadline.ts';
import { expectationOf } from './expectation.ts';
import { type Held, isAwaiting, isDown, type Needed, type NeedsFacts } from './needs/needs.ts';
import type { Reason } from './reason.ts';
import { apart, together } from './runs.ts';
import { isAwaited, type SnitchState } from './snitch.ts';
import { silent, type Transition, type TransitionContext } from './trigger.ts';

/** The longest an alert waits to learn whether something the snitch needs is down. */
export const LONGEST_DOUBT = 5 * MINUTE;

/** What becomes of a held alert when the sweep looks at it or when something the snitch needs has changed. */
export function heldAnew(before: SnitchState, held: Held, context: TransitionContext): Transition {
  const { needs = [], now } = context;
  const down = needs.find(isDown);
  if (down) return silent(heldBy(before, held, down, context));
  if (held.isUnsure) {
    const end = held.since + LONGEST_DOUBT;
    const unheard = needs.find((needed) => isUnheard(needed, held.since, { now, end }));
    return unheard ? silent(withDue(before, unheard.dueAt ?? end)) : told(before, held, context);
  }
  const last = lastWell(needs, now) ?? held.since;
  const wellSince = Math.min(now, Math.max(held.wellSince ?? held.since, last));
  const until = onePeriodFrom(before, wellSince, context);
  if (until <= now) return told(before, { ...held, wellSince }, context);
  return silent(withDue({ ...before, held: { ...held, wellSince } }, until));
}

/** Nothing the snitch needs is down any more, or what was down is no longer needed: its deadline restarts. */
export function relieved(before: SnitchState, context: TransitionContext): Transition {
  return (context.needs ?? []).some(isDown) ? silent(before) : restartedFrom(before, context.now, context);
}

/** A silence ended. If it covered something the snitch needs, the snitch's deadline restarts. */
export function silenceEnded(before: SnitchState, context: TransitionContext): Transition {
  const { needs = [], now } = context;
  const last = lastWell(needs, now);
  const known = before.held ? (before.held.wellSince ?? before.held.since) : (before.lastCheckInAt ?? now);
  if (last === null || last <= known || needs.some(isDown)) return silent(before);
  return restartedFrom(before, last, context);
}

function restartedFrom(before: SnitchState, wellSince: number, context: TransitionContext): Transition {
  const { held, status, dueAt, lastCheckInAt } = before;
  if (held?.isUnsure) return silent(before);
  if (held) {
    const after = { ...before, held: { ...held, wellSince } };
    // An acknowledged failure is not reported again, and a pause has its own end.
    const isQuiet = status === 'paused' || before.acknowledged !== null;
    return silent(isQuiet ? after : withDue(after, onePeriodFrom(before, wellSince, context)));
  }
  const { plain } = apart(before);
  if (!isAwaited(before) || dueAt === null || plain.dueAt === null) return silent(before);
  if ((lastCheckInAt ?? wellSince) > wellSince) return silent(before);
  const anew = deadlineAnew(plain, wellSince, context);
  return silent(anew !== null && anew > plain.dueAt ? withDue(before, anew) : before);
}

/** A person changed what the snitch needs: an alert that nothing holds back any more is raised at once. */
export function needsChanged(
  before: SnitchState,
  isHolderNeeded: boolean,
  context: TransitionContext,
): Transition {
  const { held, status, acknowledged } = before;
  if (!held || status !== 'failed' || acknowledged !== null) return silent(before);
  const down = (context.needs ?? []).find(isDown);
  if (down) return silent(heldBy(before, held, down, context));
  const stays = isHolderNeeded && (held.isUnsure || held.wellSince !== null);
  return stays ? silent(before) : told(before, held, context);
}

/** `decided`, adjusted if it is the alert of a missed deadline of `before`, or a reminder. */
export function afterMissed(
  before: SnitchState,
  decided: Transition,
  context: TransitionContext,
): Transition {
  const { needs = [], now } = context;
  const { alert, snitch } = decided;
  if (needs.length === 0 || alert?.type !== 'snitch.missing') return decided;
  const down = needs.find(isDown);
  if (!isAwaited(before)) return down ? { ...decided, alert: null } : decided;
  const held = {
    since: now,
    missed: before.dueAt ?? now,
    previous: before.status === 'errored' ? 'errored' : 'healthy',
    wellSince: null,
  } as const;
  if (down) return silent(heldBy(snitch, { ...held, by: down.id, name: down.name }, down, context));
  if (snitch.reason?.kind !== 'noCheckIn') return decided;
  const wellSince = lastWell(needs, now);
  const anew = wellSince === null ? null : anewSince(before, wellSince, context);
  if (anew !== null) return silent(withDue(before, anew));
  const unheard = unheardOf(before, context);
  if (!unheard) return decided;
  const unsure = { ...held, by: unheard.id, name: unheard.name, isUnsure: true } as const;
  return silent(withDue({ ...snitch, held: unsure }, unheard.dueAt));
}

/** The decided transition, adjusted if the alert of `before` was held: people do not know that it failed. */
export function afterHeld({ held }: SnitchState, { snitch, alert, ...others }: Transition): Transition {
  if (!held) return { snitch, alert, ...others };
  const goesOn = (snitch.pause?.remembered ?? snitch.status) === 'failed';
  const after = goesOn ? snitch : { ...snitch, held: null };
  if (alert?.previousStatus !== 'failed') return { snitch: after, alert, ...others };
  const isKnown = alert.status === held.previous;
  return { snitch: after, alert: isKnown ? null : { ...alert, previousStatus: held.previous }, ...others };
}

/** The state with the deadline of its held alert restarted: a pause ended, or the interval was changed. */
export function holdRestarted(before: SnitchState, held: Held, from: number, context: TransitionContext) {
  const wellSince = held.wellSince === null ? null : from;
  return withDue({ ...before, held: { ...held, wellSince } }, onePeriodFrom(before, from, context));
}

/**
 * The alert stays held, and is swept again when a deadline that restarted now could pass, or when the silence that
 * holds it ends.
 */
function heldBy(snitch: SnitchState, held: Held, down: Needed, context: TransitionContext): SnitchState {
  const { isUnsure: _, isSilenced: __, ...others } = held;
  const by = down.status === 'failed' ? {} : ({ isSilenced: true } as const);
  const after = { ...snitch, held: { ...others, by: down.id, name: down.name, wellSince: null, ...by } };
  const until = down.silencedUntil ?? Number.POSITIVE_INFINITY;
  return withDue(after, Math.min(until, onePeriodFrom(snitch, context.now, context)));
}

/** The missed deadline is reported at last. */
function told(before: SnitchState, held: Held, context: TransitionContext): Transition {
  const { now } = context;
  const snitch = {
    ...withDue(before, nextReminder(before, now, now, context)),
    held: null,
    reason: held.isUnsure ? before.reason : afterHolding(before.reason, held, now),
  };
  return { snitch, alert: { type: 'snitch.missing', status: 'failed', previousStatus: held.previous } };
}

function afterHolding(
  reason: Reason | null,
  { name, since, wellSince, isSilenced }: Held,
  now: number,
): Reason | null {
  const held = { by: name, since, until: wellSince ?? now, ...(isSilenced ? { isSilenced } : {}) };
  return reason?.kind === 'noCheckIn' || reason?.kind === 'overran' ? { ...reason, held } : reason;
}

/**
 * When the last thing needed ceased to be down. Instants in the future, written by a clock that ran ahead, do not
 * count.
 */
function lastWell(needs: NeedsFacts, now: number): number | null {
  const known = needs.flatMap(({ wellSince: at }) => (at !== null && at <= now ? [at] : []));
  return known.length === 0 ? null : known.reduce((one, other) => Math.max(one, other));
}

/** The deadline of an awaited snitch, restarted at `wellSince`; null if it has passed, or nothing restarted it. */
function anewSince(before: SnitchState, wellSince: number, context: TransitionContext): number | null {
  if (wellSince <= (before.lastCheckInAt ?? wellSince)) return null;
  const anew = deadlineAnew(apart(before).plain, wellSince, context);
  return anew !== null && anew > context.now ? anew : null;
}

/** The first thing needed that was not heard from since the snitch was expected, and whose own deadline is near. */
function unheardOf(before: SnitchState, context: TransitionContext): Needed | undefined {
  const { needs = [], now } = context;
  const { plain } = apart(before);
  if (plain.dueAt === null) return undefined;
  const expectedAt = expectationOf(plain, plain.movedFrom ?? plain.dueAt, context).instant();
  return needs.find((needed) => isUnheard(needed, expectedAt, { now, end: now + LONGEST_DOUBT }));
}

function isUnheard(needed: Needed, since: number, { now, end }: { now: number; end: number }): boolean {
  const { dueAt, lastCheckInAt } = needed;
  if (!isAwaiting(needed) || dueAt === null || lastCheckInAt === null) return false;
  return lastCheckInAt < since && dueAt > now && dueAt <= end;
}

/** The deadline counted from `from`. If a schedule has no further run, the interval shown beside it is used. */
function onePeriodFrom(snitch: SnitchState, from: number, context: TransitionContext): number {
  const { plain } = apart(snitch);
  return deadlineAnew(plain, from, context) ?? basicDeadline(plain, from, context);
}

function withDue(snitch: SnitchState, dueAt: number | null): SnitchState {
  const { plain, open } = apart(snitch);
  return together({ ...plain, dueAt, postponed: 0, movedFrom: null }, open);
}

/** Whether the sweep has to look at a held alert. */
export function isHeldDue({ status, dueAt }: SnitchState, now: number): boolean {
  return status === 'failed' && dueAt !== null && dueAt <= now;
}
