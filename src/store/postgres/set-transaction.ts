/**
 * The transaction for many check-ins. What every check-in reads was read beforehand for all of them, and what every
 * check-in writes is gathered and written for all of them in a few statements. The operation that decides is the same
 * as anywhere else: whatever else one of them asks for goes to the database as usual, after what was gathered so far.
 */
import type pg from 'pg';
import type { Calendar } from '../../core/interval.ts';
import { KEEP_OUTPUT, LOG, LOG_WITH_REPORT } from '../operations/check-ins.ts';
import { SELECT_LEARNED } from '../operations/learned.ts';
import { SAVE_TIMES, SAVE_TIMES_AND_LEARNED, SELECT_BY_TOKEN } from '../operations/states.ts';
import type { Awaitable, Value } from '../transaction.ts';
import type { Asked } from './batch.ts';
import type { Statement } from './dialect.ts';
import { codeOf, TRANSACTION_FAILED } from './faults.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import type { Parameter, Session } from './session.ts';
import { type Gathered, nothing, type SetRow, statementsFor, TIMES } from './set-statements.ts';

export class SetTransaction extends PostgresTransaction {
  readonly #rows = new Map<string, SetRow>();
  readonly #byId = new Map<number, SetRow>();
  /** What earlier check-ins of the set changed in these rows, sent or not. */
  readonly #times = new Map<number, Value[]>();
  readonly #learned = new Map<number, Uint8Array | null>();
  #ids: readonly number[] = [];
  #idsTaken = 0;
  /** What earlier check-ins have gathered (`#before`), and what the present one has (`#own`). */
  #before: Gathered = nothing();
  readonly #own: Gathered = nothing();
  #token = '';
  #isMarked = false;
  #isDirect = false;
  readonly #asked: Promise<unknown>[] = [];

  constructor(session: Session, options: { calendar: Calendar; checkInsKept: () => number }) {
    super(session, { calendar: options.calendar, checkInsKept: options.checkInsKept, held: true });
  }

  /** @param ids for the coming rows of the log, ascending */
  begin(rows: readonly SetRow[], ids: readonly number[]): void {
    this.#ids = ids;
    for (const row of rows) {
      this.#rows.set(row.token, row);
      this.#byId.set(row.id, row);
    }
  }

