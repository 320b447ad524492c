import type pg from 'pg';
import type { Calendar } from '../../core/interval.ts';
import type { Change } from '../change.ts';
import { COUNT } from '../operations/status-counts.ts';
import type { Awaitable, LockName, Transaction, Value } from '../transaction.ts';
import { type Statement, translated } from './dialect.ts';
import { codeOf, TRANSACTION_FAILED, unavailable } from './faults.ts';
import type { Parameter, Session } from './session.ts';

/**
 * Advisory locks are identified by two numbers. The first is ours, so that they never clash with other programs' locks.
 */
export const LOCKS = 0x736e6974;

/** A transaction on one connection; the runner begins and ends it. */
export class PostgresTransaction implements Transaction {
  readonly calendar: Calendar;
  protected readonly session: Session;
  readonly #checkInsKept: () => number;
  readonly #remembered = new Map<string, Promise<unknown>>();
  readonly #held: boolean;
  readonly #sent: Promise<unknown>[] = [];
  /** What to add to the counts at the end, by case and status. */
  #counted: Counted = new Map();
  changes: Change[] = [];

  /** @param options `held`: whether rows that are read to be changed are locked, as in a transaction that writes */
  constructor(
    session: Session,
    { calendar, checkInsKept, held }: { calendar: Calendar; checkInsKept: () => number; held: boolean },
  ) {
    this.session = session;
    this.calendar = calendar;
    this.#checkInsKept = checkInsKept;
    this.#held = held;
  }

  get checkInsKept(): number {
    return this.#checkInsKept();
  }

  get<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined> {
    return this.#first<Row>(sql, values, '');
  }

