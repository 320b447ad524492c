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

/** What a node knows of its own signs when it gives another one. */
export interface OwnSigns {
  /** The newest that was answered. */
  readonly known: number;
  /** How long ago by the clock of this host. */
  readonly elapsed: number;
  /** The one that the database kept; null for none. */
  readonly kept: number | null;
  /** By the clock of the database. */
  readonly now: number;
}

/**
 * In which time the database lacks what this node wrote, or null. Signs are written as check-ins are: where an older one is
 * kept than was answered, check-ins are missing as well.
 */
export function lostWrites({ known, elapsed, kept, now }: OwnSigns, threshold: number): BlindWindow | null {
  if (kept === null || kept >= known) return null;
  // A clock that was set back sets back the signs, too, and the time since then hides some of that.
  if (known + elapsed - now > threshold) return null;
  return { start: kept, end: Math.max(now, known) };
}
