/** What the sweep is given. */
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';

export interface SweeperOptions {
  store: Store;
  /** Milliseconds since the epoch, as the operating system tells them. */
  clock: () => number;
  /** Milliseconds of a clock that never jumps, which tell whether sweeps still end. */
  monotonic: () => number;
  logger: Logger;
  /** Called after work that took long and much memory. */
  afterLongWork?: () => void;
}
