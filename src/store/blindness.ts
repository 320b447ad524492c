/** The part of the store for times in which the daemon heard nothing; instants are milliseconds since the epoch. */
import type { BlindWindow } from '../core/blind-window.ts';
import type { Postponement } from '../core/explanation/deadline-reasons.ts';
import type { Learned } from '../core/late-runs.ts';

/** A stop in which nothing was lost: every request was answered, and later callers wait at the socket. */
export interface OrderlyStop {
  /** Identifies the socket on which the service manager goes on listening, for as long as it does. */
  socket: string;
}

/** Snitches in one slice of postponements: few enough that no check-in waits noticeably for it. */
export const POSTPONED_AT_ONCE = 100;

export interface BlindnessStore {
  /**
   * Stores a blind window, and records that the daemon lives at its end. The window is widened by the time in which
   * writes were refused, which is then dealt with.
   */
  openBlindWindow(window: BlindWindow): Promise<void>;
  /** Records that the daemon lives and, if it stops, how; not while a refusal waits for its window. */
  recordLiveness(at: number, stop?: OrderlyStop): Promise<void>;
  /** Postpones deadlines for the windows that were opened, one slice per call; false when nothing is left to do. */
  postponeSlice(now: number): Promise<boolean>;
  /**
   * Corrects what was set while the clock ran ahead, one slice per call, beginning after the snitch numbered `after`.
   * Returns where to continue, or null.
   */
  setAnewSlice(now: number, after: number): Promise<number | null>;
  /** What was learned of the snitch's job, above all the first check-in of each of the last periods, ascending. */
  findLearned(token: string): Promise<Learned>;
  /** The last `limit` blind windows that postponed a deadline of the snitch, oldest first. */
  listPostponements(caseId: string, token: string, limit: number): Promise<Postponement[]>;
  /** From the first to the last refused write that has no blind window yet, or null. */
  refused(): BlindWindow | null;
}
