/**
 * Runs operations in transactions of their own, several at once: READ COMMITTED, with the locks that the operations
 * take. A transaction that lost a race is run again.
 */
import type { BlindWindow } from '../../core/blind-window.ts';
import { StoreUnavailable } from '../../core/errors.ts';
import type { Calendar } from '../../core/interval.ts';
import type { Change } from '../change.ts';
import type { Runner } from '../methods/method.ts';
import type { Commit } from '../store.ts';
import type { Operation, ReadOperation } from '../transaction.ts';
import { LostRace, unavailable } from './faults.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import { type Pool, Session } from './session.ts';

export interface RunnerOptions {
  pool: Pool;
  calendar: Calendar;
  clock: () => number;
  /** How long a connection and each statement may take, in milliseconds. */
  deadline: number;
  checkInsKept: () => number;
  announce: (changes: readonly Change[]) => void;
  onCommit?: ((commit: Commit) => void) | undefined;
}

/** How often a transaction is run that loses races. */
const ATTEMPTS = 12;

/** A pause before the next attempt grows up to so many milliseconds. */
const LONGEST_PAUSE = 200;

/** Both see in a transaction what was committed when it began, and keep no row. */
const BEGIN_READING = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

export class PostgresRunner implements Runner {
  commits = 0;
  failingSince: number | null = null;
  refused: BlindWindow | null = null;
  readonly #options: RunnerOptions;
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  read<T>(operation: ReadOperation<T>): Promise<T> {
    return this.#track(this.#reading(operation));
  }

  write<T>(operation: Operation<T>): Promise<T> {
    return this.#track(this.#writing(operation));
  }

  writeInBackground<T>(operation: Operation<T>): Promise<T> {
    return this.#track(this.#writing(operation));
  }

  forgetRefused(told: BlindWindow | null): void {
    if (this.refused === told) this.refused = null;
  }

  /** Resolves when every call made so far is settled. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }

  /** What was committed, by whichever way. */
  committed(calls: number, durationMs: number, changes: readonly Change[]): void {
    this.commits += 1;
    this.failingSince = null;
    this.#options.onCommit?.({ calls, durationMs });
    this.#options.announce(changes);
  }

  /** A call waits before it is refused, and the database may have hung: the stretch begins when the first one came. */
  noteRefusal(since: number): void {
    const now = this.#options.clock();
    this.failingSince ??= now;
    this.refused = { start: Math.min(since, this.refused?.start ?? now), end: now };
  }

  #track<T>(running: Promise<T>): Promise<T> {
    const settled = running.then(
      () => {},
      () => {},
    );
    this.#running.add(settled);
    settled.finally(() => this.#running.delete(settled));
    return running;
  }

  async #reading<T>(operation: ReadOperation<T>): Promise<T> {
    const session = await this.#open();
    try {
      session.control(BEGIN_READING);
      const value = await operation(this.#transaction(session, false));
      // The answer need not wait for it, and the connection does.
      session.commit().catch(() => {}).finally(() => session.release());
      return value;
    } catch (error) {
      await session.rollback();
      session.release();
      throw unavailable(error) ?? error;
    }
  }

  async #writing<T>(operation: Operation<T>): Promise<T> {
    const since = this.#options.clock();
    try {
      return await this.retried(() => this.#attempt(operation));
    } catch (error) {
      if (error instanceof StoreUnavailable) this.noteRefusal(since);
      throw error;
    }
  }

  /** Runs `attempt` again as long as it loses races. */
  async retried<T>(attempt: () => Promise<T>): Promise<T> {
    for (let times = 1; ; times += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof LostRace) || times === ATTEMPTS) throw error;
        const pause = Math.min(LONGEST_PAUSE, 2 ** times) * Math.random();
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  async #attempt<T>(operation: Operation<T>): Promise<T> {
    const began = performance.now();
    const session = await this.#open();
    const tx = this.#transaction(session, true);
    try {
      session.control(BEGIN);
      const value = await operation(tx);
      await session.commit();
      this.committed(1, performance.now() - began, tx.changes);
      return value;
    } catch (error) {
      await session.rollback();
      throw unavailable(error) ?? error;
    } finally {
      session.release();
    }
  }

  async #open(): Promise<Session> {
    try {
      return await Session.open(this.#options.pool, this.#options.deadline);
    } catch (error) {
      // Whatever keeps the store from its database may be over later.
      throw unavailable(error) ?? new StoreUnavailable(error);
    }
  }

  #transaction(session: Session, held: boolean): PostgresTransaction {
    return new PostgresTransaction(session, { ...this.#options, held });
  }
}
