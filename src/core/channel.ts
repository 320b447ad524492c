/** Services, besides email and webhooks, that a case's alerts are sent to (`extensions: Who is told, and how`). */
import { DAY, MINUTE, SECOND } from '../text/durations.ts';
import { type Alert, BLIND_NOTICE, REFUSAL_NOTICE } from './alert.ts';
import type { Hours } from './hours/hours.ts';

export const CHANNEL_KINDS = [
  'ntfy',
  'gotify',
  'pushover',
  'slack',
  'mattermost',
  'discord',
  'teams',
  'google_chat',
  'rocketchat',
  'zulip',
  'telegram',
  'matrix',
  'pagerduty',
  'opsgenie',
  'splunk_oncall',
  'alertmanager',
  'apprise',
  'command',
] as const;

export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export function isChannelKind(kind: string): kind is ChannelKind {
  return (CHANNEL_KINDS as readonly string[]).includes(kind);
}

/** Services that keep an incident open until they are told that it is over. */
const KEEPS_INCIDENTS: ReadonlySet<string> = new Set<ChannelKind>([
  'pagerduty',
  'opsgenie',
  'splunk_oncall',
  'alertmanager',
]);

/** Such a service is told only about alarms and their end: anything else would open an incident that nothing closes. */
export function keepsIncidents(kind: string): boolean {
  return KEEPS_INCIDENTS.has(kind);
}

/** How often a lasting alarm is repeated to a service that would otherwise close it on its own, in milliseconds. */
export const REPEAT_EVERY = MINUTE;

/** What a channel can accept: the four alerts of a snitch, and `blind` for notices about the service itself. */
export const CHANNEL_EVENTS = ['missing', 'errored', 'reporting', 'paused', 'blind'] as const;

export type ChannelEvent = (typeof CHANNEL_EVENTS)[number];

export const DEFAULT_EVENTS: readonly ChannelEvent[] = ['missing', 'errored', 'reporting', 'paused'];

/** Every notice about the service counts as `blind`. */
export function eventOf(type: Alert['type']): ChannelEvent {
  switch (type) {
    case 'snitch.missing':
      return 'missing';
    case 'snitch.errored':
      return 'errored';
    case 'snitch.reporting':
      return 'reporting';
    case 'snitch.paused':
      return 'paused';
    case BLIND_NOTICE:
    case REFUSAL_NOTICE:
      return 'blind';
  }
}

/** Which alerts go to a target, and when. Every channel has one; a webhook or a member may have one. */
export interface RouteRule {
  events: readonly ChannelEvent[];
  /** Only alerts of snitches with one of these tags; empty for all. */
  tags: readonly string[];
  /** Seconds: an alarm is sent only if it lasts this long and nobody acknowledges it. */
  after: number;
  /** Null for always. */
  hours: Hours | null;
}

/** In seconds. */
export const LONGEST_AFTER = (7 * DAY) / SECOND;

/** The rule of a member without a route and, with the notices it wants, of such a webhook: as the contract has it. */
export const EVERYTHING: RouteRule = { events: CHANNEL_EVENTS, tags: [], after: 0, hours: null };

/**
 * Whether a route changes nothing, as if there were none.
 *
 * @param isWebhook a webhook has a setting of its own for notices
 */
export function isEverything({ events, tags, after, hours }: RouteRule, isWebhook: boolean): boolean {
  const all = EVERYTHING.events.filter((event) => !(isWebhook && event === 'blind'));
  return all.every((event) => events.includes(event)) && tags.length === 0 && after === 0 && hours === null;
}

/** By name. `channels/settings.ts` says which settings there are, and which are secret. */
export type ChannelSettings = Readonly<Record<string, string>>;

/** A channel of a case. */
export interface CaseChannel extends RouteRule {
  id: string;
  caseId: string;
  kind: ChannelKind;
  name: string;
  /** With secrets: never to be shown or logged. */
  settings: ChannelSettings;
  /** The last permanent refusal; null again once something is delivered or the settings change. */
  refused: { at: number; error: string } | null;
  createdAt: number;
}

/** What can be changed of a channel. */
export type ChannelFields = Pick<CaseChannel, 'name' | 'settings'> & RouteRule;

/**
 * One outage of a snitch, from its first alarm to its recovery. Services get its key with each of its alerts, so they
 * can close or thread what belongs together.
 */
export interface Incident {
  /** The id of the alert that opened it. */
  key: string;
  /** The snitch's name at that time: what identifies an alarm must not change when the snitch is renamed. */
  name: string;
  /** When it was opened, in milliseconds since the epoch. */
  since: number;
  /** The service's own id for the alarm's message, if it gave one. */
  reference: string | null;
}
