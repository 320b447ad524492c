/** What follows from the last sign of life of any node. Pure; all instants are milliseconds of the database's clock. */
import type { BlindWindow } from '../../../core/blind-window.ts';

export type Verdict =
  | { kind: 'alive' }
  /** No node could take check-ins in this time. */
  | { kind: 'blind'; window: BlindWindow }
  /** The last sign lies so far ahead that the clock must have been set back; it would hide the next blind time. */
  | { kind: 'clock set back' };

/**
 * @param last the newest sign of life of all nodes; null where there was never one
 * @param threshold how long a silence may be that is nothing special, in milliseconds
 */
export function verdictOn(last: number | null, now: number, threshold: number): Verdict {
  if (last === null) return { kind: 'alive' };
  if (last - now > threshold) return { kind: 'clock set back' };
  return now - last > threshold ? { kind: 'blind', window: { start: last, end: now } } : { kind: 'alive' };
}
