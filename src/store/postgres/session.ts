/** One connection while a transaction uses it: every statement has a name, types and a time limit. */
import type pg from 'pg';
import { StoreUnavailable } from '../../core/errors.ts';
import type { Value } from '../transaction.ts';
import { type Asked, Batch, Commit } from './batch.ts';
import { type Parameter, type Statement, TYPES, toParameter } from './dialect.ts';
import {
  CANCELLED,
  codeOf,
  isEndedByServer,
  isSaidByServer,
  isUnsent,
  LostCommit,
  NoAnswer,
  Unreachable,
  unavailable,
} from './faults.ts';
import { limitsOfServer } from './hosts/set-up.ts';

/**
 * What the store needs of a pool. Its clients are connected to a server that accepts writes, and best created with
 * `pipeline: true`: without it, each statement waits for the answer to the one before.
 */
export interface Pool {
  connect(): Promise<pg.PoolClient>;
  end(): Promise<void>;
}

export type { Parameter } from './dialect.ts';

/**
 * The commit was cut short while it waited for a standby: it is done here, but whether the standby has it is unknown.
 */
const UNKNOWN = /^(01000|57P01)$/;

const COMMIT: Asked = { statement: { name: 'snitch_commit', text: 'COMMIT' }, values: [] };

/**
 * A statement that took this share of the server's limit counts as late: the server's clock may start before ours does.
 */
const NEARLY = 0.95;

/** What a pool may say about its clients. */
interface Placed {
  /** The server it is connected to: a different one after a standby was promoted. */
  server?: string;
}

/** Connections whose settings have been made. */
const settled = new WeakSet<pg.PoolClient>();

/**
 * The server gives up before this program does: what was refused must not be done later, and a program that hangs or is
 * cut off in the middle of a transaction must not keep its rows from others for as long as they wait. And it answers a
 * commit only once that is on the disk, whatever the server's default.
 */
function settingsOf(deadline: number): string {
  const limits = Object.entries(limitsOfServer(deadline));
  return `SELECT ${limits.map(([name, value]) => `set_config('${name}', '${value}', false)`).join(', ')},
    set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
      ELSE current_setting('synchronous_commit') END, false)`;
}

/** Measures by our own clock: a server that hangs, or a network that drops everything, does not answer at all. */
export class Session {
  readonly #client: pg.PoolClient;
  readonly #deadline: number;
  #broken: Error | null = null;
  #warned: string | null = null;

