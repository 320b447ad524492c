import type Database from 'better-sqlite3';
import type { Calendar } from '../../core/interval.ts';
import type { Change } from '../store.ts';
import type { Transaction, Value } from '../transaction.ts';
import { unavailable } from './faults.ts';

/** The transaction of the one connection; the batch runner begins and ends it. */
export class SqliteTransaction implements Transaction {
  readonly calendar: Calendar;
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement<Value[]>>();
  /** Statements since the transaction began that may have changed something. */
  written = 0;
  #changes: Change[] = [];
  readonly #remembered = new Map<string, unknown>();

  constructor(db: Database.Database, calendar: Calendar) {
    this.#db = db;
    this.calendar = calendar;
  }

  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  async remember<T>(key: string, load: () => Promise<T>): Promise<T> {
    if (this.#remembered.has(key)) return this.#remembered.get(key) as T;
    const value = await load();
    this.#remembered.set(key, value);
    return value;
  }

  forget(): void {
    this.#remembered.clear();
  }

  run(sql: string, ...values: Value[]): number {
    const { changes } = this.#statement(sql).run(...values);
    if (changes > 0) this.written += 1;
    return changes;
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

  #control(sql: string): void {
    this.#statement(sql).run();
  }

  #statement(sql: string): Database.Statement<Value[]> {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare<Value[]>(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
