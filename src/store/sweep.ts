/** The part of the store for the sweep and for what follows it; instants are milliseconds since the epoch. */

/** A place in the order in which the sweep looks at snitches. */
export interface LookCursor {
  lookAt: number;
  /** The number of the snitch. */
  id: number;
}

export interface DueResult {
  /** How many snitches changed. */
  changed: number;
  /** Whether it looked at a snitch that was not due: `moveLooks` takes those out of its way. */
  inVain: boolean;
  /** Where to go on, or null when all that was due has been looked at. */
  next: LookCursor | null;
  /** Snitches whose row could not be applied; the others went on. */
  failures: { token: string; error: unknown }[];
}

export interface RetentionLimits {
  /** Newest check-ins kept per snitch. */
  checkIns: number;
  /** Check-ins, alerts and finished deliveries from before this instant go; a snitch's newest check-in stays. */
  olderThan: number;
  now: number;
}

export interface SweepStore {
  /**
   * Applies what is due, at most `limit` snitches a call, behind `after` in the order in which it looks at them.
   *
   * @throws StoreUnavailable while check-ins were refused and no blind window was opened for that (`refused`):
   * then nothing is applied
   */
  applyDue(now: number, after: LookCursor | null, limit: number): Promise<DueResult>;
  /**
   * A check-in does not move its snitch in the order in which the sweep looks at them. This does: it puts those that
   * would be looked at by `until` where they are due, a slice a call. It begins with those that are looked at first, or
   * goes on behind `after`, and answers with where to go on, or null at the end.
   */
  moveLooks(until: number, after: LookCursor | null): Promise<LookCursor | null>;
  /** Restarts deadlines after a case's rules changed, a slice a call; false when nothing is left to do. */
  rescheduleSlice(now: number): Promise<boolean>;
  /**
   * Restarts the deadlines of those that need a snitch that holds alerts no more, a slice a call; false when nothing is
   * left to do.
   */
  relieveSlice(now: number): Promise<boolean>;
  /** Deletes a slice of what is no longer kept; false when the pass is complete. */
  prune(limits: RetentionLimits): Promise<boolean>;
}
