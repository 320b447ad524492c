/** The part of the store that remembers how fast chats were written to, so that a restart does not forget it. */
import type { Channel } from '../core/routing.ts';

/** What one chat was sent recently; instants are milliseconds since the epoch. */
export interface KeptPace {
  /**
   * Messages of the last minute, or attempts that may have become one; `digest` also for those after one in its storm.
   */
  sent: readonly { at: number; digest: boolean }[];
  /** Until when the service wants nothing more; null if it did not say. */
  heldUntil: number | null;
}

export interface PaceStore {
  keepPace(channel: Channel, target: string, pace: KeptPace): Promise<void>;
  listPaces(channel: Channel): Promise<{ target: string; pace: KeptPace }[]>;
}
