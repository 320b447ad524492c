/**
 * What a snitch should be set to, judging by what its job did: a schedule with its grace, the longest run time, and
 * what it should report; and what this schedule would have reported of the same history, compared with the current
 * setting.
 */
import { MINUTE, SECOND } from '../../text/durations.ts';
import { Calendar } from '../interval.ts';
import { type ScheduleRule, Schedules } from '../schedule/schedule.ts';
import { candidates } from './candidates.ts';
import { type Fit, fit } from './fit.ts';
import { endsOf, type PastCheckIn, type PastEnd, quantile } from './history.ts';
import { type DueSetting, type Outlook, outlook } from './outlook.ts';
import { roundUp } from './round-lengths.ts';
import {
  type SuggestedExpectation,
  type SuggestedRuntime,
  suggestExpectations,
  suggestRuntime,
} from './runs.ts';

export interface SuggestedSchedule {
  rule: ScheduleRule;
  timezone: string;
  /** Seconds. */
  grace: number;
  /** Milliseconds from the time of a run to its check-in: the earliest, the usual and the latest. */
  lateness: { earliest: number; usual: number; latest: number };
  /** Runs of the history that were never heard from. */
  missed: number;
  outlook: Outlook;
}

export interface Suggestion {
  /** The check-ins that ended runs: how many, and from when to when. */
  seen: { count: number; from: number | null; to: number | null };
  /** Null if no schedule explains the check-ins. */
  schedule: SuggestedSchedule | null;
  /** Why no schedule is suggested, in words; null if one is. */
  unfit: string | null;
  /** The outlook of the current setting; the suggested schedule says which runs were missed. Null without one. */
  present: Outlook | null;
  runtime: SuggestedRuntime | null;
  expect: readonly SuggestedExpectation[];
}

/** A history with fewer ends is too short to conclude anything. */
const LEAST_ENDS = 5;
const LEAST_LONG_ENDS = 3;

/**
 * With this many check-ins the grace may ignore the latest, if it came `MUCH_LATER` times later than all the others.
 */
const MAY_LEAVE_ONE_OUT = 50;
const MUCH_LATER = 3;

/** The grace is this many times the lateness of the latest check-in that it covers. */
const GRACE_ROOM = 1.25;

/** The grace ends within this share of the gap, so before the next run. */
const GRACE_OF_GAP = 0.9;

/** The starts of runs are used if this share of them is known. */
const STARTS_KNOWN = 0.9;

/**
 * @param history the kept check-ins, in any order
 * @param present what the snitch is set to now
 * @param timezones the zones that the job may follow besides UTC, the likeliest first: the case's, its
 *   host's
 */
export function suggest(
  history: readonly PastCheckIn[],
  present: DueSetting,
  timezones: readonly string[],
): Suggestion {
  const ends = endsOf(history);
  const checkIns = ends.map(({ at }) => at);
  const knowledge = { calendar: new Calendar(), schedules: new Schedules() };
  const best = bestFit(ends, [...new Set([...timezones, 'UTC'])], knowledge.schedules);
  const said = {
    seen: { count: ends.length, from: checkIns[0] ?? null, to: checkIns.at(-1) ?? null },
    runtime: suggestRuntime(ends),
    expect: suggestExpectations(ends),
  };
  if (!best) return { ...said, schedule: null, unfit: whyUnfit(checkIns), present: null };
  const lateness = latenessOf(best, ends);
  const grace = graceFor(lateness, best);
  const { rule, timezone } = best.candidate;
  const proposed = { ...present, schedule: rule, timezone, grace };
  return {
    ...said,
    schedule: {
      rule,
      timezone,
      grace: grace / SECOND,
      lateness: {
        earliest: lateness[0] ?? 0,
        usual: quantile(lateness, 0.5),
        latest: lateness.at(-1) ?? 0,
      },
      missed: best.missed.length,
      outlook: outlook(proposed, checkIns, best.missed, knowledge),
    },
    unfit: null,
    present: outlook(present, checkIns, best.missed, knowledge),
  };
}

function bestFit(ends: readonly PastEnd[], timezones: readonly string[], schedules: Schedules): Fit | null {
  if (ends.length < LEAST_LONG_ENDS) return null;
  const checkIns = ends.map(({ at }) => at);
  const starts = startsOf(ends);
  return candidates(starts ?? checkIns, timezones)
    .map((candidate) => {
      // A schedule says when a run begins; `every` counts from the check-in.
      const instants = 'every' in candidate.rule ? checkIns : (starts ?? checkIns);
      return fit(instants, candidate, schedules);
    })
    .reduce<Fit | null>((best, found) => (found && (!best || found.cost < best.cost) ? found : best), null);
}

/** When the runs began, if that is known for nearly all. */
function startsOf(ends: readonly PastEnd[]): number[] | null {
  const known = ends.filter(({ durationMs }) => durationMs !== null);
  if (known.length < STARTS_KNOWN * ends.length) return null;
  return ends.map(startOf).sort((a, b) => a - b);
}

function startOf({ at, durationMs }: PastEnd): number {
  return at - (durationMs ?? 0);
}

/**
 * From the time of each run to its check-in, sorted: the awaited check-in is the end of the run, even if its start is
 * known.
 */
function latenessOf({ candidate, answers }: Fit, ends: readonly PastEnd[]): number[] {
  const goesByStarts = !('every' in candidate.rule) && startsOf(ends) !== null;
  const took = new Map(ends.map((end) => [startOf(end), end.durationMs ?? 0]));
  return answers
    .map(({ at, late }) => late + (goesByStarts ? (took.get(at) ?? 0) : 0))
    .sort((one, other) => one - other);
}

function graceFor(lateness: readonly number[], { schedule, gap }: Fit): number {
  const least = schedule.defaultGrace(0);
  const latest = lateness.at(-1) ?? 0;
  const others = lateness.length < MAY_LEAVE_ONE_OUT ? latest : (lateness.at(-2) ?? latest);
  const covered = Math.max(least, others);
  const wanted = GRACE_ROOM * (latest > MUCH_LATER * covered ? covered : latest);
  const most = Math.max(least, Math.floor((GRACE_OF_GAP * gap) / MINUTE) * MINUTE);
  return Math.min(most, Math.max(least, roundUp(wanted)));
}

function whyUnfit(checkIns: readonly number[]): string {
  if (checkIns.length < LEAST_ENDS) {
    const kept = checkIns.length === 1 ? '1 check-in is kept' : `${checkIns.length} check-ins are kept`;
    return `only ${kept}, and at least ${LEAST_ENDS} are needed (${LEAST_LONG_ENDS} of a weekly or monthly job)`;
  }
  return 'the check-ins keep to no time of day, and come neither by the clock nor a steady time after each other';
}
