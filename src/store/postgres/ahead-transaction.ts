/**
 * The transaction for work on many snitches. What nearly every snitch needs is read beforehand for all of them; what
 * nearly every snitch writes is gathered and written for all of them in a few statements. The operations that decide
 * are the same as anywhere else: whatever else they ask for goes to the database as usual, after what was gathered so
 * far.
 */
import type pg from 'pg';
import { StoreUnavailable } from '../../core/errors.ts';
import { targetsOf } from '../operations/alert-rows.ts';
import { DROP_WAITING, SELECT_WAITING } from '../operations/routes/waiting.ts';
import { rulesKey, toRules } from '../operations/silences/case-rules.ts';
import { SAVE_STATE } from '../operations/states.ts';
import { pageKey } from '../operations/status-pages/changes.ts';
import type { Value } from '../transaction.ts';
import { foreseen } from './ahead-reads.ts';
import { cutTo, gather, noWrites, sizeOf, statementsOf } from './ahead-writes.ts';
import type { Statement } from './dialect.ts';
import { unavailable } from './faults.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import type { Parameter } from './session.ts';

/**
 * One of many rows failed after statements that cannot be undone alone: everything must be repeated, with savepoints.
 */
export class NeedsCare extends StoreUnavailable {}

export class AheadTransaction extends PostgresTransaction {
  readonly #answers = new Map<string, readonly object[]>();
  /** The answers to drop when a snitch changes, by its number and by its token. */
  readonly #keysOf = new Map<Value, string[]>();
  readonly #caseIds = new Set<string>();
  readonly #writes = noWrites();
  /** How many statements went to the database. */
  #sent = 0;

  override async foresee(ids: readonly number[], now: number): Promise<void> {
    this.#send();
    const { states, rules, pages, answers } = await foreseen(this.session, ids, now);
    for (const { id, token } of states) {
      const keys: string[] = [];
      this.#keysOf.set(id, keys).set(token, keys);
    }
    for (const { of, sql, values, rows } of answers) {
      const key = keyOf(sql, values);
      this.#answers.set(key, rows);
      this.#keysOf.get(of)?.push(key);
    }
    const met = rules.filter(({ id }) => !this.#caseIds.has(id));
    for (const row of met) {
      this.#caseIds.add(row.id);
      this.know(rulesKey(row.id), toRules(row));
      this.know(pageKey(row.id), pages.get(row.id) ?? null);
    }
    await Promise.all(met.map(({ id }) => targetsOf(this, id)));
  }

  /** From now on `sql` is answered with these rows, until something is written that may change them. */
  answer(sql: string, values: readonly Value[], rows: readonly object[]): void {
    this.#answers.set(keyOf(sql, values), rows);
  }

  override forget(): void {
    super.forget();
    this.#caseIds.clear();
  }

  override put(sql: string, ...values: Value[]): void {
    if (!gather(this.#writes, sql, values)) super.put(sql, ...values);
    else if (sql === SAVE_STATE) this.#forgetSnitch(values.at(-1) ?? null);
  }

  override async run(sql: string, ...values: Value[]): Promise<number> {
    const [, token = null] = values;
    if (sql === DROP_WAITING && this.#answers.has(keyOf(SELECT_WAITING, [token]))) return 0;
    return super.run(sql, ...values);
  }

  /** Sets no savepoint in the database: if the operation sent statements and failed, all is redone with savepoints. */
  override async savepoint<T>(operation: () => Promise<T>): Promise<T> {
    const announced = this.changes.length;
    const sent = this.#sent;
    const size = sizeOf(this.#writes);
    const counted = this.countedSoFar();
    try {
      return await operation();
    } catch (error) {
      const concernsAll = unavailable(error);
      if (concernsAll) throw concernsAll;
      if (this.#sent !== sent) throw new NeedsCare(error);
      this.changes.length = announced;
      cutTo(this.#writes, size);
      this.countAnew(counted);
      throw error;
    }
  }

  override sendLast(): void {
    this.#send();
    super.sendLast();
  }

  protected override async rows<Row>(sql: string, values: Value[], clause = ''): Promise<Row[]> {
    const isPlain = clause === '' || /^FOR UPDATE( OF s)?$/.test(clause);
    const known = isPlain ? this.#answers.get(keyOf(sql, values)) : undefined;
    return known ? ([...known] as Row[]) : super.rows<Row>(sql, values, clause);
  }

  protected override execute<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: readonly Parameter[],
  ): Promise<pg.QueryResult<Row>> {
    this.#send();
    this.#sent += 1;
    if (!/^\s*SELECT\b/.test(statement.text)) this.#forgetWritten(statement.text, values);
    return super.execute<Row>(statement, values);
  }

  #send(): void {
    for (const { statement, values } of statementsOf(this.#writes)) {
      this.#sent += 1;
      this.sendUnawaited(statement, values);
    }
    cutTo(this.#writes, [0, 0, 0]);
  }

  /**
   * A write about one snitch names its number or its token. After any other write, nothing that was read is trusted.
   */
  #forgetWritten(text: string, values: readonly Parameter[]): void {
    if (OF_ONE.test(text)) for (const value of values) this.#forgetSnitch(value as Value);
    else this.#answers.clear();
  }

  #forgetSnitch(named: Value): void {
    for (const key of this.#keysOf.get(named) ?? []) this.#answers.delete(key);
  }
}

/** Statements that change rows of one snitch, whose number or token is among their values. */
const OF_ONE =
  /^\s*(UPDATE deliveries SET[\s\S]*WHERE state = 'pending' AND waiting_token = |(INSERT INTO|UPDATE|DELETE FROM) (flapping|status_changes|reliefs|silenced_alarms|alert_texts)\b|UPDATE snitch_states SET (well_since|look_at) = )/;

function keyOf(sql: string, values: readonly Value[]): string {
  return `${sql}\n${values.join('\n')}`;
}
