/** When a failed delivery is tried again (`decisions: Alerts`). */
import { HOUR, MINUTE, SECOND } from '../text/durations.ts';

/** The wait after the first, second, … failed attempt, in milliseconds. After that the delivery is dead. */
export const RETRY_WAITS: readonly number[] = [
  10 * SECOND,
  30 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
];

/**
 * The share by which a wait may be shorter or longer, so deliveries that failed together are not all retried
 * together.
 */
const JITTER = 0.1;

/**
 * No delivery waits for longer than this between attempts: one that seems to was planned while the clock ran ahead, and
 * is tried at once (`decisions: When the service itself was blind`). The jitter of the longest wait is so much smaller.
 */
export const FARTHEST_ATTEMPT = 25 * HOUR;

/** The longest wait that a target may ask for. */
const LONGEST_RETRY_AFTER = 24 * HOUR;

/**
 * The instant of the next attempt, or null when the delivery is dead.
 *
 * @param attempts how many attempts have failed, including this one (1 or more)
 * @param failedAt when the last attempt failed
 * @param random a number in [0, 1): the jitter
 * @param retryAfter the wait in milliseconds that the target asked for; it lengthens the schedule's wait, up to 24 h
 */
export function nextAttemptAt(
  attempts: number,
  failedAt: number,
  random: number,
  retryAfter: number | null = null,
): number | null {
  const wait = RETRY_WAITS[attempts - 1];
  if (wait === undefined) return null;
  const jitter = Math.min(wait * JITTER, FARTHEST_ATTEMPT - wait);
  const scheduled = wait + (2 * random - 1) * jitter;
  const asked = Math.min(retryAfter ?? 0, LONGEST_RETRY_AFTER);
  return failedAt + Math.round(Math.max(scheduled, asked));
}
