/**
 * When to make again what the public sees: after a change, but not so often that it takes more than a small part of the
 * server's time, however many people look and however often the snitches change.
 */
import type { Store } from '../../store/store.ts';

/** The least time from one start to the next, in milliseconds, and as a multiple of how long the last one took. */
const REST = 250;
const SHARE = 4;

/** The same without a change: by then a period may have ended, or planned work begun. */
const LASTS = 5_000;
const LASTING_SHARE = 20;

export interface Made {
  /** Monotonic milliseconds. */
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

/** Calls back with the case in which something public has changed; with null if that may be any case. */
export function onShownChange(
  store: Pick<Store, 'onChange'>,
  changed: (caseId: string | null) => void,
): void {
  store.onChange((change) => {
    if (change.kind === 'reset') changed(null);
    if (change.kind === 'shown' || change.kind === 'silences') changed(change.caseId);
  });
}
