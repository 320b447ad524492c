/**
 * Runs operations in transactions of their own, several at once: READ COMMITTED, with the locks that the operations
 * take. A transaction that lost a race is run again; one whose connection broke before its commit is run again on
 * another.
 */
import type { BlindWindow } from '../../core/blind-window.ts';
import { StoreUnavailable } from '../../core/errors.ts';
import type { Calendar } from '../../core/interval.ts';
import type { Change } from '../change.ts';
import type { Runner } from '../methods/method.ts';
import type { Commit } from '../store.ts';
import type { Operation, ReadOperation } from '../transaction.ts';
import { AheadTransaction, NeedsCare } from './ahead-transaction.ts';
import {
  codeOf,
  isHeldUp,
  isMissing,
  isOfServer,
  isRefusedValue,
  LostRace,
  NoAnswer,
  UNIQUE_VIOLATION,
  Unreachable,
  unavailable,
} from './faults.ts';
import { Gate } from './gate.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import { behind, type Pool, Session } from './session.ts';
import { Turns } from './turns.ts';

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

/** Connections for each kind of call. No kind uses another's, so none can keep another waiting. */
const READING = 3;
const WRITING = 3;
const WORKING = 2;

/** The most attempts at a transaction that loses races. */
const ATTEMPTS = 12;

/** The longest pause before the next attempt, in milliseconds. */
const LONGEST_PAUSE = 200;

/** Everything a read sees is of one moment, as on SQLite. */
const BEGIN_READING = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

