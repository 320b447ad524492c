/** How the alert that is held stands in the row of a state. */
import type { Held } from '../../../core/needs/needs.ts';

/** Of a snitch that needs something while no alert of it is held; null stands for one that needs nothing. */
export const NOTHING_HELD = '{}';

export function heldIn(needs: string | null): Held | null {
  return needs === null || needs === NOTHING_HELD ? null : (JSON.parse(needs) as Held);
}

/** @param before what the row had, which says whether the snitch needs anything */
export function heldText(held: Held | null, before: string | null): string | null {
  if (held !== null) return JSON.stringify(held);
  return before === null ? null : NOTHING_HELD;
}
