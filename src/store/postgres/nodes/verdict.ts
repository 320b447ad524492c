/** What follows from the last sign of life of any node. Pure; all instants are milliseconds of the database's clock. */
import type { BlindWindow } from '../../../core/blind-window.ts';

export type Verdict =
  | { kind: 'alive' }
  /** No node could accept check-ins in this time. */
  | { kind: 'blind'; window: BlindWindow }
  /**
   * The last sign is so far in the future that the clock must have been set back; it would hide the next blind time.
   */
  | { kind: 'clock set back' };

/**
 * @param last the newest sign of life of any node; null if there never was one
 * @param threshold how long a gap between signs can be before it means something, in milliseconds
 */
export function verdictOn(last: number | null, now: number, threshold: number): Verdict {
  if (last === null) return { kind: 'alive' };
  if (last - now > threshold) return { kind: 'clock set back' };
  return now - last > threshold ? { kind: 'blind', window: { start: last, end: now } } : { kind: 'alive' };
}

/** What a node knows about its own signs when it gives another one. */
export interface OwnSigns {
  /** The newest sign that was answered. */
  readonly known: number;
  /** How long ago that was, by this host's clock. */
  readonly elapsed: number;
  /** The newest sign that the database has; null for none. */
  readonly kept: number | null;
  /** The database's clock. */
  readonly now: number;
}

/**
 * The time for which the database lacks this node's writes, or null. Signs are written like check-ins: if the database
 * has an older sign than the last one it answered, check-ins are missing as well.
 */
export function lostWrites({ known, elapsed, kept, now }: OwnSigns, threshold: number): BlindWindow | null {
  if (kept === null || kept >= known) return null;
  // Setting the clock back sets the signs back too, and the time that has passed since hides part of that.
  if (known + elapsed - now > threshold) return null;
  return { start: kept, end: Math.max(now, known) };
}
