import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks, in milliseconds. */
const SHORTEST = 5;
const LONGEST = 100;

/**
 * Waits until something is true, and fails if it does not become so. The longer it has waited, the less often it looks,
 * each time about a tenth of that: a look may be a connection to a database, a process or a request.
 *
 * @param what the end of the sentence "in vain waited until …"
 * @param within milliseconds, more than any machine needs
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = String(condition),
  within = 30_000,
): Promise<void> {
  const begun = elapsed();
  while (!(await condition())) {
    const waited = elapsed() - begun;
    if (waited > within) throw new Error(`in vain waited until ${what}`);
    await sleep(Math.min(LONGEST, Math.max(SHORTEST, waited / 10)));
  }
}

/** In milliseconds; no test sets this clock, as some set `Date` and `performance`. */
function elapsed(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
