/** What a set of check-ins reads before its decisions and writes after them, each in one statement. */
import { RULES_COLUMNS, type RulesRow } from '../operations/silences/case-rules.ts';
import { STATE_COLUMNS, type StateRow } from '../operations/states.ts';
import type { Value } from '../transaction.ts';
import type { Asked } from './batch.ts';
import { bigintArray, byteaArray, textArray } from './binary-arrays.ts';
import type { Statement } from './dialect.ts';
import type { Parameter } from './session.ts';

/** A state with what has been learned of its job, which the first check-in of a period needs. */
export type SetRow = StateRow & { first_check_ins: Uint8Array | null };

/** The rules of a case, with its id. */
export const RULES_COLUMNS_OF = `id, ${RULES_COLUMNS}`;

export type RulesOfCase = RulesRow & { id: string };

/**
 * Locks all of them in the order of their tokens, so that no two sets wait for each other. What follows is read in
 * statements of its own, which see everything committed before these rows were locked.
 *
 * The tokens are joined, because `= ANY` on a small table compares every row with every token.
 */
const HOLD_STATES: Statement = {
  name: 'snitch_set_states',
  text: `SELECT ${STATE_COLUMNS}, s.first_check_ins FROM unnest($1::text[]) AS u (token)
    JOIN snitches AS n ON n.token = u.token JOIN snitch_states AS s ON s.id = n.id
    ORDER BY n.token FOR UPDATE OF s`,
};

const RULES: Statement = {
  name: 'snitch_set_rules',
  text: `SELECT ${RULES_COLUMNS_OF} FROM cases WHERE id IN (
    SELECT n.case_id FROM unnest($1::text[]) AS u (token) JOIN snitches AS n ON n.token = u.token)`,
};

const RULES_OF_CASES: Statement = {
  name: 'snitch_set_rules_of_cases',
  text: `SELECT ${RULES_COLUMNS_OF} FROM cases WHERE id = ANY($1)`,
};

/**
 * The numbers of rows of the log are taken while the snitches are locked, so those of each snitch ascend. The sequence
 * is looked up once, not for each number.
 */
export const NEXT_IDS: Statement = {
  name: 'snitch_set_ids',
  text: `WITH log AS MATERIALIZED (SELECT pg_get_serial_sequence('check_ins', 'id')::regclass AS sequence)
    SELECT nextval(sequence) AS id FROM log, generate_series(1, $1)`,
};

export function holdStates(tokens: readonly string[]): Asked {
  return { statement: HOLD_STATES, values: [textArray(tokens)] };
}

/** @param cases of the snitches when they were last read; null if one of them is not known */
export function rulesFor(tokens: readonly string[], cases: readonly string[] | null): Asked {
  return cases === null
    ? { statement: RULES, values: [textArray(tokens)] }
    : { statement: RULES_OF_CASES, values: [textArray(cases)] };
}

/** In the order of the parameters of `SAVE_TIMES`. */
export const TIMES = [
  'checked_in_at',
  'last_check_in_at',
  'due_at',
  'postponed',
  'moved_from',
  'open_start_at',
  'last_check_in_id',
  'check_in_count',
] as const satisfies readonly (keyof StateRow)[];

/** What check-ins are going to write; each row as the values of its columns. */
export interface Gathered {
  logged: Value[][];
  outputs: Value[][];
  /** By the snitch's number; only the last times of each are written. */
  times: Map<number, Value[]>;
  /** By the same numbers, each of which also has times; null if what was learned is discarded. */
  learned: Map<number, Uint8Array | null>;
}

export function nothing(): Gathered {
  return { logged: [], outputs: [], times: new Map(), learned: new Map() };
}

export const LOGGED = [
  ['id', 'bigint'],
  ['previous_id', 'bigint'],
  ['snitch_id', 'bigint'],
  ['number', 'bigint'],
  ['at', 'bigint'],
  ['outcome', 'text'],
  ['exit_status', 'bigint'],
  ['message', 'text'],
  ['duration_ms', 'bigint'],
  ['source', 'text'],
  ['run_id', 'text'],
  ['report', 'text'],
] as const;

export type Type = 'bigint' | 'text' | 'bytea';

const ARRAY = { bigint: bigintArray, text: textArray, bytea: byteaArray } as const;

/** @param before how many parameters precede these */
export const arrays = (types: readonly Type[], before = 0) =>
  types.map((type, index) => `$${before + index + 1}::${type}[]`).join(', ');

