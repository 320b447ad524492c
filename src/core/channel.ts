/** Services that a case's alerts are sent to beside email and webhooks (`extensions: Who is told, and how`). */
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

/** Such a service hears only of alarms and of their end: anything else would open what nobody closes. */
export function keepsIncidents(kind: string): boolean {
  return KEEPS_INCIDENTS.has(kind);
}

/**
 * How often a service is told again of an alarm that lasts, in milliseconds, where it would otherwise end by itself.
 */
export const REPEAT_EVERY = MINUTE;

/** What a channel may take: the four alerts of a snitch, and `blind` for notices about the service itself. */
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

/** What a channel has, and what a webhook or a member may have. */
export interface RouteRule {
  events: readonly ChannelEvent[];
  /** Only alerts of snitches with one of these; empty for all. */
  tags: readonly string[];
  /** Seconds: an alarm is told only if it lasts so long and nobody acknowledges. */
  after: number;
  /** Null for always. */
  hours: Hours | null;
}

/** In seconds. */
export const LONGEST_AFTER = (7 * DAY) / SECOND;

/** Of a member and, with the notices that it wants, of a webhook: as the contract has it. */
export const EVERYTHING: RouteRule = { events: CHANNEL_EVENTS, tags: [], after: 0, hours: null };

/** Whether a route changes nothing: it is then as if there were none. @param isWebhook notices are a matter of their own there */
export function isEverything({ events, tags, after, hours }: RouteRule, isWebhook: boolean): boolean {
  const all = EVERYTHING.events.filter((event) => !(isWebhook && event === 'blind'));
  return all.every((event) => events.includes(event)) && tags.length === 0 && after === 0 && hours === null;
}

/** By name. Which there are, and which of them are secret, is in `channel-settings.ts`. */
export type ChannelSettings = Readonly<Record<string, string>>;

/** A channel of a case. */
export interface CaseChannel extends RouteRule {
  id: string;
  caseId: string;
  kind: ChannelKind;
  name: string;
  /** With secrets: never to be shown or logged. */
  settings: ChannelSettings;
  /** The last permanent refusal, until something is delivered again or the settings change. */
  refused: { at: number; error: string } | null;
  createdAt: number;
}

/** What can be changed of a channel. */
export type ChannelFields = Pick<CaseChannel, 'name' | 'settings'> & RouteRule;

/**
 * One outage of a snitch, from its first alarm to its recovery. Services are told its key with each of its alerts, so
 * that they close or thread what belongs together.
 */
export interface Incident {
  /** The id of the alert that opened it. */
  key: string;
  /** The name that the snitch had then: what identifies an alarm must not change with a new name. */
  name: string;
  /** When it was opened, in milliseconds since the epoch. */
  since: number;
  /** The message of the alarm as the service knows it, where the service said so. */
  reference: string | null;
}
