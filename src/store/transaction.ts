import type { Calendar } from '../core/interval.ts';
import type { Change } from './change.ts';

export type Value = string | number | Uint8Array | null;

/** A value, or the promise of one: operations always await, so that they run unchanged on a remote database. */
export type Awaitable<T> = T | Promise<T>;

/**
 * What an operation that only reads works with: it sees what is committed, in no transaction of its own, and what it
 * wrote would never be synced. So it is given nothing to write with.
 */
export interface Reading {
  /** The first row, or undefined. */
  get<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined>;
  all<Row>(sql: string, ...values: Value[]): Awaitable<Row[]>;
  /**
   * As `get`. In a transaction that writes, nobody else changes the row before that is over: the one of the table that
   * the statement calls `s`, or of its only table.
   */
  getHeld<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined>;
  /** What `load` answers, asked for once in this transaction: for rows that many operations of a batch read. */
  remember<T>(key: string, load: () => Promise<T>): Promise<T>;
  readonly calendar: Calendar;
  /** The newest check-ins of a snitch that are kept; it may change while the store is open. */
  readonly checkInsKept: number;
}

/**
 * What an operation that writes works with. Only the batch runner makes one, and it runs one operation after the other:
 * between two awaits of an operation nothing else touches the database.
 */
export interface Transaction extends Reading {
  /** As `all`, and nobody else changes the rows before this transaction is over. Waits for those that others change. */
  allHeld<Row>(sql: string, ...values: Value[]): Awaitable<Row[]>;
  /** As `allHeld`, without the rows that others are at work on: those are theirs. */
  allFree<Row>(sql: string, ...values: Value[]): Awaitable<Row[]>;
  /**
   * Waits until no other transaction has this name, and keeps it to the end of this one. The order in which locks are
   * taken is the same everywhere, so that nobody waits in a circle: a case, reschedules, blind windows, retention; the
   * states of snitches; all else.
   */
  lock(name: LockName): Awaitable<void>;
  /** Inserts one row and answers with the `id` that the database gave it. */
  insert(sql: string, ...values: Value[]): Awaitable<number>;
  /** As `run`, where nobody asks how many rows changed: it may be under way still when the next statement is asked for. */
  put(sql: string, ...values: Value[]): void;
  /** The number of rows that changed. */
  run(sql: string, ...values: Value[]): Awaitable<number>;
  /**
   * Tells which snitches, by their numbers, are about to be looked at one after the other at `now`, so that what all of
   * them ask for can be asked for together. Changes nothing of what any of them is answered.
   */
  foresee(ids: readonly number[], now: number): Awaitable<void>;
  /** Drops all that is remembered, because this operation changed it. */
  forget(): void;
  /** Undoes what `operation` wrote if it throws, and only that; the error is thrown on. */
  savepoint<T>(operation: () => Promise<T>): Promise<T>;
  /** Tells the listeners of the store, once this transaction is durable. */
  announce(change: Change): void;
}

/** What is changed by one transaction at a time, where several are at work. */
export type LockName =
  | `case ${string}`
  | 'admin keys'
  | 'reschedules'
  | 'reliefs'
  | 'silences'
  | 'blind windows'
  | 'retention'
  | `activity ${string}`;

export type ReadOperation<T> = (tx: Reading) => Promise<T>;
export type Operation<T> = (tx: Transaction) => Promise<T>;
