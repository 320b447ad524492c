/** What a database of many jobs holds, and what state its snitches are in when a bench begins. Pure. */
import { DAY, HOUR } from '../../src/text/durations.ts';

/** Daily jobs of one case. Instants are in milliseconds since the epoch. */
export interface Jobs {
  count: number;
  /** Check-ins of each, one a day. */
  history: number;
  /** The first midnight of the history. */
  first: number;
  /** All jobs check in within this many milliseconds after midnight. */
  spread: number;
  /** The job `id` is the `id * stride % count`-th of the night. */
  stride: number;
  /** The inverse of `stride`: leads from the place in the night back to the id. */
  inverse: number;
}

/** The jobs at the first places of the night fail; the others keep running. */
export interface Scene {
  /** The midnight that began the day on which all but the failing ones checked in last. */
  lastDay: number;
  /** When those are due. */
  dueAt: number;
  /** No sweep has to check those before this: at the latest when they are due. */
  lookAt: number;
  failing: number;
  /** When the failing ones are due. They last checked in a day before the others. */
  failAt: number;
}

const SPREAD = 6 * HOUR;
const STRIDE = 611_953;

/** Far from midnight, so that a long run does not reach the end of the day. */
const NOON = 12;

/** The offset from UTC, in hours, at which it is about noon. */
function offsetAt(now: number): number {
  return NOON - new Date(now).getUTCHours();
}

/** A time zone in which it is about noon. */
export function zoneAtNoon(now: number): string {
  const offset = offsetAt(now);
  return offset === 0 ? 'UTC' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

/** The midnight there that began the present day. */
export function midnightBefore(now: number): number {
  const offset = offsetAt(now) * HOUR;
  return Math.floor((now + offset) / DAY) * DAY - offset;
}

/** Jobs that checked in each night until yesterday. */
export function jobsUntil(midnight: number, count: number, history: number): Jobs {
  const stride = Number(BigInt(STRIDE) % BigInt(count));
  return {
    count,
    history,
    first: midnight - history * DAY,
    spread: SPREAD,
    stride,
    inverse: inverseOf(stride, count),
  };
}

/** The number that `value` must be multiplied by to leave a remainder of 1 when divided by `modulus`. */
function inverseOf(value: number, modulus: number): number {
  let [rest, next] = [modulus, value % modulus];
  let [factor, nextFactor] = [0, 1];
  while (next !== 0) {
    const times = Math.floor(rest / next);
    [rest, next] = [next, rest - times * next];
    [factor, nextFactor] = [nextFactor, factor - times * nextFactor];
  }
  if (rest !== 1) throw new RangeError(`${modulus} snitches cannot be put in order: take another number`);
  return ((factor % modulus) + modulus) % modulus;
}

/** All checked in yesterday and are due at the end of today, except that `failing` of them are due at `failAt`. */
export function usualScene(midnight: number, failing = 0, failAt = 0): Scene {
  const dueAt = midnight + DAY;
  return { lastDay: midnight - DAY, dueAt, lookAt: dueAt, failing, failAt };
}

/**
 * A day ends at `end`: all have checked in on that day and are due a day later, but `failing` of them did not and are
 * due now. When the sweep last checked, all were due at this moment, so it has to check all of them again. Only the
 * sweep takes this for a midnight: the calendar is not used before the next check-in.
 *
 * @param midnight the one that began the present day of the jobs
 */
export function midnightScene(midnight: number, end: number, failing: number): Scene {
  return { lastDay: midnight, dueAt: midnight + 2 * DAY, lookAt: end, failing, failAt: end };
}
