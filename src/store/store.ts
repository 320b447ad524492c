/**
 * The store as the rest of the program sees it: every method is one atomic unit over plain data, and its promise
 * resolves only when what it wrote is durable on disk. Where the disk refuses, a method throws `StoreUnavailable`
 * and nothing of the call was kept. Instants are milliseconds since the epoch.
 */
import type { AlertDetails, AlertKind, AlertSnitch, BLIND_NOTICE, BlindNotice } from '../core/alert.ts';
import type { BlindWindow } from '../core/blind-window.ts';
import type { Interval } from '../core/interval.ts';
import type { Channel } from '../core/routing.ts';
import type { AlertType, CaseRules, PauseUntil, SnitchState, Status } from '../core/snitch.ts';
import type { BlindnessStore } from './blindness.ts';
import type { OwnershipStore } from './ownership.ts';

export type { OrderlyStop } from './blindness.ts';

export interface Case extends CaseRules {
  id: string;
  name: string;
  /** Email addresses of the team. */
  members: string[];
  /** Null for no limit. */
  maxSnitches: number | null;
  onHold: boolean;
  createdAt: number;
}

export type CaseSettings = Pick<
  Case,
  'name' | 'timezone' | 'members' | 'reminders' | 'errorNotices' | 'maxSnitches' | 'onHold'
>;

export type Scope = 'read' | 'write' | 'admin';

/** An API key without its secret. An admin key belongs to no case: `caseId` is null. */
export interface ApiKey {
  id: string;
  caseId: string | null;
  name: string;
  scope: Scope;
  createdAt: number;
  lastUsedAt: number | null;
}

/** What a person says about a snitch. */
export interface SnitchFields {
  name: string;
  notes: string;
  tags: string[];
  /** The override list; empty for the case's members. */
  alertEmail: string[];
  interval: Interval;
  alertType: AlertType;
}

export interface Snitch extends Omit<SnitchFields, 'interval' | 'alertType'> {
  token: string;
  caseId: string;
  createdAt: number;
  state: SnitchState;
  lastReport: LastReport | null;
}

/** The newest check-in that told how a run ended; `start` and `log` do not. */
export interface LastReport {
  at: number;
  outcome: 'healthy' | 'error';
  exitStatus: number | null;
  message: string | null;
}

/** `start` and `log` are noted and change no state. */
export type CheckInOutcome = 'healthy' | 'error' | 'start' | 'log';

export interface CheckIn {
  token: string;
  /** When it was received. */
  now: number;
  /** When the job checked in: earlier than `now` where it could not reach the service then. */
  at: number;
  outcome: CheckInOutcome;
  exitStatus: number | null;
  message: string | null;
  /** The address that the check-in came from. */
  source: string | null;
  /** Pairs the start of a run with its end. */
  runId: string | null;
  /** What the job printed. */
  output: string | null;
}

export interface CheckInRecord extends Omit<CheckIn, 'token' | 'now' | 'runId'> {
  id: number;
  /** From the start of the run to this check-in, where the start was reported. */
  durationMs: number | null;
}

export interface Webhook {
  id: string;
  caseId: string;
  /** With credentials, if it was given with any: never to be shown or logged. */
  url: string;
  secret: string;
  /** The secret before the last rotation, and until when it signs as well. */
  previousSecret: string | null;
  previousSecretUntil: number | null;
  /** Whether it gets notices about the service itself as well (`service.blind`). */
  notices: boolean;
  createdAt: number;
}

export interface WebhookOptions {
  /** Whether it is sent notices about the service itself, too; false when absent. */
  notices?: boolean;
  /** How many webhooks a case may have; no limit when absent. */
  most?: number;
}

/** The decided fact. `snitch` and `details` are as they were when it was decided; a notice has neither. */
export type Alert = { id: string; caseId: string; at: number } & (
  | { type: AlertKind; token: string; snitch: AlertSnitch; details: AlertDetails; notice: null }
  | { type: typeof BLIND_NOTICE; token: null; snitch: null; details: null; notice: BlindNotice }
);

export type DeliveryState = 'pending' | 'delivered' | 'dead';

export interface Delivery {
  id: number;
  caseId: string;
  alertId: string;
  channel: Channel;
  /** A webhook's id or an email address. */
  target: string;
  /** What its alert says; the snitch is null for a notice. */
  about: { type: Alert['type']; snitch: { token: string; name: string } | null };
  state: DeliveryState;
  /** Whether an attempt is under way: it is counted, and the last error is of the one before. */
  sending: boolean;
  attempts: number;
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
  channel: Channel;
  target: string;
  alert: Alert;
  /** What the job printed at the check-in that raised the alert, where that is kept; for emails only. */
  output?: string;
  case: { id: string; name: string; timezone: string };
  /** The target's webhook; null for an email, or when the webhook was deleted. */
  webhook: Webhook | null;
}

