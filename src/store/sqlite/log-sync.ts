/**
 * Makes commits durable without ever waiting for the disk on the event loop.
 *
 * SQLite runs with `synchronous=NORMAL`, in which a commit is only written to the kernel. Two rules replace its syncs:
 *
 * 1. A commit is acknowledged after a sync of the log that began when the commit was complete.
 * 2. A checkpoint copies the log into the database. Writes are held while it runs, in this order: sync the log (the
 *    database must never be ahead of it), copy, sync the database (the log must never be overwritten before), write one
 *    row, which restarts the log, and sync the log. That row changes one page, so after a power cut at any moment of it
 *    the log is either the old one, whole, or empty or new, and the database has everything else. Only meanwhile does
 *    SQLite run with `synchronous=OFF`, so that it does not wait for the disk on the event loop.
 *
 * The longer the log, the longer writes would be held. So most of a long log is copied beforehand, by a thread with a
 * connection of its own (`copying-thread.ts`), while writes go on; then the database is synced, and what came meanwhile
 * is copied again, until little is left for the checkpoint. SQLite's own rules make that safe at every moment, and the
 * thread keeps them with `synchronous=NORMAL`: nothing is copied before its part of the log is synced, and the log is
 * not restarted before the database is synced with all of it. If the thread cannot work, the checkpoint copies
 * everything.
 *
 * A log can also restart without us: if another process has copied all of it (`PRAGMA wal_checkpoint`, by hand or by a
 * tool), the next commit begins at its start again, with any number of frames. If one of these reached the disk before
 * the new header, a power cut would revive part of the older log and damage the database. With `NORMAL`, SQLite itself
 * syncs the new header before the first frame, in this rare case on the event loop.
 *
 * If a sync fails, what the kernel held may be gone: nothing can be trusted until the database is read again from the
 * disk, so the store fails for good and the process must end.
 */