  /** If `checkIn` throws, undoes what it wrote, and only that; the error is rethrown. */
  async one<T>(token: string, checkIn: () => Promise<T>): Promise<T> {
    const announced = this.changes.length;
    const counted = this.countedSoFar();
    this.#token = token;
    this.#isMarked = false;
    try {
      const value = await checkIn();
      if (this.#isMarked) await this.session.control('RELEASE check_in');
      this.#keepOwn();
      return value;
    } catch (caught) {
      // If a statement sent for the whole set failed, that error is thrown instead: it concerns all of them.
      if (codeOf(caught) === TRANSACTION_FAILED) await Promise.all(this.#asked);
      const error = await this.causeOf(caught);
      this.forgetSent();
      this.changes.length = announced;
      this.#dropOwn();
      this.countAnew(counted);
      if (this.#isMarked) {
        this.forget();
        this.#ask(this.session.control('ROLLBACK TO check_in'));
        this.#ask(this.session.control('RELEASE check_in'));
      }
      throw error;
    }
  }

  /** Returns what is still gathered, to be sent with the commit. */
  rest(): Asked[] {
    return statementsFor(this.gathered());
  }

  protected gathered(): Gathered {
    const gathered = this.#before;
    this.#before = nothing();
    return gathered;
  }

  /** Whether everything written was gathered, and nothing went directly to the database. */
  get isOnlyGathered(): boolean {
    return !this.#isDirect;
  }

  /** The row with what was gathered for it; undefined if it was not read ahead, or may have changed since. */
  writtenRow(id: number): SetRow | undefined {
    const row = this.#byId.get(id);
    return row && this.#asWritten(row);
  }

  /** Resolves when everything that was sent is done. */
  async allDone(): Promise<void> {
    await Promise.all(this.#asked);
    await this.settled();
  }

  override getHeld<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined> {
    const row = sql === SELECT_BY_TOKEN ? this.#rows.get(String(values[0])) : undefined;
    return row ? (this.#asWritten(row) as Row) : super.getHeld<Row>(sql, ...values);
  }

  override get<Row>(sql: string, ...values: Value[]): Awaitable<Row | undefined> {
    const row = sql === SELECT_LEARNED ? this.#byId.get(Number(values[0])) : undefined;
    return row ? (this.#asWritten(row) as Row) : super.get<Row>(sql, ...values);
  }

  override insert(sql: string, ...values: Value[]): Awaitable<number> {
    const id = sql === LOG || sql === LOG_WITH_REPORT ? this.#ids[this.#idsTaken] : undefined;
    if (id === undefined) return super.insert(sql, ...values);
    this.#idsTaken += 1;
    this.#own.logged.push([id, ...values]);
    return id;
  }

  override run(sql: string, ...values: Value[]): Awaitable<number> {
    if (sql === KEEP_OUTPUT) this.#own.outputs.push(values);
    else if (sql === SAVE_TIMES || sql === SAVE_TIMES_AND_LEARNED) this.#gatherTimes(values);
    else return super.run(sql, ...values);
    return 1;
  }

  override async savepoint<T>(operation: () => Promise<T>): Promise<T> {
    this.#goDirectly();
    return super.savepoint(operation);
  }

  protected override execute<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: readonly Parameter[],
  ): Promise<pg.QueryResult<Row>> {
    this.#goDirectly();
    return super.execute<Row>(statement, values);
  }

  /** A statement that cannot be gathered may read and change what is gathered, and may have to be undone alone. */
  #goDirectly(): void {
    this.#isDirect = true;
    if (!this.#isMarked) {
      this.#isMarked = true;
      this.#send(this.#before);
      this.#before = nothing();
      this.#ask(this.session.control('SAVEPOINT check_in'));
    }
    this.#send(this.#own);
    this.#dropOwn();
    const row = this.#rows.get(this.#token);
    if (!row) return;
    // It may change now: whoever needs it again reads it from the database.
    this.#rows.delete(row.token);
    this.#byId.delete(row.id);
  }

  #gatherTimes(values: readonly Value[]): void {
    const id = Number(values.at(-1));
    this.#own.times.set(id, [id, ...values.slice(0, TIMES.length)]);
    if (values.length > TIMES.length + 1)
      this.#own.learned.set(id, values[TIMES.length] as Uint8Array | null);
  }

  /** The next check-in of the same snitch sees what the one before it writes. Few sets have two of the same snitch. */
  #asWritten(row: SetRow): SetRow {
    const times = this.#times.get(row.id);
    if (times === undefined) return row;
    const changed = Object.fromEntries(TIMES.map((column, index) => [column, times[index + 1] ?? null]));
    const learned = this.#learned.get(row.id);
    return { ...row, ...changed, ...(learned === undefined ? {} : { first_check_ins: learned }) };
  }

  #keepOwn(): void {
    const { logged, outputs, times, learned } = this.#own;
    for (const row of logged) this.#before.logged.push(row);
    for (const row of outputs) this.#before.outputs.push(row);
    for (const [id, row] of times) {
      this.#before.times.set(id, row);
      this.#times.set(id, row);
    }
    for (const [id, packed] of learned) {
      this.#before.learned.set(id, packed);
      this.#learned.set(id, packed);
    }
    this.#dropOwn();
  }

  #dropOwn(): void {
    const { logged, outputs, times, learned } = this.#own;
    logged.length = 0;
    outputs.length = 0;
    times.clear();
    learned.clear();
  }

  #send(gathered: Gathered): void {
    for (const { statement, values } of statementsFor(gathered)) {
      this.#ask(this.session.query(statement, values));
    }
  }

  #ask(answer: Promise<unknown>): void {
    this.#asked.push(answer);
  }
}
