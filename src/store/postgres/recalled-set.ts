/**
 * The transaction for check-ins of snitches whose states are already known: they are decided at once, and everything
 * goes to the database in one message, with the commit. Only everyday check-ins are handled this way. All others, and
 * those whose state has changed meanwhile, are left to a set that reads first.
 */
import type pg from 'pg';
import { KEEP_OUTPUT } from '../operations/check-ins.ts';
import type { Awaitable, Value } from '../transaction.ts';
import type { Asked } from './batch.ts';
import { bigintArray, byteaArray } from './binary-arrays.ts';
import type { Statement } from './dialect.ts';
import { arrays, columnsOf, LOGGED, packedOf, type RulesOfCase, TIMES } from './set-statements.ts';
import { SetTransaction } from './set-transaction.ts';

/** The check-in needs more than what is known. */
export class NeedsReading extends Error {}

/** What the database returns for each row that was written. */
export interface WrittenRow {
  id: number;
  last_check_in_id: number;
}

export class RecalledTransaction extends SetTransaction {
  /**
   * The first statement locks all of them in the order given, which is that of their tokens, and returns their new
   * version. The second writes those that still have the known version, and returns a `WrittenRow` for each.
   *
   * @param versions by the snitch's number, of all that were decided
   */
  statements(versions: ReadonlyMap<number, number>, rules: Iterable<RulesOfCase>): [Asked, Asked] {
    const gathered = this.gathered();
    const { times } = gathered;
    const known = Array.from(rules, (row) => RULES.map(([name]) => row[name]));
    const rows = gathered.logged.map(([, ...row]) => {
      const id = Number(row[SNITCH]);
      const own = times.get(id) ?? [];
      const logged = LOGGED_BESIDE.map((_, place) => row[place] ?? null);
      return [...logged, ...PLACES.map((place) => own[place] ?? null), versions.get(id) ?? null];
    });
    const values = [
      ...columnsOf(known, TYPES_OF_RULES),
      ...columnsOf(rows, TYPES_OF_ROWS),
      byteaArray(packedOf(gathered)),
    ];
    return [
      { statement: HOLD, values: [bigintArray([...versions.keys()])] },
      { statement: WRITE, values },
    ];
  }

  override run(sql: string, ...values: Value[]): Awaitable<number> {
    // The output is stored under the check-in's number, which is not known yet.
    if (sql === KEEP_OUTPUT) throw new NeedsReading();
    return super.run(sql, ...values);
  }

  override async savepoint<T>(): Promise<T> {
    throw new NeedsReading();
  }

  protected override execute<Row extends pg.QueryResultRow>(): Promise<pg.QueryResult<Row>> {
    throw new NeedsReading();
  }
}

/** The next statement sees everything committed before these rows were locked, including the rules of their cases. */
const HOLD: Statement = {
  name: 'snitch_recalled_hold',
  text: `SELECT pg_current_xact_id()::xid AS version, COUNT(*) FROM (
    SELECT s.id FROM unnest($1::bigint[]) WITH ORDINALITY AS u (id, place)
    JOIN snitch_states AS s ON s.id = u.id ORDER BY u.place FOR UPDATE OF s) AS held`,
};

const RULES = [
  ['id', 'text'],
  ['timezone', 'text'],
  ['reminders', 'text'],
  ['error_notices', 'bigint'],
  ['has_silences', 'bigint'],
] as const;

/** The database numbers the rows of the log; the count of check-ins comes with the log row. */
const OWN_TIMES = TIMES.filter((name) => name !== 'last_check_in_id' && name !== 'check_in_count');

/** Positions in a gathered row, whose first value is the snitch's number. */
const PLACES = OWN_TIMES.map((name) => TIMES.indexOf(name) + 1);

const [, ...LOGGED_BESIDE] = LOGGED;
const SNITCH = LOGGED_BESIDE.findIndex(([name]) => name === 'snitch_id');

const TYPES_OF_RULES = RULES.map(([, type]) => type);
const TYPES_OF_ROWS = [
  ...LOGGED_BESIDE.map(([, type]) => type),
  ...OWN_TIMES.map(() => 'bigint' as const),
  'bigint',
] as const;

const names = LOGGED_BESIDE.map(([name]) => name);

/**
 * The numbers of the log are taken while the snitches are locked, so those of each snitch ascend. The number of the
 * previous check-in identifies the known row even if a transaction with the same number once wrote a different one,
 * long ago.
 */
const WRITE: Statement = {
  name: 'snitch_recalled_write',
  text: `WITH ruled AS MATERIALIZED (
      SELECT c.id FROM unnest(${arrays(TYPES_OF_RULES)}) AS k (${RULES.map(([name]) => name).join(', ')})
      JOIN cases AS c ON c.id = k.id AND c.timezone = k.timezone AND c.reminders = k.reminders
        AND c.error_notices = k.error_notices
      WHERE EXISTS (SELECT 1 FROM silences WHERE case_id = c.id) = (k.has_silences = 1)),
    written AS (
      UPDATE snitch_states AS s
      SET last_check_in_id = nextval((SELECT pg_get_serial_sequence('check_ins', 'id')::regclass)),
        check_in_count = u.number, ${OWN_TIMES.map((name) => `${name} = u.${name}`).join(', ')},
        first_check_ins = NULLIF(COALESCE(u.packed, s.first_check_ins), '')
      FROM unnest(${arrays([...TYPES_OF_ROWS, 'bytea'], RULES.length)})
        AS u (${[...names, ...OWN_TIMES, 'version', 'packed'].join(', ')})
      WHERE s.id = u.snitch_id AND s.xmin = u.version::int4
        AND s.last_check_in_id IS NOT DISTINCT FROM u.previous_id AND s.case_id = ANY (ARRAY(SELECT id FROM ruled))
      RETURNING s.last_check_in_id, ${names.map((name) => `u.${name}`).join(', ')}),
    logged AS (
      INSERT INTO check_ins (id, ${names.join(', ')}) SELECT last_check_in_id, ${names.join(', ')} FROM written)
    SELECT snitch_id AS id, last_check_in_id FROM written`,
};
