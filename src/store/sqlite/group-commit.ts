/**
 * Group commit: the calls of one turn of the event loop run in one transaction, and one sync of the write-ahead log
 * serves every commit that was complete before it began. The syncs are not SQLite's own; see `log-sync.ts`.
 */
import type Database from 'better-sqlite3';
import type { BlindWindow } from '../../core/blind-window.ts';
import { StoreUnavailable } from '../../core/errors.ts';
import type { Calendar } from '../../core/interval.ts';
import type { Change } from '../change.ts';
import type { Runner } from '../methods/method.ts';
import type { Commit } from '../store.ts';
import type { Operation, ReadOperation } from '../transaction.ts';
import type { Acknowledged, Stamp } from './acknowledged.ts';
import { isDamage, unavailable } from './faults.ts';
import type { LogSync } from './log-sync.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { OWN_RUN, WaitingWrites } from './waiting-writes.ts';

/** How long the reads or the writes of one turn can occupy the event loop, in milliseconds; the rest waits. */
const BATCH_TIME = 4;

/** From this many writes on, half of them go first if the disk is idle. */
const WORTH_HALVING = 16;

interface Call {
  operation: Operation<unknown>;
  /** When it came, by the wall clock. */
  at: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** What one transaction contains: all its calls, those that succeeded, and those that failed alone. */
interface Batch {
  calls: Call[];
  done: { call: Call; value: unknown }[];
  failed: { call: Call; error: unknown }[];
  /** The most calls that it accepts. */
  limit: number;
  /** From this call on, all are the daemon's own work, which begins only until `ownUntil`. */
  limitedFrom: number;
  ownUntil: number;
}

export class GroupCommit implements Runner {
  commits = 0;
  failingSince: number | null = null;
  failure: StoreUnavailable | null = null;
  readonly #db: Database.Database;
  readonly #tx: SqliteTransaction;
  readonly #sync: LogSync;
  readonly #acknowledged: Acknowledged;
  readonly #clock: () => number;
  readonly #onCommit: ((commit: Commit) => void) | undefined;
  readonly #announce: (changes: readonly Change[]) => void;
  #reads: Call[] = [];
  readonly #writes = new WaitingWrites<Call>();
  #resting: NodeJS.Timeout | null = null;
  #scheduled = false;
  #running: Promise<void> = Promise.resolve();
  refused: BlindWindow | null = null;

  constructor(options: {
    db: Database.Database;
    calendar: Calendar;
    sync: LogSync;
    acknowledged: Acknowledged;
    clock: () => number;
    announce: (changes: readonly Change[]) => void;
    onCommit?: ((commit: Commit) => void) | undefined;
    checkInsKept?: (() => number) | undefined;
  }) {
    this.#db = options.db;
    this.#tx = new SqliteTransaction(options.db, options.calendar, options.checkInsKept);
    this.#sync = options.sync;
    this.#acknowledged = options.acknowledged;
    this.#clock = options.clock;
    this.#announce = options.announce;
    this.#onCommit = options.onCommit;
    this.#sync.onReleased(() => this.#schedule());
  }

  read<T>(operation: ReadOperation<T>): Promise<T> {
    return this.#enqueue(operation, (call) => this.#reads.push(call));
  }

  write<T>(operation: Operation<T>): Promise<T> {
    return this.#enqueue(operation, (call) => this.#writes.addUrgent(call));
  }

  writeInBackground<T>(operation: Operation<T>): Promise<T> {
    return this.#enqueue(operation, (call) => this.#writes.addOwn(call));
  }

  /** Resolves when every call made so far has ended. */
  async drain(): Promise<void> {
    while (this.#scheduled || this.#writes.size > 0) {
      this.#writes.endRest();
      this.#schedule();
      await new Promise(setImmediate);
      await this.#running;
    }
    await this.#sync.idle();
  }

