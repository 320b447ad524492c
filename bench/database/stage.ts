/** Brings a database into a scene and watches its progress, on SQLite or PostgreSQL. */
import { arm as armOnPostgres, look } from '../postgres/tables.ts';
import { arm, type JobsDatabase, observe } from './jobs-database.ts';
import type { Scene } from './scene.ts';

/** To be called while no daemon runs. */
export async function prepareScene(database: JobsDatabase, scene: Scene): Promise<void> {
  if (database.url === undefined) arm(database, scene);
  else await armOnPostgres(database.url, database.jobs, scene);
}

/** How far a sweep has come. */
export interface Progress {
  /** Alerts since `instant`; 0 if they are not counted. */
  decided: number;
  /** Whether some snitch has yet to be checked, because it may be due at `instant`. */
  isWaiting: boolean;
}

/** Does not disturb a running daemon. */
export async function progressOf(
  { dataDir, url }: JobsDatabase,
  instant: number,
  { isCounted }: { isCounted: boolean },
): Promise<Progress> {
  if (url !== undefined) return look(url, instant, isCounted);
  return observe(dataDir, (db, tables) => ({
    decided: isCounted ? tables.alertsSince(db, instant) : 0,
    isWaiting: tables.isWaiting(db, instant),
  }));
}
