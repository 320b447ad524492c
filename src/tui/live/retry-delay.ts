const FIRST = 500;
const LONGEST = 15_000;

/**
 * Milliseconds until the next attempt: they double up to 15 s. Up to a quarter is taken off at random, so that many
 * dashboards do not come back at the same instant.
 */
export function retryDelay(attempts: number, random: number): number {
  const full = Math.min(LONGEST, FIRST * 2 ** Math.min(attempts, 10));
  return Math.round(full * (1 - random / 4));
}
