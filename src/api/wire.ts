/** The shapes that travel over the HTTP API (`spec §2`, `decisions: Beyond the contract`). Times are ISO 8601, UTC. */

import type { WireAcknowledgement, WireHold, WireSilenced } from './wire-kept-back.ts';

export type WireStatus = 'pending' | 'healthy' | 'failed' | 'errored' | 'paused';

export interface WireSnitch {
  token: string;
  href: string;
  name: string;
  /** What the status page calls it; null for its name. Older servers leave it out. */
  public_name?: string | null;
  tags: string[];
  notes: string;
  status: WireStatus;
  /** Why it is failed or errored; null for others, and if that is not known. Older servers leave it out. */
  reason?: string | null;
  checked_in_at: string | null;
  /** The newest check-in that said how a run ended, healthy or not. Older servers leave it out. */
  last_report?: WireReport | null;
  check_in_url: string;
  interval: string;
  /** The older form of `interval`, for clients that know only this one. */
  type: { interval: string };
  alert_type: 'basic' | 'smart';
  alert_email: string[];
  /** When the job is due, if not by its interval; null for none. Older servers leave this and the next two out. */
  schedule?: WireSchedule | null;
  /** The time zone of the schedule; null for the case's. */
  timezone?: string | null;
  /** How many seconds after the expected time a check-in may come; null for the default. */
  grace?: number | null;
  /** When the next check-in is due at the latest; null while none is awaited. Older servers leave it out. */
  deadline?: string | null;
  /** The deadline that a failed snitch missed; null for others. Older servers leave it out. */
  missing_since?: string | null;
  /** The silence that covers it; null for none. Older servers leave it out. */
  silenced?: WireSilenced | null;
  /** Seconds that a run may take from its reported start; null if that is not watched. Older servers leave it out. */
  max_runtime?: number | null;
  /** Seconds; null for any. Older servers leave this and the next two out. */
  min_runtime?: number | null;
  /** This many error check-ins in a row make it errored. */
  failures_before_alert?: number;
  /** What the values that the job reports must be; null for nothing. */
  expect?: WireExpectation[] | null;
  /** Tokens and `tag:<tag>` of what must be well for a missed deadline to alert. Older servers leave it out. */
  needs?: string[];
  /** The held alert of its failure, about which nobody was told; null for none. Older servers leave it out. */
  held?: WireHold | null;
  /** Who has seen the current alarm; null for nobody, and if there is no alarm. Older servers leave it out. */
  acknowledged?: WireAcknowledgement | null;
  created_at: string;
}

/** What one reported value must be; null for no limit. */
export interface WireExpectation {
  value: string;
  min: number | null;
  max: number | null;
  /** Factors of the median of the last 20 successful runs. */
  of_usual: readonly [number | null, number | null] | null;
  /** Whether a run that does not report it is a failure. */
  required: boolean;
}

export interface WireReport {
  at: string;
  outcome: 'healthy' | 'error';
  exit_status: number | null;
  message: string | null;
  /** Why a run that ended well counts as an error; absent for any other. */
  reason?: string | undefined;
}

export interface WireCheckIn {
  id: string;
  at: string;
  outcome: 'healthy' | 'error' | 'start' | 'log';
  exit_status: number | null;
  message: string | null;
  duration_ms: number | null;
  source: string | null;
  /** What the job printed, at most 10 KiB. */
  output: string | null;
  /** The numbers that the job reported, by name; null for none. Older servers leave this and the next two out. */
  values?: Readonly<Record<string, number>> | null;
  /** What could not be read of them, in words; nearly always empty. */
  dropped_values?: readonly string[];
  /** Why a run that ended well counts as an error; null for any other. */
  reason?: string | null;
}

export interface WireCase {
  id: string;
  name: string;
  timezone: string;
  members: string[];
  reminders: 'period' | 'hourly' | 'daily' | 'off';
  max_snitches: number | null;
  error_notices: boolean;
  on_hold: boolean;
  created_at: string;
}

export interface WireApiKey {
  id: string;
  name: string;
  scope: 'read' | 'write' | 'provision' | 'admin';
  created_at: string;
  last_used_at: string | null;
  /** The key itself, only in the answer that creates it. */
  key?: string;
}

export interface WireWebhook {
  id: string;
  /** Without credentials. */
  url: string;
  /** Present only if the webhook also gets notices about the service itself (`service.blind`). */
  notices?: true | undefined;
  created_at: string;
  /** Only in the answer that creates it or rotates it. */
  secret?: string;
}

/** A daily window on some days; if its end is not later than its beginning, it ends on the next day. */
export interface WireHours {
  timezone: string;
  /** Of `mon` to `sun`. */
  days: string[];
  /** `HH:MM` */
  from: string;
  to: string;
}

/** One way in which alerts of the case are sent: a channel, a webhook or a member. */
export interface WireChannel {
  id: string;
  /** The kind of service, `webhook` or `email`. */
  kind: string;
  name: string;
  /** Secrets are `***`. */
  settings: Record<string, string>;
  /** Of `missing`, `errored`, `reporting`, `paused` and `blind`. */
  events: string[];
  /** Only alerts of snitches with one of these tags; empty for all. */
  tags: string[];
  /** Seconds: an alarm is sent only if it lasts this long and nobody acknowledges it. */
  after: number;
  /** Null for always. */
  hours: WireHours | null;
  /** What the service refused for good, until something is delivered again; null for nothing. */
  refused: { at: string; error: string } | null;
  created_at: string;
}

