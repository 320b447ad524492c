/** How the row of a state stores the alert that is held. */
import type { Held } from '../../../core/needs/needs.ts';

/** For a snitch that needs something but has no alert held; null is for one that needs nothing. */
export const NOTHING_HELD = '{}';

export function heldIn(needs: string | null): Held | null {
  return needs === null || needs === NOTHING_HELD ? null : (JSON.parse(needs) as Held);
}

/** @param before what the row had, which shows whether the snitch needs anything */
export function heldText(held: Held | null, before: string | null): string | null {
  if (held !== null) return JSON.stringify(held);
  return before === null ? null : NOTHING_HELD;
}
