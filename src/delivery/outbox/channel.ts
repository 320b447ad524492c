/** What each channel supplies: how it sends, how much at a time, and what an answer means. The loop does the rest. */

import type { ClaimedDelivery } from '../../core/delivery.ts';
import type { Channel as ChannelKind } from '../../core/routing.ts';
import type { Digest } from '../messages/digest-entry.ts';
import type { LaneLimits } from './lanes.ts';
import type { Outcome } from './outcome.ts';

/** How much a channel sends at a time. */
export interface Pace extends LaneLimits {
  /** For one send, in milliseconds. A delivery whose lease ends sooner is released instead of being sent. */
  timeout: number;
  /** The most sends to one target at the same time; a channel that groups sends to each target one by one. */
  perTarget: number;
  /** Between the end of a send and the next one to the same target, in milliseconds; none when absent. */
  gap?: number;
}

/** The circumstances of one send. */
export interface Sending {
  /** The webhook's id, the address, the chat: the target as the outbox identifies it. */
  target: string;
  /** In milliseconds since the epoch. */
  now: number;
  /** Aborted when the service stops: the attempt is then given up, and does not count. */
  stop: AbortSignal;
}

/** For channels whose targets are read by people: many alerts that wait for one target become one message. */
export interface Grouping {
  /** How long further alerts for a target wait after a send, in milliseconds. */
  wait: number;
  /** Between two messages of one turn, in milliseconds; none when absent. */
  gap?: number;
  /**
   * The most messages to a target in any 60 s: `few` while alerts are sent one by one, `many` while they are
   * gathered in a digest. No limit when absent.
   */
  perMinute?: { few: number; many: number };
  /** Composes a digest in pieces, giving way to other work in between, and returns a function that sends it. */
  composeDigest(digest: Digest, sending: Sending): Promise<() => Promise<Outcome>>;
}

export interface Channel {
  readonly kind: ChannelKind;
  readonly pace: Pace;
  /** Why nothing can be sent at all, in words: claimed deliveries are then dead at once. Null if it can. */
  readonly off: string | null;
  /** Null if each alert is sent on its own. */
  readonly grouping: Grouping | null;
  /** Sends one alert. Whatever is thrown counts as a failure to be retried. */
  sendAlert(claim: ClaimedDelivery, sending: Sending): Promise<Outcome>;
  /** Lets sends in flight finish, and then closes all connections. */
  retire(): void;
  /** Closes all connections now. */
  close(): Promise<void> | void;
}