import { closeSync, fdatasync, openSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { MINUTE } from '../../text/durations.ts';
import { type BackgroundCopy, CopyingThread } from './background-copy.ts';
import { CopyRounds } from './copy-rounds.ts';
import { misplacedFile, placeOf } from './open-file.ts';

type Done = (error: Error | null) => void;
type SyncFile = (fd: number, done: (error: Error | null) => void) => void;

export interface LogSyncOptions {
  /** How many writing statements can gather in the log before a checkpoint. */
  checkpointAfter?: number;
  /** How long a statement can be only in the log, in milliseconds: once it is in the database, it outlives the log. */
  checkpointWithin?: number;
  /** From this many statements on they are copied in the background first: copying fewer makes nobody wait. */
  backgroundFrom?: number;
  /** Replaces `fs.fdatasync`. */
  syncFile?: SyncFile;
  /** Replaces the thread. */
  background?: BackgroundCopy;
  report?: (message: string, details: object) => void;
  /** Called with the time for which a checkpoint held writes, in milliseconds. */
  onHeld?: (durationMs: number) => void;
}

const DEFAULTS = {
  checkpointAfter: 20_000,
  checkpointWithin: MINUTE,
  backgroundFrom: 2_000,
  syncFile: fdatasync as SyncFile,
  report: () => {},
  onHeld: () => {},
};

export class LogSync {
  syncs = 0;
  /** While true, no new write can start. */
  holding = false;
  /** While true, a new commit must wait for the next sync. */
  syncing = false;
  #heldSince = 0;
  /** Resolves when a sync failed. */
  readonly failed: Promise<Error>;
  readonly #db: Database.Database;
  readonly #path: string;
  readonly #logFd: number;
  readonly #databaseFd: number;
  readonly #options: Required<Omit<LogSyncOptions, 'background'>>;
  readonly #background: BackgroundCopy;
  readonly #rounds: CopyRounds;
  readonly #fail: (error: Error) => void;
  #waiting: Done[] = [];
  /** Statements since all of the log was in the database. */
  #statements = 0;
  /** How many statements make the next checkpoint due. */
  #due: number;
  /** The copying in the background, while it runs. */
  #copying: Promise<void> | null = null;
  #ending = false;
  #timer: NodeJS.Timeout | null = null;
  #failure: Error | null = null;
  #released: () => void = () => {};
  #idle: (() => void)[] = [];

  /** The descriptors stay open until `close`: closing one would drop SQLite's own locks on the file. */
  constructor(db: Database.Database, path: string, options: LogSyncOptions = {}) {
    this.#db = db;
    this.#path = path;
    this.#logFd = openSync(`${path}-wal`, 'r+');
    this.#databaseFd = openSync(path, 'r+');
    this.#options = { ...DEFAULTS, ...options };
    this.#due = this.#options.checkpointAfter;
    this.#background = options.background ?? new CopyingThread(path, () => this.misplaced() === null);
    this.#rounds = new CopyRounds({
      background: this.#background,
      written: () => this.#statements,
      syncDatabase: () => this.#syncDatabaseBehind(),
      isOver: () => this.#failure !== null || this.#ending,
      fail: (error) => this.fail(error),
      report: this.#options.report,
    });
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#fail = resolve;
    db.pragma('synchronous = NORMAL');
  }

  /** Why nothing can be trusted any more, or null. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** What became of the database or its log, in words, if a name no longer leads to the open file; otherwise null. */
  misplaced(): string | null {
    return misplacedFile(this.#databaseFd, this.#path) ?? misplacedFile(this.#logFd, `${this.#path}-wal`);
  }

  /** Where the database is now; null if it or its log was deleted. */
  place(): string | null {
    return placeOf(this.#logFd) === null ? null : placeOf(this.#databaseFd);
  }

  onReleased(listener: () => void): void {
    this.#released = listener;
  }

  /** Calls `done` when the commit that was just made, with this many writing statements, is on the disk. */
  committed(statements: number, done: Done): void {
    if (this.#failure) {
      done(this.#failure);
      return;
    }
    this.#statements += statements;
    this.#timer ??= setTimeout(() => this.#checkpointInTime(), this.#options.checkpointWithin).unref();
    this.#waiting.push(done);
    if (this.#statements >= this.#due) this.#begin();
    if (!this.syncing) this.#syncLog();
  }

  /** Resolves when nothing waits for a sync and no checkpoint runs. */
  idle(): Promise<void> {
    if (!this.syncing && !this.holding) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Gives up all trust: everything that waits, and everything that comes, is refused. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#stopTimer();
    for (const done of this.#waiting.splice(0)) done(error);
    this.holding = false;
    this.#rest();
    this.#released();
    this.#fail(error);
  }

  /** Stops what runs in the background; to be called before the database is closed. */
  async end(): Promise<void> {
    this.#ending = true;
    this.#stopTimer();
    await this.#copying;
    await this.idle();
    await this.#background.end();
  }

  close(): void {
    this.#stopTimer();
    closeSync(this.#logFd);
    closeSync(this.#databaseFd);
  }

  #syncLog(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#sync(this.#logFd, (error) => {
      for (const done of group) done(error);
      if (error) return;
      if (this.#waiting.length > 0) this.#syncLog();
      else if (this.holding) this.#checkpoint();
      else this.#rest();
    });
  }

  #checkpointInTime(): void {
    this.#stopTimer();
    if (this.#statements === 0) return;
    this.#begin();
    if (this.holding && !this.syncing) this.#checkpoint();
  }

  /** Begins in the background if there is much to copy; otherwise holds writes for the checkpoint. */
  #begin(): void {
    if (this.#failure || this.holding || this.#copying || this.#ending) return;
    if (this.#statements < this.#options.backgroundFrom || !this.#rounds.isUsable) this.#hold();
    else this.#copying = this.#copyInBackground();
  }

  async #copyInBackground(): Promise<void> {
    const isCopied = await this.#rounds.run();
    this.#copying = null;
    if (this.#failure || this.#ending) return;
    if (!isCopied) {
      // While much of the log cannot be copied, holding writes for the rest of it gains nothing.
      this.#due = this.#statements + this.#options.checkpointAfter;
      this.#stopTimer();
      return;
    }
    this.#hold();
    if (!this.syncing) this.#checkpoint();
  }

  #hold(): void {
    this.holding = true;
    this.#heldSince = performance.now();
  }

  /** Runs alongside commits and their syncs, so that the sync in the checkpoint has little left to do. */
  #syncDatabaseBehind(): Promise<void> {
    this.syncs += 1;
    return new Promise((resolve) => {
      this.#options.syncFile(this.#databaseFd, (error) => {
        if (error) this.fail(error);
        resolve();
      });
    });
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Runs when every commit is synced and no write can start. */
  #checkpoint(): void {
    this.#db.pragma('synchronous = OFF');
    const isWhole = this.#copy();
    this.#sync(this.#databaseFd, (error) => {
      if (error || this.#failure) return;
      this.#startLogAnew();
      this.#sync(this.#logFd, (failure) => {
        if (failure) return;
        if (isWhole) this.#statements = 0;
        this.#due = this.#statements + this.#options.checkpointAfter;
        this.#stopTimer();
        this.holding = false;
        this.#options.onHeld(performance.now() - this.#heldSince);
        this.#rest();
        this.#released();
      });
    });
  }

  /**
   * A full or read-only disk stops a copy halfway; the log still holds everything, so the next copy may succeed.
   *
   * @returns whether all of the log is in the database
   */
  #copy(): boolean {
    try {
      type Row = Record<'busy' | 'log' | 'checkpointed', number>;
      const [row] = this.#db.pragma('wal_checkpoint(PASSIVE)') as Row[];
      return row?.busy === 0 && row.checkpointed === row.log;
    } catch {
      // The commits in the log are safe as they are, and the next write reports the disk's state to its caller.
      return false;
    }
  }

  #startLogAnew(): void {
    try {
      this.#db.exec(`UPDATE settings SET value = value + 1 WHERE name = 'canary'`);
    } catch {
      // A later commit then restarts the log, and SQLite syncs the new header before its frames.
    }
    this.#db.pragma('synchronous = NORMAL');
  }

  #sync(fd: number, done: Done): void {
    this.syncing = true;
    this.syncs += 1;
    this.#options.syncFile(fd, (error) => {
      if (error) this.fail(error);
      done(error);
    });
  }

  #rest(): void {
    this.syncing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