  private constructor(client: pg.PoolClient, deadline: number) {
    this.#client = client;
    this.#deadline = deadline;
    client.on('notice', this.#noticed);
    client.on('error', this.#failed);
  }

  /**
   * @param deadline how long a connection and each statement may take, in milliseconds
   * @throws StoreUnavailable, and whatever connecting throws
   */
  static async open(pool: Pool, deadline: number): Promise<Session> {
    const asked = pool.connect();
    const client = await within(asked, deadline);
    if (client === null) {
      // A connection that comes too late goes back to the pool.
      asked.then(
        (late) => late.release(),
        () => {},
      );
      throw new NoAnswer('no connection to the database came', deadline);
    }
    const session = new Session(client, deadline);
    if (!settled.has(client)) {
      settled.add(client);
      void session.control(settingsOf(deadline));
    }
    return session;
  }

  /** The same for each session on one connection. */
  get connection(): object {
    return this.#client;
  }

  get server(): string {
    return (this.#client as Placed).server ?? '';
  }

  get isBroken(): boolean {
    return this.#broken !== null;
  }

  /**
   * Can be called again before the answer arrives. A promise that nobody awaits any more, because an earlier statement
   * failed, causes no unhandled rejection.
   */
  query<Row extends pg.QueryResultRow>(
    { name, text }: Statement,
    values: readonly Parameter[],
  ): Promise<pg.QueryResult<Row>> {
    const parameters = values.map((value) =>
      Array.isArray(value) ? value.map(toParameter) : toParameter(value as Value),
    );
    return this.#answer(this.#client.query<Row>({ name, text, values: parameters, types: TYPES }));
  }

  /** Sends a command that begins, ends or marks a transaction. */
  control(sql: string): Promise<pg.QueryResult> {
    return this.#answer(this.#client.query(sql));
  }

  /** Sends all of them, and resolves when all are done. From the second time on they are sent as one message. */
  together(asked: readonly Asked[]): Promise<pg.QueryResult[]> {
    return this.#answer(this.#batch(asked)?.answer ?? this.#oneByOne(asked));
  }

  #oneByOne(asked: readonly Asked[]): Promise<pg.QueryResult[]> {
    return Promise.all(asked.map(({ statement, values }) => this.query(statement, values)));
  }

  #batch(asked: readonly Asked[]): Batch | null {
    if (!Batch.isReady(this.#client, asked)) return null;
    const batch = new Batch(asked);
    this.#client.query(batch);
    return batch;
  }

  /**
   * Resolves when the whole transaction is committed, also on the standby if the server waits for one.
   *
   * @param last statements still to be run in the transaction
   * @returns the answers to `last`
   * @throws StoreUnavailable if it is not committed, or if that is unknown; LostCommit if the connection broke; what
   * the database says of `last`
   */
  async commit(last: readonly Asked[] = []): Promise<pg.QueryResult[]> {
    this.#warned = null;
    // The commit was never sent, so the server has undone everything.
    if (this.#broken) throw this.#noLonger(this.#broken);
    const { counted, answers } = this.#sendCommit(last);
    const results = await this.#answer(answers).catch((error: unknown) => {
      const fault = unavailable(error);
      const isUndone = this.#isUndone(error, last.length, counted);
      if (fault instanceof Unreachable) throw isUndone ? fault : new LostCommit(fault.cause);
      throw error;
    });
    const command = results.at(-1)?.command;
    // After a failed statement, COMMIT undoes everything and answers without an error.
    if (command !== 'COMMIT') throw new StoreUnavailable(new Error(`COMMIT was answered with ${command}`));
    if (this.#warned) {
      this.#broken ??= new Error(this.#warned);
      throw new StoreUnavailable(new Error(`it is not known whether a standby has it: ${this.#warned}`));
    }
    return results.slice(0, -1);
  }

  /** Whether the server reported a failure, or the end of the connection, before it reached the commit. */
  #isUndone(error: unknown, before: number, counted: Batch | Commit | null): boolean {
    if (counted === null || this.#warned !== null) return false;
    // Part of a batch may have arrived: the commit but not what follows it.
    if (counted instanceof Commit && isUnsent(error)) return true;
    const { completed } = counted;
    return completed < before ? isSaidByServer(error) : completed === before && isEndedByServer(error);
  }

  #sendCommit(last: readonly Asked[]): {
    counted: Batch | Commit | null;
    answers: Promise<pg.QueryResult[]>;
  } {
    const asked = [...last, COMMIT];
    if (last.length > 0) {
      const batch = this.#batch(asked);
      return { counted: batch, answers: batch?.answer ?? this.#oneByOne(asked) };
    }
    const commit = new Commit();
    this.#client.query(commit);
    return { counted: commit, answers: commit.answer };
  }

  /** Leaves the connection ready for the next transaction, or marks it broken. */
  async rollback(): Promise<void> {
    if (this.#broken) return;
    try {
      await this.control('ROLLBACK');
    } catch (error) {
      this.#broken ??= error as Error;
    }
  }

  release(): void {
    this.#client.off('notice', this.#noticed);
    this.#client.off('error', this.#failed);
    this.#client.release(this.#broken ?? undefined);
  }

  readonly #noticed = ({ code, message }: { code?: string | undefined; message?: string | undefined }) => {
    if (UNKNOWN.test(code ?? '')) this.#warned = message ?? 'a warning';
  };

  readonly #failed = (error: Error) => {
    this.#broken ??= error;
  };

  #answer<T>(asked: Promise<T>): Promise<T> {
    const answer = this.#inTime(asked);
    answer.catch(() => {});
    return answer;
  }

  async #inTime<T>(asked: Promise<T>): Promise<T> {
    asked.catch(() => {});
    if (this.#broken) throw this.#noLonger(this.#broken);
    const began = performance.now();
    const answer = await within(asked, this.#deadline).catch((error: unknown) => {
      throw this.#isLate(error, began) ? new NoAnswer('', this.#deadline, error) : error;
    });
    if (answer !== null) return answer;
    // The statement may still run: nobody else can be given this connection.
    const fault = new NoAnswer('the database did not answer', this.#deadline);
    this.#broken ??= fault;
    throw fault;
  }

  #noLonger(broken: Error): StoreUnavailable {
    return broken instanceof NoAnswer ? broken : new Unreachable(broken);
  }

  /** Whether the server gave up at its limit, rather than somebody having cancelled the statement before that. */
  #isLate(error: unknown, began: number): error is Error {
    const { statement_timeout: limit } = limitsOfServer(this.#deadline);
    return codeOf(error) === CANCELLED && performance.now() - began >= limit * NEARLY;
  }
}

/**
 * Waits for statements that were sent before a commit, and for the commit. If the server says that one of them failed,
 * that is the error, and the commit has failed as well. If the connection broke, the commit was under way, and only its
 * own error says what is known of it.
 */
export async function behind<T>(sent: Promise<unknown>, committed: Promise<T>): Promise<T> {
  committed.catch(() => {});
  await sent.catch(async (error: unknown) => {
    if (unavailable(error) instanceof Unreachable && !isSaidByServer(error)) await committed;
    throw error;
  });
  return committed;
}

/** Null if the answer does not come in time. */
function within<T>(asked: Promise<T>, deadline: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), deadline);
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