/** A channel as it would be stored. */
export type WireCheckedChannel = Omit<WireChannel, 'id' | 'refused' | 'created_at'>;

export interface WireDelivery {
  id: string;
  /** The id of the alert. */
  alert: string;
  /** `webhook`, `email`, or the kind of a channel. */
  channel: string;
  /** An email address, the URL of a webhook without credentials, or the name of a channel. */
  target: string;
  /** The type of the alert. */
  type: string;
  /** The snitch as it was when the alert was decided; null for a notice about the service itself. */
  snitch: { token: string; name: string } | null;
  state: 'pending' | 'delivered' | 'dead' | 'dropped';
  /**
   * Only if it waits for its time: `after`, or `hours` for the next opening of its target; both are dropped if what
   * they report ends before that. `opening` waits for the hours too, but is sent in any case.
   */
  waits?: 'after' | 'hours' | 'opening';
  /** Whether an attempt is under way. `attempts` already counts it, while `last_error` is from the attempt before. */
  sending: boolean;
  attempts: number;
  last_error: string | null;
  next_attempt_at: string | null;
  delivered_at: string | null;
}

export interface WireAlert {
  id: string;
  type: string;
  timestamp: string;
  /** As in the webhook's payload; null for a notice about the service itself. */
  snitch: {
    token: string;
    name: string;
    notes: string;
    tags: string[];
    status: string;
    previous_status: string;
  } | null;
  deliveries: WireDelivery[];
  /** Why, in words; absent on a notice, and on alerts of older versions. */
  reason?: string;
  /** Only if the alert stands for many changes of a snitch that alerts too often. */
  flapping?: { phase: 'begun' | 'goes on' | 'over'; changes: number; since: string; changed_at: string };
  /** Only on `service.refused`: the channel whose service refuses what is sent there, and why. */
  refusal?: { channel: { id: string; name: string; kind: string }; error: string };
  /** Only on `service.blind`: the window in which no check-in could be received. */
  notice?: {
    from: string;
    to: string;
    postponed: string[];
    postponed_count: number;
    /** With their new deadlines, null for none, earliest first; empty in older notices. */
    snitches: { token: string; name: string; deadline: string | null }[];
  };
}

/** Whom the alerts of the case reach, except for snitches with addresses of their own. */
export interface WireAudience {
  emails: string[];
  /** URLs without credentials. */
  webhooks: string[];
  /** Names of channels. Older servers leave it out. */
  channels?: string[];
  /** Those among them that did not accept what they were last sent, and why. Older servers leave it out. */
  failing?: { channel: string; name: string; why: string }[];
  /** False if no mail server is configured: then nothing is sent to the email addresses. */
  sends_email: boolean;
  /** Why a snitch without tags and addresses of its own alerts nobody, in words; null if it alerts somebody. */
  nobody?: string | null;
  /**
   * The snitches whose alerts reach nobody: some of their names, whether there are more, and whether it is all of them.
   * Only on request.
   */
  unreached?: { names: string[]; more: boolean; all: boolean };
}

export interface WireError {
  type: string;
  error: string;
  validations?: { attribute: string; message: string }[];
}

/** A snitch and the name of the file that it is managed in. */
export interface WireOwnership {
  token: string;
  owner: string;
}

/** A snitch from elsewhere in the form in which it would be stored. */
export type WireImported = Pick<
  WireSnitch,
  | 'name'
  | 'public_name'
  | 'interval'
  | 'alert_type'
  | 'alert_email'
  | 'notes'
  | 'tags'
  | 'schedule'
  | 'timezone'
  | 'grace'
  | 'max_runtime'
  | 'min_runtime'
  | 'failures_before_alert'
  | 'expect'
  | 'needs'
> & { token: string | null };

export type WireCaseSettings = Pick<WireCase, 'name' | 'timezone' | 'members' | 'reminders'>;

/** What an import would be refused for. Attributes look like `snitches[0].name` or `case.timezone`. */
export interface WireImportCheck {
  /** The snitches without faults, in their normal form. */
  snitches: WireImported[];
  case: Partial<WireCaseSettings>;
  problems: { attribute: string; message: string }[];
  /** How many more snitches the case may have; null for no limit. */
  room: number | null;
  /** The channels without faults, in their normal form: only if the request had channels, and the server knows them. */
  channels?: WireCheckedChannel[];
  /** How many more webhooks and channels the case may have. */
  channel_room?: number;
}

/** When a job is due: one of the three. */
export type WireSchedule = { cron: string } | { calendar: string } | { every: number };

/** How a login to the mail server went, and a test mail if one was sent. */
export interface WireMailCheck {
  /** Host and port of the mail server; null if email is off. */
  server: string | null;
  /** What went wrong, in words; null if nothing did. */
  problem: string | null;
}