export interface ClaimRequest {
  now: number;
  channel: Channel;
  leaseUntil: number;
  /** At most so many deliveries of one target. */
  perTarget: number;
  /** At most so many deliveries in all. */
  limit: number;
  /** The target that the last claim ended with: this one goes on behind it, so that every target has its turn. */
  after: string;
  /** Targets to pass over because they have enough in flight. */
  busy: readonly string[];
}

export type Settlement =
  | { kind: 'delivered'; at: number }
  | { kind: 'retry'; at: number; error: string }
  | { kind: 'dead'; error: string }
  /** Not tried after all (the daemon stops): due again at once, and the attempt does not count. */
  | { kind: 'released' };

/** Older than an instant, or older than the item of an id, newest first. */
export interface Page {
  limit: number;
  before: { at: number } | { id: string } | null;
  /** Where a page is read in slices: what the slice before ended with, and need not be there any more. */
  behind?: Position;
}

/** An item in a list; alerts are in the order of their time, the others in that of their ids. */
export interface Position {
  id: string;
  at: number | null;
}

export interface DueCursor {
  dueAt: number;
  token: string;
}

export interface DueResult {
  /** How many snitches changed. */
  changed: number;
  /** Where to go on, or null when all that was due has been looked at. */
  next: DueCursor | null;
  /** Snitches whose row could not be applied; the others went on. */
  failures: { token: string; error: unknown }[];
}

/** What has been committed and may concern someone who waits. */
export type Change =
  | { kind: 'deliveries' }
  /** An alert of a snitch was decided, with so many deliveries. */
  | { kind: 'alert'; alertId: string; type: AlertKind; token: string; name: string; deliveries: number }
  /** A snitch was created, changed or deleted. */
  | { kind: 'snitch'; caseId: string; token: string }
  /** A key of a case was deleted; with `keyId` null all of them, or the case is on hold. */
  | { kind: 'access'; caseId: string; keyId: string | null };

export interface Census {
  snitches: Partial<Record<Status, number>>;
  /** Deliveries that are not finished, and since when the first of their alerts waits; null when none does. */
  outbox: { pending: number; oldestAlertAt: number | null };
  /** The earliest deadline, reminder or end of a pause, or null. */
  firstDueAt: number | null;
  /** Length of all blind windows that are kept, in milliseconds. */
  blindMs: number;
}

/** One transaction that wrote something. */
export interface Commit {
  calls: number;
  /** From the first statement to the end of the commit, in milliseconds; the sync is not in it. */
  durationMs: number;
}

export interface StoreHealth {
  /** When the first of the present run of failed writes happened, or null when the last write succeeded. */
  failingSince: number | null;
  /** Commits and syncs since the store was opened. */
  commits: number;
  syncs: number;
}

/**
 * What the server notes about itself: `maintenance` is `on` or `off`; `liveness` is the last instant at which the
 * daemon is known to have lived; `stopped` the orderly stop at that instant, if it was one; `credentials` is `written` when the first start is complete; `retention.now` is
 * up to when retention believes the clock.
 */
export type Setting =
  | 'maintenance'
  | 'liveness'
  | 'stopped'
  | 'credentials'
  | 'retention.cursor'
  | 'retention.now';

export interface Store extends OwnershipStore, BlindnessStore {
  // Cases and keys
  createCase(settings: CaseSettings, now: number): Promise<Case>;
  getCase(id: string): Promise<Case | null>;
  listCases(): Promise<Case[]>;
  updateCase(id: string, changes: Partial<CaseSettings>, now: number): Promise<Case | null>;
  deleteCase(id: string): Promise<boolean>;
  /** Restarts deadlines after a case's rules changed, a slice a call; false when nothing is left to do. */
  rescheduleSlice(now: number): Promise<boolean>;
  /** @param most throws `Invalid` where there are so many already; no limit when absent */
  createApiKey(
    key: { caseId: string | null; name: string; scope: Scope },
    now: number,
    most?: number,
  ): Promise<{ apiKey: ApiKey; key: string }>;
  /** Makes a key that was made elsewhere the one of that name for the server; null takes the one it had. */
  provideAdminKey(name: string, key: string | null, now: number): Promise<void>;
  findApiKey(key: string): Promise<{ apiKey: ApiKey; case: Case | null } | null>;
  getApiKey(id: string): Promise<{ apiKey: ApiKey; case: Case | null } | null>;
  /** Those of a case, or of the server where `caseId` is null. */
  listApiKeys(caseId: string | null): Promise<ApiKey[]>;
  deleteApiKey(caseId: string | null, id: string): Promise<boolean>;
  recordKeyUse(id: string, at: number): Promise<void>;

