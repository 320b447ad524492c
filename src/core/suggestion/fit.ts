/** How well a schedule predicts the check-ins of a history. */
import { DAY, MINUTE } from '../../text/durations.ts';
import { instantsAfter, type Schedule, type Schedules } from '../schedule/schedule.ts';
import type { Candidate } from './candidates.ts';
import { quantile } from './history.ts';

/** The first check-in of a run. */
export interface Answer {
  at: number;
  /** How long after the time of the run it came: below zero if the host's clock is ahead. */
  late: number;
}

export interface Fit {
  candidate: Candidate;
  schedule: Schedule;
  /** The runs that no check-in answered for, ascending. */
  missed: readonly number[];
  answers: readonly Answer[];
  /** The shortest time between two runs. */
  gap: number;
  /** 0 for a schedule that explains everything; above 1 it does not fit. */
  cost: number;
}

/** A check-in may come this much before the run it answers for (`extensions: When a job is due`). */
const EARLY_SHARE = 0.1;
const MOST_EARLY = 5 * MINUTE;

/** The largest share of runs that may go unanswered, and of check-ins without a run of their own. */
const MOST_MISSED = 0.2;
const MOST_EXTRA = 0.15;

/** Check-ins that usually scatter over more than this share of the gap fit no schedule. */
const MOST_SCATTER = 0.4;
const USUAL = 0.92;

/** Fewer runs may fit by chance. But there are never many of a monthly job. */
const LEAST_RUNS = 5;
const LEAST_LONG_RUNS = 3;
const LONG = 6 * DAY;

/** No history has as many check-ins: a schedule with more runs than this in the same time does not fit. */
const MOST_RUNS = 20_000;

/** @param checkIns ascending, at least two: when the runs began, or when they checked in */
export function fit(checkIns: readonly number[], candidate: Candidate, schedules: Schedules): Fit | null {
  const schedule = schedules.read(candidate.rule, candidate.timezone);
  const [first = 0, last = 0] = [checkIns[0], checkIns.at(-1)];
  const gap = Math.min(...schedule.gapsAfter(first));
  if ((last - first) / gap > MOST_RUNS) return null;
  const found =
    'every' in candidate.rule ? afterEachOther(checkIns, gap) : byTheClock(checkIns, schedule, gap);
  const runs = found.answers.length + found.missed.length;
  if (found.answers.length < (gap >= LONG ? LEAST_LONG_RUNS : LEAST_RUNS)) return null;
  const lateness = found.answers.map(({ late }) => late).sort((one, other) => one - other);
  const scatter = (quantile(lateness, USUAL) - quantile(lateness, 1 - USUAL)) / gap;
  const parts = [
    found.missed.length / runs / MOST_MISSED,
    found.extra / checkIns.length / MOST_EXTRA,
    Math.max(scatter, quantile(lateness, 0.5) / gap) / MOST_SCATTER,
  ];
  if (parts.some((part) => part > 1)) return null;
  const cost = parts.reduce((sum, part) => sum + part, candidate.complexity);
  return { candidate, schedule, missed: found.missed, answers: found.answers, gap, cost };
}

interface Answered {
  missed: number[];
  answers: Answer[];
  /** Check-ins that came after another had already answered for the run. */
  extra: number;
}

function byTheClock(checkIns: readonly number[], schedule: Schedule, gap: number): Answered {
  const early = Math.min(MOST_EARLY, EARLY_SHARE * gap);
  const [first = 0, last = 0] = [checkIns[0], checkIns.at(-1)];
  const begin = schedule.lastUntil(first + early) ?? first;
  const runs = [begin, ...runsUntil(schedule, begin, last + early)];
  const found: Answered = { missed: [], answers: [], extra: 0 };
  let next = 0;
  for (const [index, at] of runs.entries()) {
    const until = (runs[index + 1] ?? Number.POSITIVE_INFINITY) - early;
    const before = next;
    while ((checkIns[next] ?? Number.POSITIVE_INFINITY) < until) next += 1;
    const answer = checkIns[before];
    if (next === before || answer === undefined) found.missed.push(at);
    else {
      found.answers.push({ at: answer, late: answer - at });
      found.extra += next - before - 1;
    }
  }
  return found;
}

function runsUntil(schedule: Schedule, after: number, until: number): number[] {
  const runs: number[] = [];
  for (;;) {
    const [next] = instantsAfter(schedule, runs.at(-1) ?? after, 1);
    if (next === undefined || next > until) return runs;
    runs.push(next);
  }
}

/** Each run is due a fixed time after the previous one; one that comes much sooner is extra. */
function afterEachOther(checkIns: readonly number[], length: number): Answered {
  const found: Answered = { missed: [], answers: [], extra: 0 };
  let last = checkIns[0] ?? 0;
  for (const at of checkIns.slice(1)) {
    const count = Math.round((at - last) / length);
    if (count === 0) {
      found.extra += 1;
      continue;
    }
    for (let missed = 1; missed < count; missed += 1) found.missed.push(last + missed * length);
    found.answers.push({ at, late: at - last - count * length });
    last = at;
  }
  return found;
}
