/** What the store keeps of the times in which the daemon heard nothing; instants are milliseconds since the epoch. */
import type { BlindWindow } from '../core/blind-window.ts';
import type { Postponement } from '../core/explanation/deadline-reasons.ts';
import type { Learned } from '../core/late-runs.ts';

/** A stop in which nothing was lost: every request was answered, and who came later waits at the socket. */
export interface OrderlyStop {
  /** Names the socket that the service manager goes on listening on, for as long as it does. */
  socket: string;
}

/** Snitches that one slice of postponements looks at: few enough that no check-in waits for it noticeably. */
export const POSTPONED_AT_ONCE = 100;

export interface BlindnessStore {
  /**
   * Keeps a blind window, and the fact that the daemon lives at its end. It is widened by the time in which writes
   * were refused, which then counts as told.
   */
  openBlindWindow(window: BlindWindow): Promise<void>;
  /** Writes down that the daemon lives, and where it stops, how; not while a refusal waits for its window. */
  recordLiveness(at: number, stop?: OrderlyStop): Promise<void>;
  /** Postpones deadlines for the windows that were opened, a slice a call; false when nothing is left to do. */
  postponeSlice(now: number): Promise<boolean>;
  /**
   * Sets anew what was set while the clock ran ahead, a slice a call, beginning after the snitch numbered `after`; answers where
   * to go on, or null.
   */
  setAnewSlice(now: number, after: number): Promise<number | null>;
  /** Ascending: the first check-in of each of the last periods. */
  findLearned(token: string): Promise<Learned>;
  /** The last `limit` blind windows that postponed a deadline of the snitch, oldest first. */
  listPostponements(caseId: string, token: string, limit: number): Promise<Postponement[]>;
  /** From the first write to the last one that was refused and for which no blind window was opened yet, or null. */
  refused(): BlindWindow | null;
}
