/** The part of the store for deliveries and the outbox; instants are milliseconds since the epoch. */
import type { ClaimedDelivery, Delivery, DeliveryState, Settlement } from '../core/delivery.ts';
import type { Channel, Route } from '../core/routing.ts';
import type { Page } from './page.ts';

export interface ClaimRequest {
  now: number;
  channel: Channel;
  leaseUntil: number;
  /** At most this many deliveries of one target. */
  perTarget: number;
  /** At most this many deliveries in all. */
  limit: number;
  /** The target that the last claim ended with: this one continues after it, so that every target gets its turn. */
  after: string;
  /** Targets to skip because they have enough in flight. */
  busy: readonly string[];
}

export interface DeliveryStore {
  /** Newest first; in one state, or in any if `state` is null. */
  listDeliveries(caseId: string, filter: { state: DeliveryState | null } & Page): Promise<Delivery[]>;
  claimDeliveries(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** False if the claim is no longer the latest, or the delivery is finished already. */
  settleDelivery(id: number, fence: number, settlement: Settlement): Promise<boolean>;
  /** Makes due what a daemon that is gone had claimed; called once, before the first claim. */
  releaseLeases(now: number): Promise<void>;
  /** When the next pending delivery of any target is due, or null. */
  nextDeliveryAt(): Promise<number | null>;
}

/** What people do with deliveries. */
export interface DeliveryActs {
  /** An alert about no real snitch, to one target only; null if the case has no such target. */
  createTestDelivery(caseId: string, route: Route, now: number): Promise<Delivery | null>;
  /**
   * Due now, with all its attempts to come, unless it was delivered or dropped; null if the case has no such delivery.
   */
  retryDelivery(caseId: string, id: number, now: number): Promise<Delivery | null>;
}
