import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until something is true, and fails if it does not become so.
 *
 * @param what the end of the sentence "in vain waited until …"
 * @param within milliseconds, more than any machine needs
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = String(condition),
  within = 30_000,
): Promise<void> {
  const end = elapsed() + within;
  while (!(await condition())) {
    if (elapsed() > end) throw new Error(`in vain waited until ${what}`);
    await sleep(5);
  }
}

/** In milliseconds; no test sets this clock, as some set `Date` and `performance`. */
function elapsed(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
