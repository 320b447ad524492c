/** What became of each of the last periods: the strip of history beside a snitch. */
import type { WireCheckIn } from '../../api/wire.ts';
import type { Span as Period } from './periods.ts';

export type PeriodOutcome = 'met' | 'missed' | 'errored' | 'paused' | 'open' | 'unknown';

export interface History {
  /** Newest first, as the server lists them. */
  checkIns: readonly Pick<WireCheckIn, 'at' | 'outcome'>[];
  /** Whether older check-ins exist or existed that are not in the list. */
  more: boolean;
  createdAt: number;
  /** Since when it is paused; null while it is not. */
  pausedSince: number | null;
}

/**
 * The outcome per period, in this order of precedence:
 * 1. an error check-in in it makes it errored, 2. any healthy one met, 3. a pause that began before its end paused,
 * 4. the present period open, 5. what lies before the snitch or before the known check-ins unknown, 6. else missed.
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
