import type { Calendar } from '../core/interval.ts';
import type { Change } from './change.ts';

export type Value = string | number | Uint8Array | null;

/** A value, or a promise of one: operations always await, so that they run unchanged on a remote database. */
export type Awaitable<T> = T | Promise<T>;

/**
 * What an operation that only reads works with: it sees what is committed. Whatever it wrote would never become
 * durable, so it is given nothing to write with.
 */
export interface Reading {
  /** The first row, or undefined. */
  get<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined>;
  all<Row>(sql: string, ...values: Value[]): Awaitable<Row[]>;
  /**
   * As `get`. In a transaction that writes, nobody else changes the row before the transaction is over: the row of the
   * table that the statement calls `s`, or of its only table.
   */
  getHeld<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined>;
  /** The result of `load`, which is called once in this transaction: for rows that many operations of a batch read. */
  remember<T>(key: string, load: () => Promise<T>): Promise<T>;
  readonly calendar: Calendar;
  /** How many of a snitch's newest check-ins are kept; it can change while the store is open. */
  readonly checkInsKept: number;
}

/**
 * What an operation that writes works with. On SQLite, operations run one after another, and nothing else touches the
 * database between two awaits of one. On PostgreSQL several run at once: what must not change meanwhile is read with
 * `getHeld` and its like, or protected with `lock`.
 */
export interface Transaction extends Reading {
  /** As `all`, and nobody else changes the rows before this transaction is over. Waits for rows that others change. */
  allHeld<Row>(sql: string, ...values: Value[]): Awaitable<Row[]>;
  /** As `allHeld`, without the rows that others are working on: those are theirs. */
  allFree<Row>(sql: string, ...values: Value[]): Awaitable<Row[]>;
  /**
   * Waits until no other transaction has this name, and holds it to the end of this one. Locks are taken in the same
   * order everywhere, so that no two transactions wait for each other: a case, reschedules, blind windows, retention;
   * the states of snitches; everything else.
   */
  lock(name: LockName): Awaitable<void>;
  /** Inserts one row and returns the `id` that the database gave it. */
  insert(sql: string, ...values: Value[]): Awaitable<number>;
  /**
   * As `run`, if nobody needs the number of changed rows: it may still be under way when the next statement is sent.
   */
  put(sql: string, ...values: Value[]): void;
  /** The number of rows that changed. */
  run(sql: string, ...values: Value[]): Awaitable<number>;
  /**
   * Says which snitches, by their numbers, are about to be handled one after another at `now`, so that what all of them
   * need can be read together. It does not change the result of any later statement.
   */
  foresee(ids: readonly number[], now: number): Awaitable<void>;
  /** Drops everything that is remembered, because this operation changed it. */
  forget(): void;
  /** Undoes what `operation` wrote if it throws, and only that; the error is rethrown. */
  savepoint<T>(operation: () => Promise<T>): Promise<T>;
  /** Tells the listeners of the store, once this transaction is durable. */
  announce(change: Change): void;
}

/** What only one transaction at a time changes, if several run. */
export type LockName =
  | `case ${string}`
  | 'admin keys'
  | 'reschedules'
  | 'reliefs'
  | 'deletions'
  | 'silences'
  | 'blind windows'
  | 'retention'
  | `activity ${string}`;

export type ReadOperation<T> = (tx: Reading) => Promise<T>;
export type Operation<T> = (tx: Transaction) => Promise<T>;
