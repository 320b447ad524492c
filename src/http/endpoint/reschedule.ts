/** What follows for the snitches of a case from a change of its rules. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../store/store.ts';

/** How long an answer waits for it, in milliseconds. */
const AWAITED = 2_000;

/**
 * Sets the deadlines anew that the changed rules move, so that the next call sees them. A million take a minute, for
 * which no client waits: the sweep does what is left, even after a restart.
 */
export async function rescheduleForAWhile(
  store: Pick<Store, 'rescheduleSlice'>,
  clock: () => number,
): Promise<void> {
  const until = performance.now() + AWAITED;
  while (performance.now() < until && (await store.rescheduleSlice(clock()))) await nextTurn();
}