  #enqueue<T>(operation: Operation<T>, add: (call: Call) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const at = this.#clock();
      add({ operation, at, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // One more turn of the event loop gathers what arrives meanwhile: under load, batches grow by half, and a call that
    // comes alone waits some microseconds. While the daemon's own work runs, a turn may take milliseconds.
    const run = () => {
      this.#running = this.#runBatch();
    };
    setImmediate(() => {
      if (this.#writes.isWorking) run();
      else setImmediate(run);
    });
  }

  async #runBatch(): Promise<void> {
    if (this.#sync.failure) this.#refuseAll(this.#sync.failure);
    await this.#runReads(performance.now() + BATCH_TIME);
    if (this.#mayWrite()) await this.#runWrites(performance.now() + BATCH_TIME);
    this.#scheduled = false;
    if (this.#reads.length > 0 || this.#mayWrite()) this.#schedule();
    else if (this.#writes.size > 0 && !this.#sync.holding) this.#goOnAfterRest();
  }

  /** While writes are held, the release resumes them. */
  #mayWrite(): boolean {
    return this.#writes.hasTurn && !this.#sync.holding;
  }

  /** The rest period may already be over: then the work goes on at once. */
  #goOnAfterRest(): void {
    this.#resting ??= setTimeout(() => {
      this.#resting = null;
      this.#schedule();
    }, this.#writes.restsFor);
  }

  /** What the disk has is no longer known: nothing can be read or written until a restart checks it. */
  #refuseAll(failure: Error): void {
    this.failingSince ??= this.#clock();
    this.failure = refusalOf(failure);
    const calls = [...this.#reads, ...this.#writes.takeAll()];
    this.#reads = [];
    for (const call of calls) call.reject(refusalOf(failure));
  }

  async #runReads(until: number): Promise<void> {
    const taken = this.#reads;
    this.#reads = [];
    for (let index = 0; index < taken.length; index += 1) {
      const call = taken[index] as Call;
      try {
        call.resolve(await call.operation(this.#tx));
      } catch (error) {
        call.reject(unavailable(error) ?? error);
      }
      if (performance.now() > until) {
        this.#reads = taken.slice(index + 1).concat(this.#reads);
        return;
      }
    }
  }

  /**
   * A savepoint around each operation costs a tenth of a check-in, so the first attempt has none. If an operation fails
   * after it has written, everything is undone and repeated with savepoints, and that operation fails alone.
   */
  async #runWrites(until: number): Promise<void> {
    const turn = this.#writes.turn();
    const { writes: calls, own, limitedFrom } = turn;
    const began = performance.now();
    const limits = { limit: this.#share(calls.length, own), limitedFrom, ownUntil: began + OWN_RUN };
    const batch: Batch = { calls: [], done: [], failed: [], ...limits };
    let stamp: Stamp | null = null;
    try {
      if (!(await this.#attempt(batch, calls, until, false))) await this.#attempt(batch, calls, until, true);
      if (this.#tx.written > 0) stamp = this.#acknowledged.stamp(this.#clock());
      this.#tx.commit();
    } catch (error) {
      this.#rollBack();
      // If not even the transaction began, none of the waiting calls has a chance.
      const refused = batch.calls.length === 0 ? calls : batch.calls;
      this.#writes.takeOut(refused.length, turn, 0);
      this.#failBatch(refused, error);
      return;
    }
    const took = performance.now() - began;
    this.#writes.takeOut(batch.calls.length, turn, took);
    this.#committed(batch, stamp, took);
  }

  /**
   * How many of `all` writes go into one transaction. Taking all at once would leave the disk idle while they are
   * decided, and the event loop idle while they are synced, because clients that wait for their answers send nothing
   * new. Halves take turns: one is synced while the other is decided. If the daemon's own work waits after them, it
   * must not wait once more for each half.
   */
  #share(all: number, own: number): number {
    if (all < WORTH_HALVING || this.#sync.syncing || own > 0) return all;
    return Math.ceil(all / 2);
  }

  /** False if an operation failed that cannot be undone alone; the whole attempt is then undone. */
  async #attempt(batch: Batch, calls: readonly Call[], until: number, alone: boolean): Promise<boolean> {
    batch.calls.length = batch.done.length = batch.failed.length = 0;
    this.#tx.begin();
    for (const call of calls) {
      const { length: taken } = batch.calls;
      if (taken >= batch.limit) return true;
      const end = taken >= batch.limitedFrom ? batch.ownUntil : until;
      if (taken > 0 && performance.now() >= end) return true;
      batch.calls.push(call);
      const written = this.#tx.written;
      try {
        const run = () => call.operation(this.#tx);
        batch.done.push({ call, value: await (alone ? this.#tx.savepoint(run) : run()) });
      } catch (error) {
        if (unavailable(error) || !this.#db.inTransaction) throw error;
        if (!alone && this.#tx.written > written) {
          this.#tx.rollback();
          return false;
        }
        batch.failed.push({ call, error });
      }
    }
    return true;
  }

  /** If even the rollback fails, nothing can use the connection any more. */
  #rollBack(): void {
    try {
      this.#tx.rollback();
    } catch (error) {
      this.#sync.fail(refusalOf(error));
    }
  }

  #committed({ done, failed }: Batch, stamp: Stamp | null, durationMs: number): void {
    for (const { call, error } of failed) call.reject(error);
    const { changes, statements } = this.#tx.takeCommitted();
    if (stamp === null) {
      for (const { call, value } of done) call.resolve(value);
      return;
    }
    this.commits += 1;
    this.#acknowledged.committed(stamp);
    this.#onCommit?.({ calls: done.length, durationMs });
    this.failingSince = null;
    this.failure = null;
    this.#sync.committed(statements, (error) => {
      if (!error) this.#acknowledged.synced(stamp);
      for (const { call, value } of done) {
        if (error) call.reject(refusalOf(error));
        else call.resolve(value);
      }
      if (!error) this.#announce(changes);
    });
  }

  forgetRefused(told: BlindWindow | null): void {
    if (this.refused === told) this.refused = null;
  }

  /**
   * A call waits before it is refused, and the disk may have been hanging: the stretch begins when the first call came.
   */
  #noteRefusal(calls: readonly Call[]): void {
    const now = this.#clock();
    this.failingSince ??= now;
    const start = calls.reduce((earliest, { at }) => Math.min(earliest, at), this.refused?.start ?? now);
    this.refused = { start, end: now };
  }

  /** Nobody is falsely told "stored": a commit that failed fails every call of its batch. */
  #failBatch(calls: readonly Call[], error: unknown): void {
    const refusal = unavailable(error);
    if (refusal) this.#noteRefusal(calls);
    if (refusal) this.failure = refusal;
    if (refusal && isDamage(refusal)) this.#sync.fail(refusal);
    for (const call of calls) call.reject(refusal ?? error);
  }
}

function refusalOf(failure: unknown): StoreUnavailable {
  return unavailable(failure) ?? new StoreUnavailable(failure);
}
