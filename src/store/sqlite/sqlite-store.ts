/** The store on one SQLite file. */

import type Database from 'better-sqlite3';
import { Calendar } from '../../core/interval.ts';
import { inWords } from '../failure-words.ts';
import { listeners } from '../methods/listeners.ts';
import { methodsOf } from '../methods/methods.ts';
import type { Commit, Store } from '../store.ts';
import { Acknowledged } from './acknowledged.ts';
import type { CheckOutcome } from './background-check.ts';
import type { BackgroundCopy } from './background-copy.ts';
import { databasePath, type Opened, type Opening, openInParts, prepareDataDir } from './connection.ts';
import { discard, restoreDraft } from './drafts.ts';
import { GroupCommit } from './group-commit.ts';
import { KeptLock } from './kept-lock.ts';
import { LateCheck } from './late-check.ts';
import { type DirectoryLock, takeLock } from './lock.ts';
import { LogSync } from './log-sync.ts';
import type { Migrated } from './migrate.ts';
import { finished, finishedUnlessStopped } from './parts.ts';
import { PlaceWatch, type Report } from './place-watch.ts';

export interface SqliteOptions {
  dataDir: string;
  clock: () => number;
  /** Writing statements between two checkpoints. */
  checkpointAfter?: number;
  /** How long a statement can be only in the log, in milliseconds. */
  checkpointWithin?: number;
  /** From this many statements on, a checkpoint begins in the background. */
  backgroundFrom?: number;
  /** Replaces the thread that copies in the background. */
  background?: BackgroundCopy;
  /** Called after every commit, for the metrics. */
  onCommit?: (commit: Commit) => void;
  /** Called with the time for which a checkpoint held writes, in milliseconds; for measurements. */
  onHeld?: (durationMs: number) => void;
  /** Called after an upgrade of the database, for the log. */
  onMigrated?: (migrated: Migrated) => void;
  /** Called with work that takes long before the store is open. */
  onOpening?: (opening: Opening) => void;
  /**
   * A program that checks the database named after it, as `snitch __check-database` does. With it, a large database is
   * opened unchecked, and `check` does it later. If absent, every database is checked before it is open.
   */
  checkWith?: readonly string[] | undefined;
  /** Called when the later check begins and when it ends. */
  onCheck?: (check: { kind: 'began' } | CheckOutcome) => void;
  /** Called with what an operator must know and act on, for the log. */
  report?: Report;
  /** How often the store checks that its files are still in their place, in milliseconds. */
  lookEvery?: number;
  /** How many of a snitch's newest check-ins are kept; if absent, pruning alone limits them. */
  checkInsKept?: () => number;
  /** Replaces `fs.fdatasync`, for measurements with a slow disk. */
  syncFile?: (fd: number, done: (error: Error | null) => void) => void;
}

/**
 * Locks the data directory for this process and opens its database.
 *
 * @throws DataDirLocked if another daemon has it
 * @throws DatabaseUnusable, NewerDatabase, UpgradeFailed if the database cannot be served
 */
export function openStore(options: SqliteOptions): Store {
  const taken = take(options);
  try {
    return storeOn(finished(taken.opening), options, taken.lock);
  } catch (error) {
    taken.lock.release();
    throw error;
  }
}

/**
 * As `openStore`, except that what takes long before it is open can be stopped, and is then undone.
 *
 * @throws OpeningStopped if `signal` is aborted in time
 */
export async function openStoreUnlessStopped(options: SqliteOptions, signal: AbortSignal): Promise<Store> {
  const taken = take(options);
  try {
    return storeOn(await finishedUnlessStopped(taken.opening, signal), options, taken.lock);
  } catch (error) {
    taken.lock.release();
    throw error;
  }
}

/** Locks the data directory for this process. */
function take(options: SqliteOptions): { lock: DirectoryLock; opening: Generator<void, Opened> } {
  const { dataDir, checkWith } = options;
  prepareDataDir(dataDir);
  const lock = takeLock(dataDir);
  // A restore that was killed may have left as much as the whole backup.
  discard(restoreDraft(databasePath(dataDir)));
  return { lock, opening: openInParts(dataDir, { ...options, canCheckLater: checkWith !== undefined }) };
}

function storeOn({ db, checked }: Opened, options: SqliteOptions, lock: DirectoryLock): Store {
  const { dataDir, clock, report = () => {}, lookEvery } = options;
  const acknowledged = remember(db, dataDir, clock, report);
  const log = new LogSync(db, databasePath(dataDir), options);
  const { announce, onChange } = listeners();
  const calendar = new Calendar();
  const batches = new GroupCommit({ ...options, db, calendar, sync: log, acknowledged, announce });
  const place = new PlaceWatch({ db, log, dataDir, clock, report, lookEvery });
  const isAtStake = () => log.misplaced() === null;
  const kept = new KeptLock(lock, { dataDir, isAtStake, report, lookEvery });
  const check = new LateCheck(dataDir, log, checked ? {} : options);
  // When a database is closed, by us or as the process ends, its log is copied once more, with SQLite's own syncs.
  const syncItself = () => db.pragma('synchronous = FULL');
  process.on('exit', syncItself);
  return {
    ...methodsOf(batches),
    health: () => ({
      failingSince: batches.failingSince,
      ...inWords(batches.failure),
      commits: batches.commits,
      syncs: log.syncs,
    }),
    misplaced: () => log.misplaced(),
    isContested: () => kept.isContested,
    isSaving: () => place.isSaving,
    lost: acknowledged.loss?.window ?? null,
    check: () => check.begin(),
    checking: () => check.progress,
    node: null,
    onChange,
    failed: check.failed,
    close: async () => {
      check.stop();
      await batches.drain();
      await log.end();
      await place.end();
      process.off('exit', syncItself);
      syncItself();
      db.close();
      log.close();
      acknowledged.close();
      kept.release();
    },
  };
}

function remember(db: Database.Database, dataDir: string, clock: () => number, report: Report): Acknowledged {
  const acknowledged = new Acknowledged(db, dataDir, clock(), (error) =>
    report('what is acknowledged cannot be noted beside the database: a damaged log would not be noticed', {
      err: error,
    }),
  );
  const { loss } = acknowledged;
  if (loss) {
    const [from, to] = [loss.window.start, loss.until].map((time) => new Date(time).toISOString());
    report(
      `what was acknowledged between ${from} and ${to}, check-ins among it, is missing from the database: its log (snitch.db-wal) was damaged, cut or removed, or an older copy was put in its place by hand. A blind window is opened, so that no job is accused for it. If a file snitch.db.rescued-… is beside it, that may have what is missing: \`snitch restore\` puts it in place`,
      { from, to },
    );
  }
  return acknowledged;
}
