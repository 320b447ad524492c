const FIRST = 500;
const LONGEST = 15_000;

/**
 * Milliseconds until the next attempt: doubling up to 15 s, with up to a quarter taken off, so that many dashboards
 * do not come back in the same instant.
 */
export function retryDelay(attempts: number, random: number): number {
  const full = Math.min(LONGEST, FIRST * 2 ** Math.min(attempts, 10));
  return Math.round(full * (1 - random / 4));
}