  // Snitches
  hasRoomForSnitch(caseId: string): Promise<boolean>;
  createSnitch(caseId: string, fields: SnitchFields, now: number): Promise<Snitch>;
  getSnitch(caseId: string, token: string): Promise<Snitch | null>;
  /** In order of creation, keyset by the position that the last slice ended with. */
  listSnitches(
    caseId: string,
    slice: { after: number; limit: number; tags: readonly string[] },
  ): Promise<{ snitches: Snitch[]; next: number | null }>;
  updateSnitch(
    caseId: string,
    token: string,
    changes: Partial<SnitchFields>,
    now: number,
  ): Promise<Snitch | null>;
  addTags(caseId: string, token: string, tags: readonly string[]): Promise<string[] | null>;
  /** Removes the first of `spellings` that the snitch has. */
  removeTag(caseId: string, token: string, spellings: readonly string[]): Promise<string[] | null>;
  deleteSnitch(caseId: string, token: string): Promise<boolean>;
  pauseSnitch(caseId: string, token: string, until: PauseUntil, now: number): Promise<boolean>;
  unpauseSnitch(caseId: string, token: string, now: number): Promise<boolean>;

  // Check-ins
  /** False when no snitch has this token. */
  applyCheckIn(checkIn: CheckIn): Promise<boolean>;
  listCheckIns(caseId: string, token: string, page: Page): Promise<CheckInRecord[] | null>;

  // Sweep
  /** Applies nothing while check-ins were refused and no blind window was opened for that (`refused`). */
  applyDue(now: number, after: DueCursor | null, limit: number): Promise<DueResult>;
  prune(limits: { checkIns: number; olderThan: number; now: number }): Promise<boolean>;

  // Alerts and deliveries
  listAlerts(caseId: string, token: string | null, page: Page): Promise<AlertWithDeliveries[]>;
  /** An alert about no real snitch, to one webhook only; null when there is no such webhook. */
  createTestDelivery(caseId: string, webhookId: string, now: number): Promise<Delivery | null>;
  /** @throws Invalid where the case has as many as `options.most` already */
  createWebhook(caseId: string, url: string, now: number, options?: WebhookOptions): Promise<Webhook>;
  getWebhook(caseId: string, id: string): Promise<Webhook | null>;
  listWebhooks(caseId: string): Promise<Webhook[]>;
  deleteWebhook(caseId: string, id: string): Promise<boolean>;
  /** Gives a webhook a new secret; the one before signs as well until `previousUntil`. */
  rotateWebhookSecret(caseId: string, id: string, previousUntil: number): Promise<Webhook | null>;
  listDeliveries(caseId: string, filter: { state: DeliveryState | null } & Page): Promise<Delivery[]>;
  retryDelivery(caseId: string, id: number, now: number): Promise<Delivery | null>;
  claimDeliveries(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** False when the claim is no longer the latest, or the delivery is finished already. */
  settleDelivery(id: number, fence: number, settlement: Settlement): Promise<boolean>;
  /** Makes due what a daemon that is gone had claimed: called once, before the first claim. */
  releaseLeases(now: number): Promise<void>;
  /** When the next pending delivery of any target is due, or null. */
  nextDeliveryAt(): Promise<number | null>;

  // The server itself
  /** How many snitches have each status, and what waits in the outbox. */
  census(): Promise<Census>;
  getSetting(name: Setting): Promise<string | null>;
  setSetting(name: Setting, value: string): Promise<void>;
  health(): StoreHealth;
  /** In words, where what is stored now would not be found at the next start; null while all is in its place. */
  misplaced(): string | null;
  /** While it is being closed: whether what would not be found is being saved, which must be waited for. */
  isSaving(): boolean;
  /**
   * What was acknowledged in this time is missing from the database that was opened; null where nothing is. It is to be
   * opened as a blind window before anything else is written, because the first write ends the memory of it.
   */
  readonly lost: BlindWindow | null;
  /** Called after a change is durable. */
  onChange(listener: (change: Change) => void): void;
  /** Resolves with the reason when the store can no longer be trusted and the process must end. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}