  all<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.rows<Row>(sql, values);
  }

  getHeld<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined> {
    return this.#first<Row>(sql, values, this.#held ? held(sql) : '');
  }

  allHeld<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.rows<Row>(sql, values, held(sql));
  }

  allFree<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.rows<Row>(sql, values, `${held(sql)} SKIP LOCKED`);
  }

  insert(sql: string, ...values: Value[]): Awaitable<number> {
    return this.#inserted(sql, values);
  }

  run(sql: string, ...values: Value[]): Awaitable<number> {
    return this.#changed(sql, values);
  }

  async #first<Row>(sql: string, values: Value[], clause: string): Promise<Row | undefined> {
    return (await this.rows<Row>(sql, values, clause))[0];
  }

  async #inserted(sql: string, values: Value[]): Promise<number> {
    const [row] = await this.rows<{ id: number }>(sql, values, 'RETURNING id');
    if (!row) throw new Error('an INSERT gave no id');
    return row.id;
  }

  async #changed(sql: string, values: readonly Value[]): Promise<number> {
    return (await this.execute(translated(sql), values)).rowCount ?? 0;
  }

  put(sql: string, ...values: Value[]): void {
    if (sql === COUNT) this.#count(values);
    else this.#sent.push(this.execute(translated(sql), values));
  }

  protected sendUnawaited(statement: Statement, values: readonly Parameter[]): void {
    this.#sent.push(this.session.query(statement, values));
  }

  /**
   * Sends what was gathered; call it just before the commit. Only one transaction at a time can hold the counts of a
   * case: all transactions write them last and in the same order, so that none waits long and no two wait for each
   * other.
   */
  sendLast(): void {
    const counted = [...this.#counted.values()].filter(({ change }) => change !== 0).sort(byKey);
    this.#counted = new Map();
    if (counted.length === 0) return;
    const column = <Name extends keyof Count>(name: Name) => counted.map((count) => count[name]);
    this.sendUnawaited(WRITE_COUNTS, [column('caseId'), column('status'), column('change')]);
  }

  #count([caseId, status, change]: readonly Value[]): void {
    const key = `${caseId} ${status}`;
    const before = this.#counted.get(key)?.change ?? 0;
    const count = { caseId: String(caseId), status: String(status), change: before + Number(change) };
    this.#counted.set(key, count);
  }

  protected countedSoFar(): Counted {
    return new Map(this.#counted);
  }

  /** Restores the counts, because what was counted since is undone. */
  protected countAnew(counted: Counted): void {
    this.#counted = counted;
  }

  /** Does nothing here: each statement reads what it needs. */
  async foresee(_ids: readonly number[], _now: number): Promise<void> {}

  /** Resolves when all statements that were not awaited are done. */
  async settled(): Promise<void> {
    await Promise.all(this.#sent);
  }

  /** Statements that were undone need not be waited for. */
  protected forgetSent(): void {
    this.#sent.length = 0;
  }

  /** The real cause, if a statement failed only because one that was not awaited had failed before it. */
  async causeOf(error: unknown): Promise<unknown> {
    if (codeOf(error) !== TRANSACTION_FAILED) return error;
    return this.settled().then(
      () => error,
      (cause: unknown) => cause,
    );
  }

  /** The connection runs later statements only after it has the lock: there is nothing to wait for here. */
  lock(name: LockName): void {
    this.#sent.push(this.execute(LOCK, [LOCKS, name]));
  }

  /** As if `remember` had loaded it. */
  know<T>(key: string, value: T): void {
    this.#remembered.set(key, Promise.resolve(value));
  }

  async remember<T>(key: string, load: () => Promise<T>): Promise<T> {
    const remembered = this.#remembered.get(key) as Promise<T> | undefined;
    if (remembered) return remembered;
    const value = await load();
    this.know(key, value);
    return value;
  }

  forget(): void {
    this.#remembered.clear();
  }

  /** A lost race or a lost connection concerns the whole transaction. */
  async savepoint<T>(operation: () => Promise<T>): Promise<T> {
    const announced = this.changes.length;
    const sent = this.#sent.length;
    const counted = this.countedSoFar();
    void this.session.control('SAVEPOINT operation');
    try {
      const value = await operation();
      await this.session.control('RELEASE operation');
      return value;
    } catch (caught) {
      const error = await this.causeOf(caught);
      const concernsAll = unavailable(error);
      if (concernsAll) throw concernsAll;
      this.changes.length = announced;
      this.#sent.length = sent;
      this.countAnew(counted);
      this.forget();
      void this.session.control('ROLLBACK TO operation');
      await this.session.control('RELEASE operation');
      throw error;
    }
  }

  announce(change: Change): void {
    this.changes.push(change);
  }

  protected async rows<Row>(sql: string, values: Value[], clause = ''): Promise<Row[]> {
    return (await this.execute<Row & {}>(translated(sql, clause), values)).rows;
  }

  protected execute<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: readonly Parameter[],
  ): Promise<pg.QueryResult<Row>> {
    if (this.#counted.size > 0 && /\bstatus_counts\b/.test(statement.text)) this.sendLast();
    return this.session.query<Row>(statement, values);
  }
}

interface Count {
  caseId: string;
  status: string;
  change: number;
}

export type Counted = Map<string, Count>;

function byKey(one: Count, other: Count): number {
  const [a, b] = [`${one.caseId} ${one.status}`, `${other.caseId} ${other.status}`];
  return a < b ? -1 : a > b ? 1 : 0;
}

const WRITE_COUNTS: Statement = {
  name: 'snitch_counts',
  text: `INSERT INTO status_counts (case_id, status, count)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
    ON CONFLICT (case_id, status) DO UPDATE SET count = status_counts.count + excluded.count`,
};

const LOCK = { name: 'snitch_lock', text: 'SELECT pg_advisory_xact_lock($1, hashtext($2))' };

/** Locks the rows of the table that the statement calls `s`, or of its only table. */
function held(sql: string): string {
  return /\bsnitch_states AS s\b/.test(sql) ? 'FOR UPDATE OF s' : 'FOR UPDATE';
}
