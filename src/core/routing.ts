/** Who is told of an alert (`spec §2 alert_email`, `decisions: Alerts`). */

export type Channel = 'webhook' | 'email';

/** One send that the outbox tracks: `target` is a webhook's id or an email address. */
export interface Route {
  channel: Channel;
  target: string;
}

export interface Targets {
  /** Email addresses of the case's members. */
  members: readonly string[];
  /** Ids of the case's webhooks. */
  webhooks: readonly string[];
}

/** Every webhook of the case, and the snitch's own list of addresses where it has one, else all members. */
export function route(alertEmail: readonly string[], { members, webhooks }: Targets): Route[] {
  const addresses = alertEmail.length > 0 ? alertEmail : members;
  return [...routeToWebhooks(webhooks), ...routeToAddresses(addresses)];
}

/** @param webhooks their ids */
export function routeToWebhooks(webhooks: readonly string[]): Route[] {
  return webhooks.map((target) => ({ channel: 'webhook', target }));
}

/** One delivery per address, whatever the spelling of its letters. */
export function routeToAddresses(addresses: readonly string[]): Route[] {
  const distinct = new Map(addresses.map((address) => [address.toLowerCase(), address]));
  return [...distinct.values()].map((target): Route => ({ channel: 'email', target }));
}
