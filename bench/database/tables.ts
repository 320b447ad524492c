/**
 * What the benches must know about the tables of the program's database. A schema that changes one of them gets a form
 * of its own, in addition to the earlier ones, because a bench may also run an earlier commit.
 */
import type Database from 'better-sqlite3';
import type { Jobs, Scene } from './scene.ts';

export interface Tables {
  /** Fills an empty database. The tokens are in the order of creation; the check-ins come day after day. */
  fill(db: Database.Database, caseId: string, tokens: readonly string[], jobs: Jobs): void;
  /** Brings all snitches into the states of `scene`, and forgets what was decided before. */
  arm(db: Database.Database, jobs: Jobs, scene: Scene): void;
  /** How many alerts were decided since the instant. */
  alertsSince(db: Database.Database, instant: number): number;
  /** Whether the sweep has yet to check some snitch, because it may be due at the instant. */
  isWaiting(db: Database.Database, instant: number): boolean;
  /** Whether there was a blind window, and every deadline that it affected has been postponed. */
  isPostponed(db: Database.Database): boolean;
  /** All that the list of snitches shows. */
  readList(db: Database.Database): unknown[];
}
