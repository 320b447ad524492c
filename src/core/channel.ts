/** Services that a case's alerts are sent to beside email and webhooks (`extensions: Who is told, and how`). */
import { MINUTE } from '../text/durations.ts';
import { type Alert, BLIND_NOTICE, REFUSAL_NOTICE } from './alert.ts';

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

/** By name. Which there are, and which of them are secret, is in `channel-settings.ts`. */
export type ChannelSettings = Readonly<Record<string, string>>;

/** A channel of a case. */
export interface CaseChannel {
  id: string;
  caseId: string;
  kind: ChannelKind;
  name: string;
  /** With secrets: never to be shown or logged. */
  settings: ChannelSettings;
  events: readonly ChannelEvent[];
  /** Only alerts of snitches with one of these; empty for all. */
  tags: readonly string[];
  /** The last permanent refusal, until something is delivered again or the settings change. */
  refused: { at: number; error: string } | null;
  createdAt: number;
}

/** What can be changed of a channel. */
export type ChannelFields = Pick<CaseChannel, 'name' | 'settings' | 'events' | 'tags'>;

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
