/** Work on very many snitches that one call asks for. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long an answer waits for such work, in milliseconds. */
const AWAITED = 2_000;

/**
 * Works in slices, so that the next call sees what this one has done. A million snitches take a minute, for which no
 * client waits: the sweep does what is left, even after a restart.
 *
 * @param slice returns false when nothing is left
 * @returns whether nothing is left
 */
export async function forAWhile(slice: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + AWAITED;
  while (await slice()) {
    if (performance.now() >= until) return false;
    await nextTurn();
  }
  return true;
}
