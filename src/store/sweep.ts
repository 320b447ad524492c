/** The part of the store for the sweep and what follows it; instants are milliseconds since the epoch. */

/** A position in the order in which the sweep looks at snitches. */
export interface LookCursor {
  lookAt: number;
  /** The snitch's number. */
  id: number;
}

export interface DueResult {
  /** How many snitches changed. */
  changed: number;
  /** Whether it looked at a snitch that was not due: `moveLooks` takes those out of its way. */
  inVain: boolean;
  /** Where to continue, or null when everything that was due has been looked at. */
  next: LookCursor | null;
  /** Snitches whose row could not be applied; the others were. */
  failures: { token: string; error: unknown }[];
}

export interface RetentionLimits {
  /** Newest check-ins kept per snitch. */
  checkIns: number;
  /**
   * Check-ins, alerts and finished deliveries from before this instant are deleted, except a snitch's newest check-in.
   */
  olderThan: number;
  now: number;
}

export interface SweepStore {
  /**
   * Applies what is due, at most `limit` snitches per call, after `after` in the order in which it looks at them.
   *
   * @throws StoreUnavailable while check-ins were refused and no blind window was opened for that (`refused`): then
   * nothing is applied
   */
  applyDue(now: number, after: LookCursor | null, limit: number): Promise<DueResult>;
  /**
   * A check-in does not change when the sweep looks at its snitch. This does: snitches that would be looked at by
   * `until` are moved to when they are due, one slice per call. It begins with those that are looked at first, or
   * continues after `after`, and returns where to continue, or null at the end.
   */
  moveLooks(until: number, after: LookCursor | null): Promise<LookCursor | null>;
  /** Restarts deadlines after a case's rules changed, one slice per call; false when nothing is left to do. */
  rescheduleSlice(now: number): Promise<boolean>;
  /**
   * Restarts the deadlines of snitches that need one which no longer holds alerts, one slice per call; false when
   * nothing is left to do.
   */
  relieveSlice(now: number): Promise<boolean>;
  /** Deletes a slice of what is no longer kept; false when the pass is complete. */
  prune(limits: RetentionLimits): Promise<boolean>;
}
