/** A snitch that changes too often raises one alert instead of one for every change (`decisions: Flapping`). */
import { HOUR, MINUTE } from '../text/durations.ts';

/** More alerts of one snitch than this in an hour become one. */
export const FLAPPING_OVER = 12;

/** In milliseconds. */
export const FLAPPING_WITHIN = HOUR;

/** A snitch that has not changed for this long no longer flaps, in milliseconds. */
export const QUIET_AFTER = 10 * MINUTE;

/** What an alert of a flapping snitch says besides its state. */
export interface Flapping {
  /** It begins, it goes on for another hour, or it is over and this is what the snitch is now. */
  phase: 'begun' | 'goes on' | 'over';
  /** How many changes this alert stands for. */
  changes: number;
  since: number;
  changedAt: number;
}

export interface Flap {
  /** When the team was last told about the flapping. */
  since: number;
  changedAt: number;
}

/**
 * When the sweep must look at the flap again: soon after the snitch settles, to report its final state, and once
 * an hour while it does not.
 */
export function settleAt({ since, changedAt }: Flap): number {
  return Math.min(changedAt + QUIET_AFTER, since + FLAPPING_WITHIN);
}

/** A flap in the future was written while the clock was wrong: it must not suppress any alert. */
export function isOver({ since, changedAt }: Flap, now: number): boolean {
  return since > now || changedAt > now || now - changedAt >= QUIET_AFTER;
}
