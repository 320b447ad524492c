/** When a job of the host is due, as a snitch can be told (`extensions: When a job is due`). */
import { INTERVALS } from '../../../api/intervals.ts';
import { readSchedule, type Schedule, type ScheduleRule } from '../../../core/schedule/schedule.ts';
import { LONGEST_GRACE, validateSchedule } from '../../../core/schedule-fields.ts';
import { HOUR, MINUTE, SECOND } from '../../../text/durations.ts';
import { NotUnderstood } from '../../schedule/schedule.ts';

export interface Due {
  /** Null if the expression cannot be kept, so the interval has to do. */
  schedule: ScheduleRule | null;
  /** Of the schedule; null if it names its own or needs none. */
  timezone: string | null;
  /** Seconds; null with an interval. */
  grace: number | null;
  /** Seconds by which the host itself starts the job later than the schedule says: no grace may be shorter. */
  lateness: number;
  /** For a server without schedules; null if no interval is long enough. */
  interval: string | null;
  /** What a person should know about it. */
  remarks: string[];
}

/** What to make of all jobs of a host. */
export interface Terms {
  /** Milliseconds since the epoch. A schedule whose last run is before this is never due again. */
  now: number;
  /** Seconds that a job gets to run and check in; null for what fits its schedule. */
  grace: number | null;
}

/** A job that nobody could wait for: it has no time, or none any more. There is no fault in that. */
export class NeverAwaited extends NotUnderstood {}

/** How much later than its schedule a job may check in by default: a tenth of the shortest gap, within these limits. */
const SMALLEST_GRACE = MINUTE;
/** More than the server's own default: we do not know how long the jobs run, and nobody needs false alarms. */
const LARGEST_GRACE = HOUR;

interface Circumstances {
  /** Of the host or the crontab. */
  timezone: string;
  lateness: number;
  /** Seconds by which the job may be later still, on a host that sleeps. */
  slack?: number;
  /** For a server without schedules. */
  interval: () => string | null;
}

/** A schedule with all that goes with it. @throws NotUnderstood if neither a schedule nor an interval will do */
export function scheduledDue(
  rule: ScheduleRule,
  { timezone, lateness, slack = 0, interval }: Circumstances,
  { now, grace }: Terms,
): Due {
  const faults = validateSchedule(rule, timezone, now).validations;
  const fallback = intervalOrNull(interval);
  if (faults) return intervalDue(`it ${faults[0]?.message ?? 'is refused'}`, fallback);
  const schedule = readSchedule(rule, timezone);
  const allowed = Math.ceil(lateness) + slack + (grace ?? fittingGrace(schedule, now));
  return {
    schedule: rule,
    timezone: 'every' in rule || schedule.timezone !== timezone ? null : timezone,
    grace: Math.min(LONGEST_GRACE, allowed),
    lateness: Math.ceil(lateness),
    interval: fallback,
    remarks: [],
  };
}

/** @throws NotUnderstood with the reason, if there is no interval either */
function intervalDue(reason: string, interval: string | null): Due {
  if (/never be due/.test(reason)) throw new NeverAwaited(reason);
  if (interval === null) throw new NotUnderstood(reason);
  const remarks = [`by the interval ${interval}, because no schedule can express it: ${reason}`];
  return { schedule: null, timezone: null, grace: null, lateness: 0, interval, remarks };
}

function intervalOrNull(interval: () => string | null): string | null {
  try {
    return interval();
  } catch (error) {
    if (error instanceof NotUnderstood) return null;
    throw error;
  }
}

/** Seconds. */
function fittingGrace(schedule: Schedule, now: number): number {
  const tenth = Math.min(...schedule.gapsAfter(now)) / 10;
  return Math.floor(Math.min(LARGEST_GRACE, Math.max(SMALLEST_GRACE, tenth)) / SECOND);
}

/** The interval to show to programs that know nothing else. */
export function shownInterval({ interval }: Due): string {
  return interval ?? INTERVALS.at(-1) ?? 'monthly';
}
