/** How the store's methods are derived from the operations: the same for every database. */
import type { Act } from '../../core/activity/activity.ts';
import type { BlindWindow } from '../../core/blind-window.ts';
import type { Operation, Reading, ReadOperation, Transaction } from '../transaction.ts';

/** Runs operations on one database; each kind of database has its own. */
export interface Runner {
  /** Runs `operation` on what is committed. Never waits for the disk. */
  read<T>(operation: ReadOperation<T>): Promise<T>;
  /**
   * Runs `operation` in a transaction, in the order of the calls; resolves when that is durable. If `of` is given, it
   * can run at the same time as calls for others.
   */
  write<T>(operation: Operation<T>, of?: string): Promise<T>;
  /** As `write`, for the daemon's own work: after the calls that somebody waits for on the network. */
  writeInBackground<T>(operation: Operation<T>): Promise<T>;
  /** From the first to the last refused write that has no blind window yet. */
  readonly refused: BlindWindow | null;
  /** Records that what was refused has its blind window, unless more was refused since `told` was read. */
  forgetRefused(told: BlindWindow | null): void;
}

interface ReadMethod<Arguments extends unknown[], Result> {
  how: 'read';
  operation: (tx: Reading, ...values: Arguments) => Promise<Result>;
}

interface WriteMethod<Arguments extends unknown[], Result> {
  how: 'write' | 'writeInBackground';
  operation: (tx: Transaction, ...values: Arguments) => Promise<Result>;
}

/** An operation, and how to run it. */
type Method<Arguments extends unknown[], Result> =
  | ReadMethod<Arguments, Result>
  | WriteMethod<Arguments, Result>;

/** One line for each method of a part of the store; a missing or unsuitable one does not compile. */
export type Table<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...values: infer Arguments) => Promise<infer Result>
    ? Method<Arguments, Result>
    : never;
};

/** For operations that change nothing: one that can write does not compile here. */
export function read<Arguments extends unknown[], Result>(
  operation: ReadMethod<Arguments, Result>['operation'],
): ReadMethod<Arguments, Result> {
  return { how: 'read', operation };
}

/** For what somebody waits for on the network. */
export function write<Arguments extends unknown[], Result>(
  operation: WriteMethod<Arguments, Result>['operation'],
): WriteMethod<Arguments, Result> {
  return { how: 'write', operation };
}

/** For the daemon's own work, which lets calls go first that somebody waits for. */
export function work<Arguments extends unknown[], Result>(
  operation: WriteMethod<Arguments, Result>['operation'],
): WriteMethod<Arguments, Result> {
  return { how: 'writeInBackground', operation };
}

/** The methods of a table, on the database of `runner`. */
export function bind<Part>(table: Table<Part>, runner: Runner): Part {
  const entries = Object.entries<Method<unknown[], unknown>>(table as Record<string, never>);
  return Object.fromEntries(
    entries.map(([name, method]) => [name, (...values: unknown[]) => run(method, runner, values)]),
  ) as Part;
}

function run(method: Method<unknown[], unknown>, runner: Runner, values: unknown[]): Promise<unknown> {
  if (method.how === 'read') return runner.read((tx) => method.operation(tx, ...values));
  return runner[method.how]((tx) => method.operation(tx, ...values));
}

/** One line for each thing that people do; an operation that does not accept who does it does not compile. */
export type ActTable<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...values: infer Arguments) => Promise<infer Result>
    ? (tx: Transaction, act: Act, ...values: Arguments) => Promise<Result>
    : never;
};

/**
 * For operations that change the case they are given first: what two people do to one case at the same time is done one
 * after the other, so that limits and names hold, whatever else is running.
 */
export function inCase<CaseId extends string | null, Arguments extends unknown[], Result>(
  operation: (tx: Transaction, act: Act, caseId: CaseId, ...values: Arguments) => Promise<Result>,
): typeof operation {
  return async (tx, act, caseId, ...values) => {
    await tx.lock(`case ${caseId ?? ''}`);
    return operation(tx, act, caseId, ...values);
  };
}

/** The methods of a table, done in somebody's name. */
export function bindActs<Part>(table: ActTable<Part>, runner: Runner, act: Act): Part {
  const entries = Object.entries<ActOperation>(table as Record<string, never>);
  return Object.fromEntries(
    entries.map(([name, operation]) => [
      name,
      (...values: unknown[]) => runner.write((tx) => operation(tx, act, ...values), ownerOf(values)),
    ]),
  ) as Part;
}

/** The case that something is done to: nearly every act is given it first. */
function ownerOf([first]: readonly unknown[]): string {
  return typeof first === 'string' ? first : '';
}

type ActOperation = (tx: Transaction, act: Act, ...values: unknown[]) => Promise<unknown>;
