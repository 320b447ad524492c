/**
 * When what the public sees is made anew: after a change, but only so often that it stays a small part of what the server does,
 * however many ask for it and however often its snitches change.
 */
import type { Store } from '../../store/store.ts';

/** Anew only so long after it was begun the last time, or so many times as long as that took; milliseconds. */
const REST = 250;
const SHARE = 4;

/** Without a change, so long: then a period may have ended, or planned work begun. */
const LASTS = 5_000;
const LASTING_SHARE = 20;

export interface Made {
  /** In monotonic milliseconds. */
  begunAt: number;
  tookMs: number;
  /** Whether something has changed since it was begun. */
  isOld: boolean;
}

/** @param now monotonic milliseconds */
export function isDue({ isOld, begunAt, tookMs }: Made, now: number): boolean {
  const age = now - begunAt;
  return isOld ? age >= Math.max(REST, SHARE * tookMs) : age >= Math.max(LASTS, LASTING_SHARE * tookMs);
}

/** Calls back with the case in which something has changed that others are shown; with null where that may be any. */
export function onShownChange(
  store: Pick<Store, 'onChange'>,
  changed: (caseId: string | null) => void,
): void {
  store.onChange((change) => {
    if (change.kind === 'reset') changed(null);
    if (change.kind === 'shown' || change.kind === 'silences') changed(change.caseId);
  });
}
