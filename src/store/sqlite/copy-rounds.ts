/** Copies most of a long log in the background before a checkpoint, in rounds, while writes go on. */
import { MINUTE } from '../../text/durations.ts';
import type { BackgroundCopy } from './background-copy.ts';

/** How many statements can be left for the checkpoint, and how many rounds there are if more arrived meanwhile. */
const LEFT_FOR_CHECKPOINT = 500;
const ROUNDS = 4;

/** If this many pages cannot be copied, somebody is reading an older state: our own last commit alone is smaller. */
const HELD_BACK = 2_000;

/** How long it is not tried again after a failure, in milliseconds. */
const REST_AFTER_FAILURE = 10 * MINUTE;

/** SQLite's codes for a failed sync. */
const FAILED_SYNC = /^SQLITE_IOERR_(DIR_)?FSYNC$/;

export interface CopyRoundsOptions {
  background: BackgroundCopy;
  /** How many statements have been written so far. */
  written: () => number;
  /** Syncs the database; resolves even if that fails. */
  syncDatabase: () => Promise<void>;
  /** Whether nobody wants the rest any more. */
  isOver: () => boolean;
  /** Called with the error of a failed sync. */
  fail: (error: Error) => void;
  report: (message: string, details: object) => void;
}

export class CopyRounds {
  readonly #options: CopyRoundsOptions;
  #restsUntil = 0;

  constructor(options: CopyRoundsOptions) {
    this.#options = options;
  }

  /** False for some time after a failure: the checkpoint then copies everything. */
  get isUsable(): boolean {
    return performance.now() >= this.#restsUntil;
  }

  /** @returns false if somebody who reads an older state prevents a large part of the log from being copied */
  async run(): Promise<boolean> {
    const { background, written, syncDatabase, isOver } = this.#options;
    try {
      for (let round = 1; round <= ROUNDS; round += 1) {
        const before = written();
        const { left } = await background.copy();
        if (left > HELD_BACK) return false;
        if (isOver()) return true;
        // Without this, the sync in the checkpoint would write everything while writes are held.
        await syncDatabase();
        if (isOver() || written() - before <= LEFT_FOR_CHECKPOINT) return true;
      }
    } catch (error) {
      this.#failed(error as NodeJS.ErrnoException);
    }
    return true;
  }

  /** After a failed sync, what the kernel held may be gone. After any other refusal, the log is safe as it is. */
  #failed(error: NodeJS.ErrnoException): void {
    const { isOver, fail, report } = this.#options;
    if (isOver()) return;
    if (FAILED_SYNC.test(error.code ?? '')) {
      fail(error);
      return;
    }
    this.#restsUntil = performance.now() + REST_AFTER_FAILURE;
    report(
      'the log of the database cannot be copied in the background, so that check-ins wait longer now and then; it is tried again in 10 minutes',
      { err: error },
    );
  }
}
