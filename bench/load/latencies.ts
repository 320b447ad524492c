/** Latencies of a steady load, over a whole stretch of time and in its worst second. Pure. */
import { quantile } from '../quantile.ts';
import type { Answered } from './wrk.ts';

/** A second with fewer answers than this says nothing about its p99. */
const LEAST = 20;

export interface Latencies {
  /** Milliseconds; NaN if there were no requests. */
  p99: number;
  worstSecond: number;
}

/**
 * How long the requests took that should have been made from `start` until just before `end`. The stretch is at least a
 * second, because the daemon checks once a second what is due. If no second has enough answers, all count as one
 * second.
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
