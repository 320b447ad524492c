/** What both directions of a move tell, and how they fail. */

/** Why nothing was moved: `running` is a daemon, or another move, that has to end first. */
export type Obstacle = 'running' | 'unreachable' | 'denied' | 'other';

/** Nothing was moved, and the source is as it was; the message says why and what to do. */
export class MoveFailed extends Error {
  override readonly name = 'MoveFailed';
  readonly obstacle: Obstacle;

  constructor(message: string, obstacle: Obstacle = 'other', cause?: unknown) {
    super(message, { cause });
    this.obstacle = obstacle;
  }
}

export type Progress =
  | { doing: 'checking' | 'preparing' | 'finishing' }
  | { doing: 'copying' | 'verifying'; table: string; done: number; of: number };

/** What was moved, and verified at the target. */
export interface Moved {
  tables: number;
  rows: number;
  snitches: number;
  cases: number;
  checkIns: number;
  /** Texts with a NUL in them, which PostgreSQL does not keep: each stands there as U+FFFD. */
  withNul: number;
  /** The last instant at which a daemon lived, in milliseconds; null where none ever did. */
  aliveAt: number | null;
}

export interface MoveOptions {
  onProgress: (progress: Progress) => void;
}
