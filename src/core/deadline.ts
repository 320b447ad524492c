/**
 * When the next check-in is due, and when the next reminder of a failed snitch is (`decisions: Periods and
 * deadlines`, `extensions: When a job is due`): by the schedule of the snitch, or else by its interval.
 */
import { DAY, HOUR, MINUTE } from '../text/durations.ts';
import { addIntervals, type Calendar } from './interval.ts';
import { graceOf, type Job, lengthenedBy, scheduleOf } from './job-schedule.ts';
import type { LateRuns } from './late-runs.ts';
import type { Schedule } from './schedule/schedule.ts';
import { deadlineAfterCheckIn as scheduledAfterCheckIn } from './schedule/timing.ts';
import { smartDeadline } from './smart-deadline.ts';
import type { CaseRules, SnitchState } from './snitch.ts';

/**
 * A sweep acts a moment after the due instant. Up to this delay, the hour to the next reminder counts from that
 * instant.
 */
const REMINDER_SLACK = MINUTE;

export interface DeadlineContext {
  calendar: Calendar;
  rules: CaseRules;
  /** Ascending: the first check-in of each of the last periods, at most 50. Only `smart` snitches need it. */
  firstCheckIns: readonly number[];
  /** What `smart` snitches remember from earlier periods. */
  late?: LateRuns;
}

/**
 * The deadline if counting restarts at `from`: later than `from`, or null if a schedule has no further run. With a
 * schedule it is that of the first run after `from`, whatever checked in before.
 */
export function deadlineAfter(job: Job, from: number, context: DeadlineContext): number | null {
  const schedule = scheduleOf(job, context.rules.timezone);
  if (schedule === null) return intervalDeadline(job, from, context);
  const run = schedule.nextAfter(from);
  return run === null ? null : run + graceOf(job, schedule, from);
}

/** The deadline after a check-in at `at`, which may answer for a run due a little later. */
export function deadlineAfterCheckIn(
  before: SnitchState,
  at: number,
  context: DeadlineContext,
): number | null {
  const schedule = scheduleOf(before, context.rules.timezone);
  if (schedule === null) return intervalDeadline(before, at, context);
  const { lastCheckInAt, status, movedFrom, dueAt } = before;
  const isAwaited = status === 'healthy' || status === 'errored';
  const earlier =
    lastCheckInAt === null ? null : { at: lastCheckInAt, deadline: isAwaited ? (movedFrom ?? dueAt) : null };
  return scheduledAfterCheckIn(schedule, graceOf(before, schedule, at), at, earlier);
}

/** The deadline, counted again from now: a run that the last check-in answered a little early stays answered. */
export function deadlineAnew(snitch: SnitchState, now: number, context: DeadlineContext): number | null {
  const deadline = deadlineAfter(snitch, now, context);
  const schedule = scheduleOf(snitch, context.rules.timezone);
  const { lastCheckInAt } = snitch;
  if (schedule === null || lastCheckInAt === null || lastCheckInAt > now || deadline === null)
    return deadline;
  const answered = scheduledAfterCheckIn(schedule, graceOf(snitch, schedule, now), lastCheckInAt, null);
  return answered === null ? null : Math.max(deadline, answered);
}

function intervalDeadline(job: Job, from: number, context: DeadlineContext): number {
  if (job.alertType === 'basic') return basicDeadline(job, from, context) + lengthenedBy(job);
  const { calendar, rules, firstCheckIns, late } = context;
  return smartDeadline(calendar, job.interval, rules.timezone, firstCheckIns, from, late) + lengthenedBy(job);
}

/** A check-in answers for its own period; the next is due by the end of the following one. Grace is not counted. */
export function basicDeadline(
  { interval }: Pick<Job, 'interval'>,
  from: number,
  { calendar, rules }: Pick<DeadlineContext, 'calendar' | 'rules'>,
): number {
  return calendar.periodAfter(interval, rules.timezone, from).end;
}

type ReminderContext = Pick<DeadlineContext, 'calendar' | 'rules'>;

/**
 * When the next reminder of a failed snitch is due, or null for never.
 *
 * @param dueAt when the alert or reminder that is being sent was due
 * @param now when it is sent: at most one reminder an hour follows
 */
export function nextReminder(job: Job, dueAt: number, now: number, context: ReminderContext): number | null {
  switch (context.rules.reminders) {
    case 'off':
      return null;
    case 'hourly':
      return now + HOUR;
    case 'daily':
      return now + DAY;
    case 'period':
      return afterNextPeriod(job, dueAt, now, context);
  }
}

function afterNextPeriod(
  job: Job,
  dueAt: number,
  now: number,
  { calendar, rules }: ReminderContext,
): number | null {
  const { interval, alertType } = job;
  const earliest = (now - dueAt <= REMINDER_SLACK ? dueAt : now) + HOUR;
  const schedule = scheduleOf(job, rules.timezone);
  if (schedule !== null) return afterNextRun(job, schedule, dueAt, earliest);
  if (alertType === 'basic') {
    const grace = lengthenedBy(job);
    return calendar.periodAt(interval, rules.timezone, earliest - grace - 1).end + grace;
  }
  const oneLater = addIntervals(interval, rules.timezone, dueAt, 1);
  if (oneLater >= earliest) return oneLater;
  return Math.max(earliest, addIntervals(interval, rules.timezone, now, 1));
}

/** The end of the first grace that ends at `earliest` or later. The runs of `every` count from `dueAt`. */
function afterNextRun(job: Job, schedule: Schedule, dueAt: number, earliest: number): number | null {
  const grace = graceOf(job, schedule, dueAt);
  if (job.schedule && 'every' in job.schedule) {
    const length = schedule.nextAfter(dueAt);
    if (length === null) return null;
    return dueAt + Math.ceil((earliest - dueAt) / (length - dueAt)) * (length - dueAt);
  }
  const run = schedule.nextAfter(earliest - grace - 1);
  return run === null ? null : run + grace;
}
