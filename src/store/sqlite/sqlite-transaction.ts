import type Database from 'better-sqlite3';
import type { Calendar } from '../../core/interval.ts';
import type { Change } from '../change.ts';
import type { Transaction, Value } from '../transaction.ts';
import { unavailable } from './faults.ts';

interface Prepared {
  statement: Database.Statement<Value[]>;
  /** Also true if it returns rows, as an INSERT … RETURNING does. */
  writes: boolean;
}

/** The transaction on the only connection; the group commit begins and ends it. */
export class SqliteTransaction implements Transaction {
  readonly calendar: Calendar;
  readonly #db: Database.Database;
  readonly #checkInsKept: () => number;
  readonly #statements = new Map<string, Prepared>();
  /** How many statements have changed something since the transaction began. */
  written = 0;
  #changes: Change[] = [];
  readonly #remembered = new Map<string, Promise<unknown>>();

  /** @param checkInsKept see `Transaction.checkInsKept`; if absent, all are kept */
  constructor(db: Database.Database, calendar: Calendar, checkInsKept = () => Number.MAX_SAFE_INTEGER) {
    this.#db = db;
    this.calendar = calendar;
    this.#checkInsKept = checkInsKept;
  }

  get checkInsKept(): number {
    return this.#checkInsKept();
  }

  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    const { statement, writes } = this.#statement(sql);
    const row = statement.get(...values) as Row | undefined;
    if (writes && row !== undefined) this.written += 1;
    return row;
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    const { statement, writes } = this.#statement(sql);
    const rows = statement.all(...values) as Row[];
    if (writes && rows.length > 0) this.written += 1;
    return rows;
  }

  /** There is one connection: nobody else changes what is read here before the transaction is over. */
  getHeld<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.get<Row>(sql, ...values);
  }

  allHeld<Row>(sql: string, ...values: Value[]): Row[] {
    return this.all<Row>(sql, ...values);
  }

  allFree<Row>(sql: string, ...values: Value[]): Row[] {
    return this.all<Row>(sql, ...values);
  }

  lock(): void {}

  /** Reading ahead saves nothing here: each statement alone costs as little. */
  foresee(): void {}

  remember<T>(key: string, load: () => Promise<T>): Promise<T> {
    const remembered = this.#remembered.get(key) as Promise<T> | undefined;
    return remembered ?? this.#load(key, load);
  }

  forget(): void {
    this.#remembered.clear();
  }

  /** Asking SQLite for the id afterwards is a third faster than `RETURNING id`. */
  insert(sql: string, ...values: Value[]): number {
    const { lastInsertRowid } = this.#statement(sql).statement.run(...values);
    this.written += 1;
    return Number(lastInsertRowid);
  }

  run(sql: string, ...values: Value[]): number {
    const { changes } = this.#statement(sql).statement.run(...values);
    if (changes > 0) this.written += 1;
    return changes;
  }

  put(sql: string, ...values: Value[]): void {
    this.run(sql, ...values);
  }

  async savepoint<T>(operation: () => Promise<T>): Promise<T> {
    const announced = this.#changes.length;
    const written = this.written;
    this.#control('SAVEPOINT operation');
    try {
      const value = await operation();
      this.#control('RELEASE operation');
      return value;
    } catch (error) {
      this.#changes.length = announced;
      this.forget();
      this.written = written;
      if (this.#db.inTransaction) {
        this.#control('ROLLBACK TO operation');
        this.#control('RELEASE operation');
      }
      throw unavailable(error) ?? error;
    }
  }

  announce(change: Change): void {
    this.#changes.push(change);
  }

  begin(): void {
    this.forget();
    this.#control('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.#control('COMMIT');
  }

  rollback(): void {
    this.forget();
    this.#changes = [];
    this.written = 0;
    if (this.#db.inTransaction) this.#control('ROLLBACK');
  }

  /** What the transaction that was just committed announced, and how many statements wrote in it. */
  takeCommitted(): { changes: Change[]; statements: number } {
    const committed = { changes: this.#changes, statements: this.written };
    this.#changes = [];
    this.written = 0;
    return committed;
  }

  /** Remembers the promise itself, which every check-in of a batch then awaits without making one of its own. */
  async #load<T>(key: string, load: () => Promise<T>): Promise<T> {
    const value = await load();
    this.#remembered.set(key, Promise.resolve(value));
    return value;
  }

  #control(sql: string): void {
    this.#statement(sql).statement.run();
  }

  #statement(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (!prepared) {
      const statement = this.#db.prepare<Value[]>(sql);
      prepared = { statement, writes: !statement.readonly };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }
}
