/** Says when the job of a snitch is due next. */
import { SECOND } from '../../text/durations.ts';
import { graceOf, scheduleOf } from '../job-schedule.ts';
import { apart } from '../runs.ts';
import { instantsAfter } from '../schedule/schedule.ts';
import type { SnitchState } from '../snitch.ts';

export { scheduleInWords } from '../schedule-name.ts';

/** How many of the next runs are shown. */
const RUNS = 5;

/** When a snitch with a schedule is due; lengths in milliseconds. */
export interface ScheduleShown {
  /** The zone that decides. */
  timezone: string;
  grace: number;
  runs: { at: number; deadline: number }[];
}

/**
 * The next runs that are awaited, without those that a check-in has already answered for or that a blind window
 * excuses.
 *
 * @param timezone that of the case
 * @returns null if the interval says when the job is due
 */
export function scheduleShown(state: SnitchState, timezone: string, now: number): ScheduleShown | null {
  const schedule = scheduleOf(state, timezone);
  if (schedule === null) return null;
  const grace = graceOf(state, schedule, now);
  // With an open run, `dueAt` can be when that run overruns, which says nothing about when the next run is due.
  const runs = instantsAfter(schedule, beforeNext(apart(state).plain, grace, now), RUNS);
  return {
    timezone: schedule.timezone,
    grace,
    runs: runs.map((at) => ({ at, deadline: at + grace })),
  };
}

/** The instant from which the next run is the first one that is awaited. */
function beforeNext({ status, dueAt, schedule: rule }: SnitchState, grace: number, now: number): number {
  const isAwaited = (status === 'healthy' || status === 'errored') && dueAt !== null;
  if (!isAwaited) return now;
  const run = dueAt - grace;
  if (rule && 'every' in rule) {
    const length = rule.every * SECOND;
    // While a run is open, the times of further runs can pass too.
    return run + Math.max(-1, Math.floor((now - run) / length)) * length;
  }
  return Math.max(now, run - 1);
}
