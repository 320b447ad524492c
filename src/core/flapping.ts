/** A snitch that changes too often is told of once, and not at every change (`decisions: Flapping`). */
import { HOUR, MINUTE } from '../text/durations.ts';

/** More alerts of one snitch than this in an hour become one. */
export const FLAPPING_OVER = 12;

/** In milliseconds. */
export const FLAPPING_WITHIN = HOUR;

/** Without a change for so long, a snitch flaps no longer, in milliseconds. */
export const QUIET_AFTER = 10 * MINUTE;

/** What an alert of a flapping snitch tells beside its state. */
export interface Flapping {
  /** It begins, it goes on for another hour, or it is over and this is what the snitch is now. */
  phase: 'begun' | 'goes on' | 'over';
  /** How many changes this alert stands for. */
  changes: number;
  since: number;
  changedAt: number;
}

export interface Flap {
  /** When the flapping was last told of. */
  since: number;
  changedAt: number;
}

/**
 * When the sweep must look at the flap again: so that what the snitch is in the end is told soon, and what it does
 * meanwhile once an hour.
 */
export function settleAt({ since, changedAt }: Flap): number {
  return Math.min(changedAt + QUIET_AFTER, since + FLAPPING_WITHIN);
}

/** A flap from a time that has not come was written by a clock that was wrong: it must silence nothing. */
export function isOver({ since, changedAt }: Flap, now: number): boolean {
  return since > now || changedAt > now || now - changedAt >= QUIET_AFTER;
}
