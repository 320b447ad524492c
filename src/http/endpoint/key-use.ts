import type { ApiKey } from '../../core/api-key.ts';
import type { Store } from '../../store/store.ts';
import { MINUTE } from '../../text/durations.ts';

/** The last use of a key is recorded at most this often, in milliseconds. */
const USE_RECORDED_EVERY = MINUTE;

/** @returns a function that notes when a key was last used */
export function createUseRecorder(store: Pick<Store, 'recordKeyUse'>) {
  const usesRecorded = new Map<string, number>();
  return function recordUse({ id }: Pick<ApiKey, 'id'>, now: number): void {
    if (Math.abs(now - (usesRecorded.get(id) ?? 0)) < USE_RECORDED_EVERY) return;
    usesRecorded.set(id, now);
    // The time of the last use is a convenience: a disk that refuses it must not refuse the request.
    store.recordKeyUse(id, now).catch(() => usesRecorded.delete(id));
  };
}
