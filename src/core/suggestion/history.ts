/** What is known of a job's past when its settings are suggested. All instants and lengths are in milliseconds. */
import type { CheckInOutcome } from '../check-in.ts';

/** A check-in of the kept history. */
export interface PastCheckIn {
  at: number;
  outcome: CheckInOutcome;
  /** From the start of the run to this check-in, if the start was reported. */
  durationMs: number | null;
  /** The numbers that it reported. */
  values?: Readonly<Record<string, number>>;
}

/** A check-in that ended a run: the others change no deadline. */
export type PastEnd = PastCheckIn & { outcome: 'healthy' | 'error' };

/** The ends of runs, ascending. */
export function endsOf(history: readonly PastCheckIn[]): PastEnd[] {
  return history
    .filter((checkIn): checkIn is PastEnd => checkIn.outcome === 'healthy' || checkIn.outcome === 'error')
    .toSorted((one, other) => one.at - other.at);
}

/** The quantile of sorted numbers: the one that `share` of them do not exceed. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return quantile(
    numbers.toSorted((one, other) => one - other),
    0.5,
  );
}
