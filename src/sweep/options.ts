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

/** While the database is away every pass fails, each second. */
export function failureOf({ logger, monotonic }: SweeperOptions): RepeatedFailure {
  const message = 'the sweep failed; it is tried again each second, and logged again each minute';
  return new RepeatedFailure({ logger, monotonic, message, over: 'the sweep works again' });
}
