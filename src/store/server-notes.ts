/** The part of the store for what the server records and counts about itself. */
import type { Status } from '../core/snitch.ts';

export interface Census {
  snitches: Partial<Record<Status, number>>;
  /**
   * Unfinished deliveries, how many of them have or had to wait for their time (`after`, `hours`), and since when the
   * first of them could be sent: null if there is none, and in the future if all wait.
   */
  outbox: { pending: number; waiting: number; oldestAlertAt: number | null };
  /** The earliest deadline, reminder or end of a pause, or end of a silence that one waits for; or null. */
  firstDueAt: number | null;
  /** Length of all stored blind windows, in milliseconds. */
  blindMs: number;
  /** The last of each value that jobs report; at most `MOST_LAST_VALUES`, those of the oldest snitches. */
  lastValues: LastValue[];
}

export const MOST_LAST_VALUES = 1_000;

/** A number that a job reported; the names are those of the case, of its snitch and of the value. */
export interface LastValue {
  case: string;
  snitch: string;
  value: string;
  last: number;
}

/**
 * What the server records about itself: `maintenance` is `on` or `off`; `liveness` is the last instant at which the
 * daemon is known to have been alive; `stopped` the orderly stop at that instant, if it was one; `credentials` is
 * `written` when the first start is complete; `retention.cursor` is how far pruning has walked the log; `retention.now`
 * is the instant up to which retention trusts the clock; `links.key` is the secret that signs the links in alerts;
 * `cases.deleted` names the cases that are being deleted, as JSON.
 */
export type Setting =
  | 'maintenance'
  | 'liveness'
  | 'stopped'
  | 'credentials'
  | 'retention.cursor'
  | 'retention.now'
  | 'links.key'
  | 'cases.deleted';

export interface ServerNoteStore {
  /** How many snitches have each status, and what waits in the outbox. */
  census(): Promise<Census>;
  /** Null if it was never set. */
  getSetting(name: Setting): Promise<string | null>;
  setSetting(name: Exclude<Setting, 'maintenance'>, value: string): Promise<void>;
}

/** What people set for the whole server. */
export interface ServerActs {
  setMaintenance(enabled: boolean): Promise<void>;
}