const LOGGED_TYPES = LOGGED.map(([, type]) => type);
const TIMES_TYPES = ['bigint', ...TIMES.map(() => 'bigint' as const)] as const;
const LEARNED_TYPES = [...TIMES_TYPES, 'bytea'] as const;
const OUTPUT_TYPES = ['bigint', 'text'] as const;

const insertLog = `INSERT INTO check_ins (${LOGGED.map(([name]) => name).join(', ')})
    SELECT * FROM unnest(${arrays(LOGGED_TYPES)})`;

const SET_TIMES = TIMES.map((name) => `${name} = u.${name}`).join(', ');

const updateTimes = (before: number) =>
  `UPDATE snitch_states AS s SET ${SET_TIMES}
    FROM unnest(${arrays(TIMES_TYPES, before)}) AS u (id, ${TIMES.join(', ')})
    WHERE s.id = u.id`;

/** Null means that nothing new was learned; empty means that what was learned is discarded. */
const updateTimesAndLearned = (before: number) =>
  `UPDATE snitch_states AS s
    SET ${SET_TIMES}, first_check_ins = NULLIF(COALESCE(u.packed, s.first_check_ins), '')
    FROM unnest(${arrays(LEARNED_TYPES, before)}) AS u (id, ${TIMES.join(', ')}, packed)
    WHERE s.id = u.id`;

const WRITE_LOG: Statement = { name: 'snitch_set_log', text: insertLog };

const WRITE_OUTPUTS: Statement = {
  name: 'snitch_set_outputs',
  text: `INSERT INTO check_in_outputs (check_in_id, output) SELECT * FROM unnest(${arrays(OUTPUT_TYPES)})`,
};

const WRITE_TIMES: Statement = { name: 'snitch_set_times', text: updateTimes(0) };

const WRITE_TIMES_AND_LEARNED: Statement = {
  name: 'snitch_set_times_and_learned',
  text: updateTimesAndLearned(0),
};

/** Nearly every set writes both, and one statement costs less than two. */
const WRITE_LOG_AND_TIMES: Statement = {
  name: 'snitch_set_log_and_times',
  text: `WITH logged AS (${insertLog}) ${updateTimes(LOGGED.length)}`,
};

/** Likewise if one of them is the first of its period. */
const WRITE_ALL: Statement = {
  name: 'snitch_set_all',
  text: `WITH logged AS (${insertLog}) ${updateTimesAndLearned(LOGGED.length)}`,
};

export function statementsFor(gathered: Gathered): Asked[] {
  const { logged, outputs, times } = gathered;
  const asked: Asked[] = [];
  const log = logged.length === 0 ? null : columnsOf(logged, LOGGED_TYPES);
  if (times.size > 0) asked.push(writeTimes(log, gathered));
  else if (log) asked.push({ statement: WRITE_LOG, values: log });
  if (outputs.length > 0) asked.push({ statement: WRITE_OUTPUTS, values: columnsOf(outputs, OUTPUT_TYPES) });
  return asked;
}

/**
 * Written with the log, if there is one. What was learned goes along, because each UPDATE writes the whole row again.
 */
function writeTimes(log: readonly Parameter[] | null, gathered: Gathered): Asked {
  const rows = [...gathered.times.values()];
  const values = [...(log ?? []), ...columnsOf(rows, TIMES_TYPES)];
  if (gathered.learned.size === 0) return { statement: log ? WRITE_LOG_AND_TIMES : WRITE_TIMES, values };
  const packed = byteaArray(packedOf(gathered));
  return { statement: log ? WRITE_ALL : WRITE_TIMES_AND_LEARNED, values: [...values, packed] };
}

/** In the order of the times. */
export function packedOf({ times, learned }: Gathered): (Uint8Array | null)[] {
  return Array.from(times.keys(), (id) => {
    const known = learned.get(id);
    return known === undefined ? null : (known ?? NONE);
  });
}

/** Returns the version that all rows written by the transaction have. */
export const VERSION: Statement = {
  name: 'snitch_set_version',
  text: 'SELECT pg_current_xact_id()::xid AS version',
};

export interface Versioned {
  version: string;
}

/** As the server reads it for an `xid`, which has no sign: the same 32 bits as a signed number. */
export function versionOf(row: Versioned | undefined): number | null {
  return row === undefined ? null : Number(row.version) | 0;
}

const NONE = new Uint8Array();

export function columnsOf(rows: readonly (readonly Value[])[], types: readonly Type[]): Parameter[] {
  return types.map((type, column) => ARRAY[type](rows.map((row) => row[column] ?? null)));
}
