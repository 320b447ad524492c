/**
 * The store as the rest of the program sees it: every method is one atomic unit over plain data, and its promise
 * resolves only when what it wrote is durable on disk. If the database or its disk refuses, a method throws
 * `StoreUnavailable` and nothing of the call was kept, except that a commit whose answer was lost on the way from a
 * server may have been made. Instants are milliseconds since the epoch.
 *
 * There is one interface for each aggregate, in a file of its own. The operation behind each method, and whether it
 * reads or writes, is in `methods/`.
 */
import type { Actor } from '../core/activity/activity.ts';
import type { BlindWindow } from '../core/blind-window.ts';
import type { AcknowledgementStore } from './acknowledgements.ts';
import type { ActivityStore, Acts } from './activity.ts';
import type { AlertStore } from './alerts.ts';
import type { ApiKeyStore } from './api-keys.ts';
import type { BadgeStore } from './badges.ts';
import type { BlindnessStore } from './blindness.ts';
import type { CaseStore } from './cases.ts';
import type { Change } from './change.ts';
import type { ChannelStore } from './channels.ts';
import type { CheckInStore } from './check-ins.ts';
import type { DeliveryStore } from './deliveries.ts';
import type { ClusterNode } from './node.ts';
import type { OwnershipStore } from './ownership.ts';
import type { PaceStore } from './paces.ts';
import type { ProvisioningStore } from './provisioning.ts';
import type { ReachStore } from './reach.ts';
import type { RepeatStore } from './repeats.ts';
import type { RouteStore } from './routes.ts';
import type { ServerNoteStore } from './server-notes.ts';
import type { SilenceStore } from './silences.ts';
import type { SnitchStore } from './snitches.ts';
import type { StatusPageStore } from './status-pages.ts';
import type { SweepStore } from './sweep.ts';
import type { WebhookStore } from './webhooks.ts';

/** One transaction that wrote something. */
export interface Commit {
  calls: number;
  /** From the first statement to the end of the commit, in milliseconds, without the sync. */
  durationMs: number;
}

export interface StoreHealth {
  /** When the first of the present series of failed writes happened, or null if the last write succeeded. */
  failingSince: number | null;
  /** Why the last write failed, in words that anybody may see; absent where there are none for it. */
  because?: string;
  /** Commits and syncs since the store was opened. */
  commits: number;
  syncs: number;
}

/** What an open store reports about itself; none of this works on its data. */
export interface OpenedStore {
  health(): StoreHealth;
  /** In words, if what is stored now would not be found at the next start; null while everything is in its place. */
  misplaced(): string | null;
  /** Whether another process has locked the same files, which only one may use. */
  isContested(): boolean;
  /** While it is being closed: whether misplaced data is being saved, which must be waited for. */
  isSaving(): boolean;
  /**
   * What was acknowledged in this time is missing from the database that was opened; null if nothing is. Open it as a
   * blind window before anything else is written, because the first write ends the memory of it.
   */
  readonly lost: BlindWindow | null;
  /**
   * Checks, after everything else, a database that was opened unchecked because it is large; if damage is found, the
   * store fails.
   */
  check(): void;
  /** How many of how many tables are checked; null while nothing is being checked. */
  checking(): { done: number; of: number } | null;
  /** This process as one of several nodes on the database; null if it has the database to itself. */
  readonly node: ClusterNode | null;
  /** Called after a change is durable. */
  onChange(listener: (change: Change) => void): void;
  /** Resolves with the reason when the store can no longer be trusted and the process must end. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

export type Store = CaseStore &
  ApiKeyStore &
  SnitchStore &
  AcknowledgementStore &
  OwnershipStore &
  CheckInStore &
  ProvisioningStore &
  SweepStore &
  BlindnessStore &
  AlertStore &
  DeliveryStore &
  WebhookStore &
  ChannelStore &
  PaceStore &
  ReachStore &
  RepeatStore &
  RouteStore &
  SilenceStore &
  BadgeStore &
  StatusPageStore &
  ServerNoteStore &
  ActivityStore &
  Acting &
  OpenedStore;

export interface Acting {
  /** Everything that people change is done in somebody's name, at a time in milliseconds. */
  by(actor: Actor, at: number): Acts;
}
