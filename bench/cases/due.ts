/** Shared by the cases in which many snitches are due at once: the moment comes, and we watch until all is decided. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobsDatabase } from '../database/jobs-database.ts';
import type { Scene } from '../database/scene.ts';
import { prepareScene, progressOf } from '../database/stage.ts';
import type { Daemon } from '../program/daemon.ts';
import type { Subject } from './case.ts';

/** How long it takes to arm a database and start the daemon, in milliseconds: at first a guess, then the last time. */
const preparationOf = ({ jobs }: JobsDatabase) => 1_000 + Math.ceil(jobs.count / 100);
const preparation = new WeakMap<JobsDatabase, number>();

/** How much longer than that it may take, in milliseconds. */
const MARGIN = 1_000;

/** How many snitches the steady load checks in: so few that each has done so once when the load is warm. */
export const STEADY = 128;

/** Milliseconds. */
export const WARM_UP = 1_000;

/** How often we check the progress, in milliseconds. Each check takes a fraction of a millisecond. */
const LOOKED_EVERY = 50;

/** A sweep that takes longer than this is taken to hang, in milliseconds. */
const PATIENCE = 300_000;

/** A daemon that was started before the snitches are due at `dueAt`. */
export interface Awaiting {
  daemon: Daemon;
  /** Milliseconds since the epoch. */
  dueAt: number;
}

/**
 * Arms the database for a moment that comes when the daemon has been up for `calm` milliseconds, and starts the daemon.
 * If that took too long, tries again with a later moment.
 */
export async function awaitDue(
  subject: Subject,
  database: JobsDatabase,
  scene: (dueAt: number) => Scene,
  { calm, env }: { calm: number; env?: Readonly<Record<string, string>> },
): Promise<Awaiting> {
  for (let slack = MARGIN; ; slack *= 3) {
    const begun = Date.now();
    const dueAt = begun + (preparation.get(database) ?? preparationOf(database)) + slack + calm;
    await prepareScene(database, scene(dueAt));
    const daemon = await subject.start(database.dataDir, env);
    preparation.set(database, Date.now() - begun);
    if (dueAt - Date.now() >= calm) return { daemon, dueAt };
    await daemon.kill();
  }
}

/** When alerts were decided, in milliseconds after they were due. */
export interface Decided {
  first: number;
  last: number;
  /** When the sweep had nothing left to check. */
  over: number;
}

/** Waits until `count` alerts are decided, and the sweep has checked every snitch that may be due. */
export async function untilDecided(database: JobsDatabase, dueAt: number, count: number): Promise<Decided> {
  let [first, last] = [Number.NaN, Number.NaN];
  await sleep(dueAt - Date.now());
  for (;;) {
    const elapsed = Date.now() - dueAt;
    if (elapsed > PATIENCE) throw new Error(`not all alerts were decided within ${PATIENCE / 1_000} s`);
    const { decided, isWaiting } = await progressOf(database, dueAt, { isCounted: Number.isNaN(last) });
    if (decided > 0 && Number.isNaN(first)) first = elapsed;
    if (decided >= count && Number.isNaN(last)) last = elapsed;
    if (!Number.isNaN(last) && !isWaiting) return { first, last, over: elapsed };
    await sleep(LOOKED_EVERY);
  }
}
