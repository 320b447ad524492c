/** The part of the store for the routes of webhooks and members; those of channels stand in `channels.ts`. */

import type { RouteRule } from '../core/channel.ts';
import type { Outage } from '../core/explanation/audience.ts';
import type { Route } from '../core/routing.ts';

export interface RouteActs {
  /** Also for what waits already. @param target a webhook or a member of the case: the caller has looked */
  updateRoute(caseId: string, target: Route, changes: Partial<RouteRule>): Promise<RouteRule>;
}

export interface RouteStore {
  /** Of those that have one, by `routeKey`; the others get everything, and at once. */
  listRoutes(caseId: string): Promise<ReadonlyMap<string, RouteRule>>;
  /** The outage that a snitch is in, and whom it was told; null where it is in none. */
  findOutage(caseId: string, token: string): Promise<Outage | null>;
}
