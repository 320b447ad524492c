/** The outcome of each of the last periods, for the strip of history beside a snitch. */
import type { WireCheckIn } from '../../api/wire.ts';
import type { Span as Period } from './periods.ts';

export type PeriodOutcome = 'met' | 'missed' | 'errored' | 'paused' | 'open' | 'unknown';

export interface History {
  /** Newest first, as the server lists them. */
  checkIns: readonly Pick<WireCheckIn, 'at' | 'outcome'>[];
  /** Whether there are, or were, older check-ins that are not in the list. */
  more: boolean;
  createdAt: number;
  /** When the snitch was paused; null if it is not. */
  pausedSince: number | null;
}

/**
 * The outcome per period, in this order of precedence:
 *
 * 1. `errored` if it has an error check-in
 * 2. `met` if it has a healthy one
 * 3. `paused` if a pause began before its end
 * 4. `open` if it is the present period
 * 5. `unknown` if it ended before the snitch was made or before the first known check-in
 * 6. otherwise `missed`
 */
export function outcomesOf(periods: readonly Period[], history: History): PeriodOutcome[] {
  const known = history.checkIns
    .filter(({ outcome }) => outcome === 'healthy' || outcome === 'error')
    .map(({ at, outcome }) => ({ at: Date.parse(at), outcome }));
  const oldest = known.at(-1)?.at ?? Number.POSITIVE_INFINITY;
  return periods.map((period, index) => {
    const within = known.filter(({ at }) => period.start <= at && at < period.end);
    if (within.some(({ outcome }) => outcome === 'error')) return 'errored';
    if (within.length > 0) return 'met';
    if (history.pausedSince !== null && history.pausedSince < period.end) return 'paused';
    if (index === periods.length - 1) return 'open';
    const beforeFirst = period.end <= oldest;
    if (beforeFirst && (history.more || known.length === 0)) return 'unknown';
    return beforeFirst || period.end <= history.createdAt ? 'unknown' : 'missed';
  });
}
