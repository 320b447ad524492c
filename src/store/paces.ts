/** The part of the store that remembers how fast chats were written to, so that a new start does not begin anew. */
import type { Channel } from '../core/routing.ts';

/** What one chat was sent lately; instants are milliseconds since the epoch. */
export interface KeptPace {
  /** Messages of the last minute, or what may have become one; `digest` also for those that followed one in its storm. */
  sent: readonly { at: number; digest: boolean }[];
  /** Until when the service wants nothing more; null where it did not say. */
  heldUntil: number | null;
}

export interface PaceStore {
  keepPace(channel: Channel, target: string, pace: KeptPace): Promise<void>;
  listPaces(channel: Channel): Promise<{ target: string; pace: KeptPace }[]>;
}
