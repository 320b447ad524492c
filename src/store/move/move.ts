/** What both directions of a move report, and how they fail. */

/** Why nothing was moved: `running` means that a daemon, or another move, has to end first. */
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
  /** Texts with a NUL in them, which PostgreSQL does not store: each NUL became U+FFFD. */
  withNul: number;
  /** When a daemon was last alive, in milliseconds; null if none ever was. */
  aliveAt: number | null;
}

export interface MoveOptions {
  onProgress: (progress: Progress) => void;
}
