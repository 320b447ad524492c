/** What is remembered of late runs once their periods are forgotten: smart deadlines take them into account. */
import { DAY } from '../text/durations.ts';
import { type Interval, nominalLength } from './interval.ts';
import { LocalClock, locate } from './places.ts';

/** The first check-in of this many of the last periods is kept. */
export const KNOWN_PERIODS = 50;

/** A run is compared with this many runs before it and after it: it was late if both were usually earlier. */
const NEIGHBOURS = 12;

/** The latest ten late runs are remembered, each for 300 periods, but for no longer than 400 days. */
const REMEMBERED_RUNS = 10;
const REMEMBERED_PERIODS = 300;
const REMEMBERED_DAYS = 400;

/** A run whose check-in came later in its period than those of its neighbours. */
export interface LateRun {
  at: number;
  /** How much later, in milliseconds. */
  by: number;
}

export interface LateRuns {
  /** The first check-in ever known: the longer a job is watched, the more of its habits have been seen. */
  since: number | null;
  /** The runs of the last 300 periods that were latest, at most 10, ascending by time. */
  runs: readonly LateRun[];
}

export const NO_LATE_RUNS: LateRuns = { since: null, runs: [] };

/** What is remembered of a job's check-ins. */
export interface Learned {
  /** Ascending: the first check-in of each of the last periods, at most 50. */
  firstCheckIns: readonly number[];
  late: LateRuns;
}

export const NOTHING_LEARNED: Learned = { firstCheckIns: [], late: NO_LATE_RUNS };

/** What is remembered from up to `last`: anything later was stamped by a clock that ran ahead. */
export function knownUntil({ firstCheckIns, late }: Learned, last: number): Learned {
  const { since, runs } = late;
  return {
    firstCheckIns: firstCheckIns.filter((at) => at <= last),
    late: {
      since: since !== null && since <= last ? since : null,
      runs: runs.filter(({ at }) => at <= last),
    },
  };
}

/**
 * What is remembered once `at`, the first check-in of its period, has come. A run is judged only when enough runs
 * after it are known, since a job that moved to a later time is not late: the runs that follow are just as late.
 */
export function withCheckIn(
  { firstCheckIns, late }: Learned,
  interval: Interval,
  timezone: string,
  at: number,
): Learned {
  const known = firstCheckIns.filter((other) => other !== at);
  known.push(at);
  if ((known.at(-2) ?? at) > at) known.sort((one, other) => one - other);
  const newest = known.at(-1) ?? at;
  const judged = judge(known, interval, timezone);
  const runs = judged ? remembered([...late.runs.filter((run) => run.at !== judged.at), judged]) : late.runs;
  const oldest = newest - Math.min(REMEMBERED_PERIODS * nominalLength(interval), REMEMBERED_DAYS * DAY);
  return {
    firstCheckIns: known.slice(-KNOWN_PERIODS),
    late: {
      since: Math.min(late.since ?? at, known[0] ?? at),
      runs: runs.every((run) => run.at >= oldest) ? runs : runs.filter((run) => run.at >= oldest),
    },
  };
}

/** How late the run with just enough neighbours on both sides was, or null if it was not late. */
function judge(known: readonly number[], interval: Interval, timezone: string): LateRun | null {
  const index = known.length - 1 - NEIGHBOURS;
  const at = known[index];
  if (at === undefined || index < NEIGHBOURS) return null;
  const around = locate(interval, LocalClock.of(timezone), known.slice(index - NEIGHBOURS));
  const places = around.map(({ place }) => place);
  const usual = Math.max(middle(places.slice(0, NEIGHBOURS)), middle(places.slice(NEIGHBOURS + 1)));
  const by = (places[NEIGHBOURS] ?? usual) - usual;
  return by > 0 ? { at, by } : null;
}

function middle(places: number[]): number {
  return places.sort((a, b) => a - b)[places.length >> 1] ?? 0;
}

/** The runs that were latest, in the order in which they came. */
function remembered(runs: readonly LateRun[]): LateRun[] {
  return runs
    .toSorted((one, other) => other.by - one.by)
    .slice(0, REMEMBERED_RUNS)
    .sort((one, other) => one.at - other.at);
}
