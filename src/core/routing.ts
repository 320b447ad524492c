/**
 * Who is told of an alert, and why not the others (`spec §2 alert_email`, `decisions: Alerts`,
 * `extensions: Who is told, and how`).
 */
import { type CaseChannel, type ChannelEvent, type ChannelKind, keepsIncidents } from './channel.ts';
import type { Wait } from './routes/wait.ts';

export type Channel = 'webhook' | 'email' | ChannelKind;

/** One send that the outbox tracks: `target` is the id of a webhook or of a channel, or an email address. */
export interface Route {
  channel: Channel;
  target: string;
}

/** A channel as far as it decides what is sent there. */
export type RoutedChannel = Pick<CaseChannel, 'id' | 'kind' | 'events' | 'tags'>;

/** With the time of its first attempt; without one it goes at once. */
export interface PlannedRoute extends Route {
  /** In milliseconds since the epoch. */
  at?: number;
  waits?: Wait;
}

export interface Targets {
  /** Email addresses of the case's members. */
  members: readonly string[];
  /** Ids of the case's webhooks. */
  webhooks: readonly string[];
  channels: readonly RoutedChannel[];
}

/** What an alert is about, as far as it decides who is told. */
export interface Occasion {
  event: ChannelEvent;
  /** Of the snitch; none for a notice. */
  tags: readonly string[];
  /** Whether nothing came before: the snitch was pending. */
  isFirst: boolean;
  /** The targets that were sent an earlier alert of the same outage. */
  told: ReadonlySet<string>;
}

/**
 * Every webhook of the case; the snitch's own list of addresses where it has one, else all members; and the channels
 * that take it.
 */
export function route(
  alertEmail: readonly string[],
  { members, webhooks, channels }: Targets,
  occasion: Occasion,
): Route[] {
  const addresses = alertEmail.length > 0 ? alertEmail : members;
  return [
    ...routeToWebhooks(webhooks),
    ...routeToAddresses(addresses),
    ...routeToChannels(channels, occasion),
  ];
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

export function routeToChannels(channels: readonly RoutedChannel[], occasion: Occasion): Route[] {
  return channels
    .filter((channel) => whyPassedOver(channel, occasion) === null)
    .map(({ id, kind }) => ({ channel: kind, target: id }));
}

/**
 * Whom a case tells that one of its channels is refused: the others that people read, whatever their events. Nobody
 * would close what that opened at a service for incidents.
 */
export function routeOfRefusal(channels: readonly RoutedChannel[], refusedId: string): Route[] {
  return channels
    .filter(({ id, kind }) => id !== refusedId && !keepsIncidents(kind))
    .map(({ id, kind }) => ({ channel: kind, target: id }));
}

/** Why a channel is not sent an alert, in words that follow its name; null where it is. */
export function whyPassedOver({ id, kind, events, tags }: RoutedChannel, occasion: Occasion): string | null {
  const { event, isFirst, told } = occasion;
  if (!events.includes(event)) return `takes no ${event === 'blind' ? 'notices' : `${event} alerts`}`;
  if (event === 'blind') return keepsIncidents(kind) ? 'hears only of alarms and their end' : null;
  if (tags.length > 0 && !tags.some((tag) => occasion.tags.includes(tag))) {
    return `takes only snitches tagged ${tags.join(' or ')}`;
  }
  const follows = event === 'reporting' || event === 'paused';
  if (keepsIncidents(kind)) return follows && !told.has(id) ? 'was not told of an alarm' : null;
  const takesAlarms = events.includes('missing') || events.includes('errored');
  const mustKnow = event === 'reporting' && !isFirst && takesAlarms;
  return mustKnow && !told.has(id) ? 'was not told of the alarm' : null;
}
