/**
 * Deliveries: how an alert reaches the team.
 *
 * - **delivery**: one tracked send of an alert to one target. It is `pending` until it is `delivered`, `dead` when
 *   Snitch gave up, or `dropped` when what it would say was over before its time came.
 * - **channel**: the way to a target: a webhook, an email, or a kind of service such as `ntfy`.
 * - **target**: the id of a webhook or of a channel of the case, or an email address.
 * - **outbox**: the deliveries that are pending.
 * - **claim**: one sender's right to one attempt, until its **lease** ends; each later claim has a higher
 *   **fence**, and only the latest claim counts.
 * - **settlement**: how an attempt ended.
 *
 * All instants are milliseconds since the Unix epoch.
 */
import type { Alert } from './alert.ts';
import type { CaseChannel, ChannelSettings, Incident } from './channel.ts';
import type { Wait } from './hours/wait.ts';
import type { Channel } from './routing.ts';
import type { Webhook } from './webhook.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'dead', 'dropped'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Delivery {
  id: number;
  caseId: string;
  alertId: string;
  channel: Channel;
  /** The id of a webhook or of a channel, or an email address. */
  target: string;
  /** What its alert is about; the snitch is null for a notice. */
  about: { type: Alert['type']; snitch: { token: string; name: string } | null };
  state: DeliveryState;
  /** Only while it waits for its time; absent after that. */
  waits?: Wait;
  /** Whether an attempt is under way: it is already counted, and the last error is that of the attempt before. */
  sending: boolean;
  attempts: number;
  /** For a dropped delivery, why it was dropped. */
  lastError: string | null;
  /** Null unless pending. */
  nextAttemptAt: number | null;
  deliveredAt: number | null;
}

export interface AlertWithDeliveries {
  alert: Alert;
  deliveries: Delivery[];
}

/** A delivery that the caller alone may send until the lease ends. */
export interface ClaimedDelivery {
  id: number;
  /** Names this claim: a settlement with an older fence changes nothing. */
  fence: number;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** Why the one before failed; null if there was none. */
  lastError: string | null;
  channel: Channel;
  target: string;
  alert: Alert;
  /** What the job printed at the check-in that raised the alert, if that is kept; for emails only. */
  output?: string;
  case: { id: string; name: string; timezone: string };
  /** The target's webhook; null for an email, or when the webhook was deleted. */
  webhook: Webhook | null;
  /** For channels only. */
  recipient?: Recipient;
}

/** The channel that an alert goes to, and the incident that it belongs to there. */
export interface Recipient {
  /** Null when it was deleted. */
  channel: CaseChannel | null;
  incident: Incident;
}

/** A lasting alarm that must be repeated to a service. */
export interface Repeat {
  channelId: string;
  token: string;
  alert: Alert;
  recipient: Recipient;
  case: ClaimedDelivery['case'];
}

export type Settlement =
  /** `told` only for a channel: the service's own id for the message, if it gave one. */
  | { kind: 'delivered'; at: number; told?: { reference: string | null; settings?: ChannelSettings } }
  | { kind: 'retry'; at: number; error: string }
  /** `refusedAt` only if a channel refused for good, and would refuse again. */
  | { kind: 'dead'; error: string; refusedAt?: number }
  /** Not tried after all (the daemon is stopping): due again at once, and the attempt does not count. */
  | { kind: 'released' };
