/** What the sweep needs. */
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { RepeatedFailure } from '../text/repeated-failure.ts';

export interface SweeperOptions {
  store: Store;
  /** Milliseconds since the epoch, as the operating system tells them. */
  clock: () => number;
  /** Milliseconds of a clock that never jumps, which show whether sweeps still end. */
  monotonic: () => number;
  logger: Logger;
  /** Called after work that took long and much memory. */
  afterLongWork?: () => void;
}

/**
 * Clients are assumed to wait no longer than this for an answer, in milliseconds. After that, there is no knowing
 * who gave up waiting at a held socket.
 */
export const LONGEST_WAIT = 30_000;

/** While the database is away every pass fails, each second. */
export function failureOf({ logger, monotonic }: SweeperOptions): RepeatedFailure {
  const message = 'the sweep failed; it is tried again each second, and logged again each minute';
  return new RepeatedFailure({ logger, monotonic, message, over: 'the sweep works again' });
}
