/** When the next check-in is due, and when a failed snitch is reminded (`decisions: Periods and deadlines`). */
import { DAY, HOUR, MINUTE } from '../text/durations.ts';
import { addIntervals, type Calendar } from './interval.ts';
import type { LateRuns } from './late-runs.ts';
import { smartDeadline } from './smart-deadline.ts';
import type { CaseRules, SnitchState } from './snitch.ts';

/** A sweep acts a moment after an instant. Up to this delay, the hour counts from the instant and not from the act. */
const REMINDER_SLACK = MINUTE;

export interface DeadlineContext {
  calendar: Calendar;
  rules: CaseRules;
  /** Ascending: the first check-in of each of the last periods, at most 50. Only `smart` snitches need it. */
  firstCheckIns: readonly number[];
  /** What `smart` snitches remember from before them. */
  late?: LateRuns;
}

type Schedule = Pick<SnitchState, 'interval' | 'alertType'>;

/** The instant by which the check-in after the one at `from` is expected: later than `from`. */
export function deadlineAfter(schedule: Schedule, from: number, context: DeadlineContext): number {
  if (schedule.alertType === 'basic') return basicDeadline(schedule, from, context);
  const { calendar, rules, firstCheckIns, late } = context;
  return smartDeadline(calendar, schedule.interval, rules.timezone, firstCheckIns, from, late);
}

/** A check-in answers for its own period; the next is due by the end of the following one. */
export function basicDeadline(
  { interval }: Pick<Schedule, 'interval'>,
  from: number,
  { calendar, rules }: Pick<DeadlineContext, 'calendar' | 'rules'>,
): number {
  return calendar.periodAfter(interval, rules.timezone, from).end;
}

/**
 * When a failed snitch is reminded next, or null for never.
 *
 * @param dueAt when the alert or reminder that is being sent was due
 * @param now when it is sent: never more than one reminder an hour follows
 */
export function nextReminder(
  { interval, alertType }: Schedule,
  dueAt: number,
  now: number,
  { calendar, rules }: Pick<DeadlineContext, 'calendar' | 'rules'>,
): number | null {
  const earliest = (now - dueAt <= REMINDER_SLACK ? dueAt : now) + HOUR;
  switch (rules.reminders) {
    case 'off':
      return null;
    case 'hourly':
      return now + HOUR;
    case 'daily':
      return now + DAY;
    case 'period': {
      if (alertType === 'basic') return calendar.periodAt(interval, rules.timezone, earliest - 1).end;
      const oneLater = addIntervals(interval, rules.timezone, dueAt, 1);
      if (oneLater >= earliest) return oneLater;
      return Math.max(earliest, addIntervals(interval, rules.timezone, now, 1));
    }
  }
}
