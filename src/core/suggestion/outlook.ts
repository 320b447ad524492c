/** What a setting would have reported of a history, and when. */
import { deadlineAfter } from '../deadline.ts';
import type { Calendar, Interval } from '../interval.ts';
import { type Learned, NOTHING_LEARNED, withCheckIn } from '../late-runs.ts';
import type { ScheduleRule, Schedules } from '../schedule/schedule.ts';
import { deadlineAfterCheckIn } from '../schedule/timing.ts';
import { median } from './history.ts';

/** The settings that say when a check-in is due. */
export interface DueSetting {
  interval: Interval;
  alertType: 'basic' | 'smart';
  schedule: ScheduleRule | null;
  /** The schedule's; the case's if there is no schedule. */
  timezone: string;
  /** Milliseconds; null for the default. */
  grace: number | null;
}

export interface Outlook {
  /** Alerts in a gap although no run had been missed in it yet. */
  falseAlarms: number;
  /** Runs that were missed, and found. */
  found: number;
  /** Missed runs, counted once if several in a row, that were over before anybody was told. */
  unnoticed: number;
  /**
   * Had a run not come, how long after its check-in time the team would have been told: the median, in milliseconds.
   * Null if that never happens in the history.
   */
  foundAfter: number | null;
}

interface Knowledge {
  calendar: Calendar;
  schedules: Schedules;
}

/**
 * @param checkIns ascending: the check-ins that ended a run
 * @param missed ascending: the runs that did not come
 */
export function outlook(
  setting: DueSetting,
  checkIns: readonly number[],
  missed: readonly number[],
  knowledge: Knowledge,
): Outlook {
  const deadlines = deadlinesOf(setting, checkIns, knowledge);
  const result = { falseAlarms: 0, found: 0, unnoticed: 0 };
  const delays: number[] = [];
  for (const [index, next] of checkIns.slice(1).entries()) {
    const from = checkIns[index] ?? next;
    const due = deadlines[index] ?? null;
    const gone = missed.find((at) => at > from && at < next);
    const isTold = due !== null && due <= next;
    if (isTold && (gone === undefined || due < gone)) result.falseAlarms += 1;
    else if (isTold) result.found += 1;
    else if (gone !== undefined) result.unnoticed += 1;
    if (gone === undefined && due !== null && due > next) delays.push(due - next);
  }
  return { ...result, foundAfter: delays.length === 0 ? null : median(delays) };
}

function deadlinesOf(
  setting: DueSetting,
  checkIns: readonly number[],
  { calendar, schedules }: Knowledge,
): (number | null)[] {
  const { interval, alertType, timezone, grace } = setting;
  if (setting.schedule) return scheduled(setting.schedule, setting, checkIns, schedules);
  const rules = { timezone, reminders: 'off', errorNotices: true } as const;
  let learned: Learned = NOTHING_LEARNED;
  let last = Number.NEGATIVE_INFINITY;
  return checkIns.map((at) => {
    if (calendar.periodAt(interval, timezone, at).start > last) {
      learned = withCheckIn(learned, interval, timezone, at);
    }
    last = at;
    const due = deadlineAfter({ interval, alertType }, at, { calendar, rules, ...learned });
    return due === null ? null : due + (grace ?? 0);
  });
}

function scheduled(
  rule: ScheduleRule,
  { timezone, grace }: DueSetting,
  checkIns: readonly number[],
  schedules: Schedules,
): (number | null)[] {
  const schedule = schedules.read(rule, timezone);
  const patience = grace ?? schedule.defaultGrace(checkIns[0] ?? 0);
  let earlier: { at: number; deadline: number | null } | null = null;
  return checkIns.map((at) => {
    const deadline = deadlineAfterCheckIn(schedule, patience, at, earlier);
    earlier = { at, deadline };
    return deadline;
  });
}
