/** What the last runs of a job reported: enough to know what is usual, and no more, however often it reports. */
import type { ReportedValues } from './values.ts';

/** The median is taken over the last successful runs: at most `RUNS_REMEMBERED`, at least `LEAST_RUNS`. */
export const RUNS_REMEMBERED = 20;
export const LEAST_RUNS = 5;

/** How many names are remembered for one snitch. If a job keeps making up new ones, the oldest are forgotten. */
export const MOST_NAMES = 40;

/** One reported value of a snitch. */
export interface ValueHistory {
  /** When `last` was reported. */
  at: number;
  last: number;
  /** From the last successful runs, oldest first. */
  runs: readonly number[];
}

/** By name, the most recently reported last. */
export type ValueHistories = Readonly<Record<string, ValueHistory>>;

export const NO_HISTORIES: ValueHistories = {};

/**
 * The histories including what a check-in reported.
 *
 * @param report `isSuccess`: only what a successful run reported is usual
 * @param kept names that are never forgotten, because they have expectations
 */
export function withReport(
  before: ValueHistories,
  { at, values, isSuccess }: { at: number; values: ReportedValues; isSuccess: boolean },
  kept: readonly string[] = [],
): ValueHistories {
  const after = new Map(Object.entries(before));
  for (const [name, number] of Object.entries(values)) {
    const known = after.get(name);
    // A check-in that is reported late may not be the last one.
    const isLast = known === undefined || at >= known.at;
    const runs = isSuccess ? [...(known?.runs ?? []), number].slice(-RUNS_REMEMBERED) : (known?.runs ?? []);
    after.delete(name);
    after.set(name, { at: isLast ? at : known.at, last: isLast ? number : known.last, runs });
  }
  for (const name of after.keys()) {
    if (after.size <= MOST_NAMES) break;
    if (!kept.includes(name)) after.delete(name);
  }
  return Object.fromEntries(after);
}

/** Null if fewer than five successful runs reported it. */
export function usualIn(histories: ValueHistories, name: string): number | null {
  return usualOf(Object.hasOwn(histories, name) ? (histories[name]?.runs ?? []) : []);
}

/**
 * What is usual after these runs.
 *
 * @param runs what successful runs reported, oldest first
 * @returns null if there are fewer than five
 */
export function usualOf(runs: readonly number[]): number | null {
  const last = runs.slice(-RUNS_REMEMBERED);
  return last.length < LEAST_RUNS ? null : median(last);
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  if (!Number.isInteger(middle)) return sorted[Math.floor(middle)] ?? 0;
  const [low = 0, high = 0] = sorted.slice(middle - 1, middle + 1);
  // The sum of two large numbers may be infinite.
  return low / 2 + high / 2;
}
