/** The part of the store for what the server notes and counts about itself. */
import type { Status } from '../core/snitch.ts';

export interface Census {
  snitches: Partial<Record<Status, number>>;
  /**
   * Deliveries that are not finished, how many of them have or had to wait for their time (`after`, `hours`), and since
   * when the first of them could be sent: null when there is none, and still to come when all wait.
   */
  outbox: { pending: number; waiting: number; oldestAlertAt: number | null };
  /** The earliest deadline, reminder or end of a pause, or null. */
  firstDueAt: number | null;
  /** Length of all blind windows that are kept, in milliseconds. */
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
 * What the server notes about itself: `maintenance` is `on` or `off`; `liveness` is the last instant at which the
 * daemon is known to have lived; `stopped` the orderly stop at that instant, if it was one; `credentials` is `written`
 * when the first start is complete; `retention.now` is up to when retention believes the clock;
 * `links.key` is the secret that the links in alerts are signed with.
 */
export type Setting =
  | 'maintenance'
  | 'liveness'
  | 'stopped'
  | 'credentials'
  | 'retention.cursor'
  | 'retention.now'
  | 'links.key';

export interface ServerNoteStore {
  /** How many snitches have each status, and what waits in the outbox. */
  census(): Promise<Census>;
  /** Null where it was never set. */
  getSetting(name: Setting): Promise<string | null>;
  setSetting(name: Exclude<Setting, 'maintenance'>, value: string): Promise<void>;
}

/** What people set for the whole server. */
export interface ServerActs {
  setMaintenance(enabled: boolean): Promise<void>;
}