export class PostgresRunner implements Runner {
  commits = 0;
  failingSince: number | null = null;
  failure: StoreUnavailable | null = null;
  refused: BlindWindow | null = null;
  /**
   * The part of `refused` in which the database itself refused check-ins, as it would have refused them to any node.
   */
  refusedCheckIns: BlindWindow | null = null;
  readonly turns = new Turns();
  readonly #options: RunnerOptions;
  readonly #running = new Set<Promise<unknown>>();
  readonly #reads = new Gate(READING);
  readonly #writes = new Gate(WRITING);
  readonly #work = new Gate(WORKING);
  /** Called when a call got no answer, to refuse what still waits. */
  readonly #refusals: ((error: NoAnswer) => void)[] = [];
  readonly #refusedCheckIns: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.#options = options;
    for (const gate of [this.#reads, this.#writes, this.#work])
      this.onNoAnswer((error) => gate.refuse(error));
  }

  read<T>(operation: ReadOperation<T>): Promise<T> {
    return this.track(this.#reads.through(() => this.#reading(operation)));
  }

  write<T>(operation: Operation<T>, of?: string): Promise<T> {
    const since = this.#options.clock();
    const began = performance.now();
    const write = () => this.#writes.through(() => this.#attempt(operation));
    const run = () => this.#refusable(since, 'act', () => this.retried(began, write));
    return this.track(of === undefined ? run() : this.turns.act(of, run));
  }

  writeInBackground<T>(operation: Operation<T>): Promise<T> {
    const since = this.#options.clock();
    const run = async () => {
      await this.turns.behindAll();
      const began = performance.now();
      return this.retried(began, () => this.#work.through(() => this.#inSets(operation)));
    };
    return this.track(this.#refusable(since, 'work', run));
  }

  /**
   * Runs at once, without waiting for other calls and without using up one of their connections. Only for short, rare
   * work, one piece at a time: there is one connection to spare for it. Its success says nothing about other calls.
   */
  writeAside<T>(operation: Operation<T>): Promise<T> {
    const aside = async () => {
      const { failingSince, failure } = this;
      const value = await this.#attempt(operation);
      this.failingSince ??= failingSince;
      this.failure ??= failure;
      return value;
    };
    return this.track(this.retried(performance.now(), aside));
  }

  forgetRefused(told: BlindWindow | null): void {
    if (this.refused !== told) return;
    this.refused = null;
    this.refusedCheckIns = null;
  }

  /** Resolves when every call made so far has ended. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }

  track<T>(running: Promise<T>): Promise<T> {
    const settled: Promise<void> = running.then(
      () => void this.#running.delete(settled),
      () => void this.#running.delete(settled),
    );
    this.#running.add(settled);
    return running;
  }

  /** To be called after every commit, however it was made. */
  committed(calls: number, durationMs: number, changes: readonly Change[]): void {
    this.commits += 1;
    this.failingSince = null;
    this.failure = null;
    this.#options.onCommit?.({ calls, durationMs });
    this.#options.announce(changes);
  }

  /**
   * A call waits before it is refused, and the database may have been hanging: the stretch begins when the first call
   * came. If a person's request is refused because of something that only this request needs, that is no outage for
   * anybody else: check-ins that are affected are refused, and noted, themselves.
   *
   * @param since when the call came, by the wall clock
   */
  noteRefusal(since: number, error: StoreUnavailable, of: 'check-in' | 'act' | 'work'): void {
    if (of === 'act' && (isHeldUp(error) || isMissing(error))) {
      if (error instanceof NoAnswer) this.#writes.refuse(error);
      return;
    }
    const now = this.#options.clock();
    const widened = (window: BlindWindow | null) => ({
      start: Math.min(since, window?.start ?? now),
      end: now,
    });
    this.failingSince ??= now;
    this.failure = error;
    // What is missing stays missing: a window each time would excuse everybody for good.
    if (of === 'work' && isMissing(error)) return;
    this.refused = widened(this.refused);
    if (of === 'check-in' && isOfServer(error)) {
      this.refusedCheckIns = widened(this.refusedCheckIns);
      for (const tell of this.#refusedCheckIns) tell();
    }
    if (error instanceof NoAnswer) for (const refuse of this.#refusals) refuse(error);
  }

  /** `tell` is called for each check-in that the database itself refused. */
  onRefusedCheckIn(tell: () => void): void {
    this.#refusedCheckIns.push(tell);
  }

  /** Check-ins of this time were acknowledged, but are lost, just like those that were refused. */
  noteLost({ start, end }: BlindWindow): void {
    const widened = (window: BlindWindow | null) => ({
      start: Math.min(start, window?.start ?? start),
      end: Math.max(end, window?.end ?? end),
    });
    this.refused = widened(this.refused);
    this.refusedCheckIns = widened(this.refusedCheckIns);
    for (const tell of this.#refusedCheckIns) tell();
  }

  onNoAnswer(refuse: (error: NoAnswer) => void): void {
    this.#refusals.push(refuse);
  }

  /**
   * Repeats `attempt` while it loses races, a limited number of times, and while it does not reach the server, for as
   * long as a call may take.
   *
   * @param began by `performance.now()`
   */
  async retried<T>(began: number, attempt: () => Promise<T>): Promise<T> {
    for (let times = 1; ; times += 1) {
      try {
        return await attempt();
      } catch (error) {
        const mayGoOn =
          error instanceof LostRace
            ? times < ATTEMPTS
            : error instanceof Unreachable && performance.now() - began < this.#options.deadline;
        // A row that exists on every attempt is no race.
        const isThere = error instanceof LostRace && codeOf(error.cause) === UNIQUE_VIOLATION;
        if (!mayGoOn) throw isThere ? error.cause : error;
        const pause = Math.min(LONGEST_PAUSE, 2 ** times) * Math.random();
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  async open(): Promise<Session> {
    try {
      return await Session.open(this.#options.pool, this.#options.deadline);
    } catch (error) {
      // Whatever keeps the store from its database may pass.
      throw unavailable(error) ?? new StoreUnavailable(error);
    }
  }

  async #refusable<T>(since: number, of: 'act' | 'work', run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof StoreUnavailable) this.noteRefusal(since, error, of);
      throw error;
    }
  }

  async #reading<T>(operation: ReadOperation<T>): Promise<T> {
    const began = performance.now();
    return this.retried(began, async () => {
      const session = await this.open();
      try {
        void session.control(BEGIN_READING);
        return await operation(this.#transaction(session, false));
      } catch (error) {
        throw unavailable(error) ?? error;
      } finally {
        // Nothing was written: there is nothing to commit.
        void session.rollback().finally(() => session.release());
      }
    });
  }

  /** The program's own work concerns many rows: their statements are combined, unless one of them fails. */
  async #inSets<T>(operation: Operation<T>): Promise<T> {
    const { calendar, checkInsKept } = this.#options;
    try {
      return await this.#attempt(
        operation,
        (session) => new AheadTransaction(session, { calendar, checkInsKept, held: true }),
      );
    } catch (error) {
      if (error instanceof NeedsCare || isRefusedValue(error)) return this.#attempt(operation);
      throw error;
    }
  }

  async #attempt<T>(
    operation: Operation<T>,
    transaction = (session: Session) => this.#transaction(session, true),
  ): Promise<T> {
    const began = performance.now();
    const session = await this.open();
    const tx = transaction(session);
    try {
      void session.control(BEGIN);
      const value = await operation(tx);
      tx.sendLast();
      const committed = session.commit();
      await behind(tx.settled(), committed);
      this.committed(1, performance.now() - began, tx.changes);
      return value;
    } catch (caught) {
      const error = await tx.causeOf(caught);
      await session.rollback();
      throw unavailable(error) ?? error;
    } finally {
      session.release();
    }
  }

  #transaction(session: Session, held: boolean): PostgresTransaction {
    return new PostgresTransaction(session, { ...this.#options, held });
  }
}
