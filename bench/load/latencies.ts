/** Latencies of a steady load, over all of a stretch of time and in its worst second. Pure. */
import { quantile } from '../quantile.ts';
import type { Answered } from './wrk.ts';

/** A second with fewer answers than these says nothing of its p99. */
const LEAST = 20;

export interface Latencies {
  /** Milliseconds; NaN where nothing was asked. */
  p99: number;
  worstSecond: number;
}

/**
 * How long the requests took that were to be made from `start` until before `end`. The time is at least a second, because
 * the daemon looks once a second for what is due. Where no second has enough answers, all of them count as one.
 */
export function latenciesBetween(answered: readonly Answered[], start: number, end: number): Latencies {
  const within = answered.filter(({ at }) => at >= start && at < Math.max(end, start + 1_000));
  const seconds = Map.groupBy(within, ({ at }) => Math.floor((at - start) / 1_000));
  const each = [...seconds.values()].filter(({ length }) => length >= LEAST).map(p99);
  return { p99: p99(within), worstSecond: each.length > 0 ? Math.max(...each) : p99(within) };
}

function p99(answered: readonly Answered[]): number {
  return quantile(
    answered.map(({ took }) => took),
    0.99,
  );
}
