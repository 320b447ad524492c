/** What was set while the clock ran ahead (`decisions: When the service itself was blind`). */
import { DAY, HOUR, MINUTE } from '../text/durations.ts';
import { type DeadlineContext, deadlineAfter, nextReminder } from './deadline.ts';
import { addIntervals, type Interval, nominalLength } from './interval.ts';
import { graceOf, lengthenedBy, scheduleOf } from './job-schedule.ts';
import type { OpenRun } from './open-run.ts';
import { apart, together } from './runs.ts';
import type { Schedule } from './schedule/schedule.ts';
import type { DueFields, SnitchState } from './snitch.ts';

/**
 * Clocks that are kept right are corrected by no more than this, in milliseconds. A check-in further ahead was stamped
 * by a clock that was wrong, and the next one would count from it instead of from itself.
 */
export const LITTLE_AHEAD = MINUTE;

/** How much shorter two intervals can be than twice their usual length, because of clock changes and short months. */
const SHORTER = { monthly: 5 * DAY, others: 2 * HOUR };

/** A deadline up to this instant is no sign that the clock was ahead, whatever the calendar says. */
export function nearEnough(interval: Interval, now: number): number {
  const nominal = nominalLength(interval);
  const shorter = SHORTER[interval === 'monthly' ? 'monthly' : 'others'];
  return now + Math.max(nominal, 2 * nominal - shorter);
}

/** The same for a job with a schedule: the deadline of the next run, counted from now, is still plausible. */
export function nearEnoughByRun(job: DueFields, timezone: string, now: number): number {
  const schedule = scheduleOf(job, timezone);
  return schedule === null ? now : (schedule.nextAfter(now) ?? now) + graceOf(job, schedule, now);
}

/**
 * The state as it would be if the clock had never been ahead, or null if nothing shows that it was.
 *
 * 1. A deadline or reminder later than two periods from now, or than two runs of a schedule, is counted again from now.
 *    If the case's reminders are farther apart than that, their distance is the limit instead. The end that a person
 *    set for a pause stays.
 * 2. A check-in more than a minute ahead is moved to now, and so is the start of a pause. Its deadline stays unless
 *    rule 1 moves it: the next check-in brings a deadline that counts from itself.
 * 3. A run that started in the future is taken to have started now.
 */
export function setAnew(snitch: SnitchState, now: number, context: DeadlineContext): SnitchState | null {
  if (snitch.runs === null) return setOwnAnew(snitch, now, context);
  const { plain, open } = apart(snitch);
  const runs = open.map((run) => startedByNow(run, now));
  const own = setOwnAnew(plain, now, context);
  if (own === null && runs.every((run, index) => run === open[index])) return null;
  return together(own ?? plain, runs);
}

function startedByNow(run: OpenRun, now: number): OpenRun {
  if (run.startedAt <= now && run.from <= now) return run;
  return { ...run, startedAt: Math.min(run.startedAt, now), from: Math.min(run.from, now) };
}

function setOwnAnew(snitch: SnitchState, now: number, context: DeadlineContext): SnitchState | null {
  const state = checkedInByNow(snitch, now);
  const farthest = farthestDue(state, now, context);
  if (state.dueAt === null || farthest === null || state.dueAt <= farthest) {
    return state === snitch ? null : state;
  }
  const dueAt =
    state.status === 'failed' && state.held === null
      ? nextReminder(state, now, now, context)
      : (deadlineAfter(state, now, context) ?? (state.held ? now : null));
  return { ...state, dueAt, postponed: 0, movedFrom: null };
}

function checkedInByNow(snitch: SnitchState, now: number): SnitchState {
  const { lastCheckInAt, checkedInAt, pause } = snitch;
  const ahead = (lastCheckInAt ?? now) - now > LITTLE_AHEAD;
  const startsAhead = (pause?.since ?? now) > now;
  if (!ahead && !startsAhead) return snitch;
  return {
    ...snitch,
    ...(ahead
      ? { lastCheckInAt: now, checkedInAt: checkedInAt === null ? null : Math.min(checkedInAt, now) }
      : {}),
    pause: pause && startsAhead ? { ...pause, since: now } : pause,
  };
}

/**
 * The latest instant at which a snitch can be due while the clock is right; null if nothing is due, or a person
 * set the time.
 */
function farthestDue(snitch: SnitchState, now: number, context: DeadlineContext): number | null {
  const { status, interval, dueAt } = snitch;
  if (dueAt === null || status === 'paused' || status === 'pending') return null;
  const schedule = scheduleOf(snitch, context.rules.timezone);
  if (schedule !== null) return farthestScheduled(snitch, schedule, now, context);
  const nominal = nominalLength(interval);
  // Most deadlines are near; only the others need the calendar.
  if (dueAt <= nearEnough(interval, now)) return dueAt;
  const twoPeriods = addIntervals(interval, context.rules.timezone, now, 2) + lengthenedBy(snitch);
  if (status !== 'failed') return twoPeriods;
  return Math.max(twoPeriods, now + (context.rules.reminders === 'daily' ? DAY : HOUR + nominal));
}

/** An early check-in answers for the next run, so at most the run after that is awaited, never a third. */
function farthestScheduled(
  snitch: SnitchState,
  schedule: Schedule,
  now: number,
  context: DeadlineContext,
): number {
  const next = schedule.nextAfter(now);
  const grace = graceOf(snitch, schedule, now);
  // The grace of the last run may still be running.
  if (next === null) return now + grace;
  const second = schedule.nextAfter(next) ?? next;
  const deadline = second + grace;
  if (snitch.status !== 'failed') return deadline;
  return Math.max(deadline, (nextReminder(snitch, now, now, context) ?? now) + (second - next));
}
