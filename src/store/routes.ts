/** The part of the store for the routes of webhooks and members; those of channels are in `channels.ts`. */

import type { RouteRule } from '../core/channel.ts';
import type { Outage } from '../core/explanation/audience.ts';
import type { Route } from '../core/routing.ts';

export interface RouteActs {
  /**
   * Also applies to what waits already.
   *
   * @param target a webhook or a member of the case, as the caller has checked
   */
  updateRoute(caseId: string, target: Route, changes: Partial<RouteRule>): Promise<RouteRule>;
}

export interface RouteStore {
  /** The routes of those that have one, by `routeKey`; the others get everything at once. */
  listRoutes(caseId: string): Promise<ReadonlyMap<string, RouteRule>>;
  /** The outage that a snitch is in, and who was told of it; null if it is in none. */
  findOutage(caseId: string, token: string): Promise<Outage | null>;
}
