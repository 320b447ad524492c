/**
 * Makes commits durable without ever waiting for the disk on the event loop.
 *
 * SQLite runs with `synchronous=NORMAL`, in which a commit is only written to the kernel. Two rules replace its syncs:
 *
 * 1. A commit is acknowledged after a sync of the log that began when the commit was complete.
 * 2. A checkpoint copies the log into the database. Writes are held while it runs, in this order: sync the log (the
 *    database must never be ahead of it), copy, sync the database (the log must never be overwritten before), write
 *    one row, which starts the log anew, and sync the log. That row changes one page, so that after a power cut at
 *    any moment of it the log is either the old one, whole, or empty or new, and the database has everything else.
 *    Only meanwhile is SQLite told `synchronous=OFF`, so that it does not wait for the disk on the event loop.
 *
 * A log can also be started anew without us: where another process has copied all of it (`PRAGMA wal_checkpoint`, by
 * hand or by a tool), the next commit begins at its start again, with any number of frames. If one of these reached the
 * disk before the new header, a power cut would revive a part of the older log and damage the database. `NORMAL` makes
 * SQLite sync the new header by itself before the first frame, in this rare case on the event loop.
 *
 * A sync that fails means that what the kernel held may be gone: nothing can be trusted until the database is read
 * again from the disk, so the store fails for good and the process must end.
 */

import { closeSync, fdatasync, openSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { MINUTE } from '../../text/durations.ts';
import { misplacedFile, placeOf } from './open-file.ts';

/** How many writing statements may gather in the log before a checkpoint. */
const CHECKPOINT_AFTER = 20_000;

/** How long one may be only in the log, in milliseconds: what is in the database too does not end with the log. */
const CHECKPOINT_WITHIN = MINUTE;

type Done = (error: Error | null) => void;
type SyncFile = (fd: number, done: (error: Error | null) => void) => void;

export class LogSync {
  syncs = 0;
  /** While true no new write may start. */
  holding = false;
  /** Resolves when a sync failed. */
  readonly failed: Promise<Error>;
  readonly #db: Database.Database;
  readonly #path: string;
  readonly #logFd: number;
  readonly #databaseFd: number;
  readonly #checkpointAfter: number;
  readonly #checkpointWithin: number;
  readonly #syncFile: SyncFile;
  readonly #fail: (error: Error) => void;
  #waiting: Done[] = [];
  #syncing = false;
  #statements = 0;
  #timer: NodeJS.Timeout | null = null;
  #failure: Error | null = null;
  #released: () => void = () => {};
  #idle: (() => void)[] = [];

  /** The descriptors stay open until `close`: closing one would drop SQLite's own locks on the file. */
  constructor(
    db: Database.Database,
    path: string,
    options: { checkpointAfter?: number; checkpointWithin?: number; syncFile?: SyncFile } = {},
  ) {
    this.#db = db;
    this.#path = path;
    this.#logFd = openSync(`${path}-wal`, 'r+');
    this.#databaseFd = openSync(path, 'r+');
    this.#checkpointAfter = options.checkpointAfter ?? CHECKPOINT_AFTER;
    this.#checkpointWithin = options.checkpointWithin ?? CHECKPOINT_WITHIN;
    this.#syncFile = options.syncFile ?? fdatasync;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#fail = resolve;
    db.pragma('synchronous = NORMAL');
  }

  /** Why nothing can be trusted any more, or null. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** What became of the database or its log, in words, where a name does not lead to the file that is open any more. */
  misplaced(): string | null {
    return misplacedFile(this.#databaseFd, this.#path) ?? misplacedFile(this.#logFd, `${this.#path}-wal`);
  }

  /** Where the database is now; null where it or its log was deleted. */
  place(): string | null {
    return placeOf(this.#logFd) === null ? null : placeOf(this.#databaseFd);
  }

  onReleased(listener: () => void): void {
    this.#released = listener;
  }

  /** `done` is called when the commit that was just made, of so many writing statements, is on the disk. */
  committed(statements: number, done: Done): void {
    if (this.#failure) {
      done(this.#failure);
      return;
    }
    this.#statements += statements;
    this.#timer ??= setTimeout(() => this.#checkpointInTime(), this.#checkpointWithin).unref();
    this.#waiting.push(done);
    if (this.#statements >= this.#checkpointAfter) this.holding = true;
    if (!this.#syncing) this.#syncLog();
  }

  /** Resolves when nothing waits for a sync and no checkpoint runs. */
  idle(): Promise<void> {
    if (!this.#syncing && !this.holding) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Ends all trust: everything that waits, and everything that comes, is refused. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#stopTimer();
    for (const done of this.#waiting.splice(0)) done(error);
    this.holding = false;
    this.#rest();
    this.#released();
    this.#fail(error);
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
    if (this.#failure || this.holding || this.#statements === 0) return;
    this.holding = true;
    if (!this.#syncing) this.#checkpoint();
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Runs when every commit is synced and no write can start. */
  #checkpoint(): void {
    this.#db.pragma('synchronous = OFF');
    this.#copy();
    this.#sync(this.#databaseFd, (error) => {
      if (error || this.#failure) return;
      this.#startLogAnew();
      this.#sync(this.#logFd, (failure) => {
        if (failure) return;
        this.#statements = 0;
        this.#stopTimer();
        this.holding = false;
        this.#rest();
        this.#released();
      });
    });
  }

  /** A full or read-only disk stops a copy halfway; the log still holds everything, so the next one may do. */
  #copy(): void {
    try {
      this.#db.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // The commits in the log are safe as they are, and the next write reports the disk's state to its caller.
    }
  }

  #startLogAnew(): void {
    try {
      this.#db.exec(`UPDATE settings SET value = value + 1 WHERE name = 'canary'`);
    } catch {
      // Some later commit starts the log then, and SQLite syncs the new header before the frames of it.
    }
    this.#db.pragma('synchronous = NORMAL');
  }

  #sync(fd: number, done: Done): void {
    this.#syncing = true;
    this.syncs += 1;
    this.#syncFile(fd, (error) => {
      if (error) this.fail(error);
      done(error);
    });
  }

  #rest(): void {
    this.#syncing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
