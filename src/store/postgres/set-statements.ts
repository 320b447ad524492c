/** What a set of check-ins reads before and writes behind its decisions, each in one statement. */
import { RULES_COLUMNS, type RulesRow } from '../operations/silences/case-rules.ts';
import { STATE_COLUMNS, type StateRow } from '../operations/states.ts';
import type { Value } from '../transaction.ts';
import type { Statement } from './dialect.ts';
import type { Parameter } from './session.ts';

/** A state with what is learned of its job, which the first check-in of a period asks for. */
export type SetRow = StateRow & { first_check_ins: Uint8Array | null };

/** Of a case, with its id. */
export const RULES_COLUMNS_OF = `id, ${RULES_COLUMNS}`;

export type RulesOfCase = RulesRow & { id: string };

/**
 * All of them in the order of their tokens, so that two sets never wait for each other in a circle. What follows is read
 * in statements of their own, which see what was committed until these rows were held.
 */
export const HOLD_STATES: Statement = {
  name: 'snitch_set_states',
  text: `SELECT ${STATE_COLUMNS}, s.first_check_ins FROM snitches AS n JOIN snitch_states AS s ON s.id = n.id
    WHERE n.token = ANY($1) ORDER BY n.token FOR UPDATE OF s`,
};

export const RULES: Statement = {
  name: 'snitch_set_rules',
  text: `SELECT ${RULES_COLUMNS_OF} FROM cases
    WHERE id IN (SELECT case_id FROM snitches WHERE token = ANY($1))`,
};

/** The numbers of rows of the log, which are taken while the snitches are held: those of each snitch ascend. */
export const NEXT_IDS: Statement = {
  name: 'snitch_set_ids',
  text: `SELECT nextval(pg_get_serial_sequence('check_ins', 'id')) AS id FROM generate_series(1, $1)`,
};

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

/** What check-ins are to write; each row as the values of its columns. */
export interface Gathered {
  logged: Value[][];
  outputs: Value[][];
  /** By the number of the snitch: the last ones count. */
  times: Map<number, Value[]>;
  learned: Map<number, Uint8Array | null>;
}

export function nothing(): Gathered {
  return { logged: [], outputs: [], times: new Map(), learned: new Map() };
}

const LOGGED = [
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

const arrays = (types: readonly string[]) =>
  types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');

const WRITE_LOG: Statement = {
  name: 'snitch_set_log',
  text: `INSERT INTO check_ins (${LOGGED.map(([name]) => name).join(', ')})
    SELECT * FROM unnest(${arrays(LOGGED.map(([, type]) => type))})`,
};

const WRITE_OUTPUTS: Statement = {
  name: 'snitch_set_outputs',
  text: `INSERT INTO check_in_outputs (check_in_id, output) SELECT * FROM unnest(${arrays(['bigint', 'text'])})`,
};

const WRITE_TIMES: Statement = {
  name: 'snitch_set_times',
  text: `UPDATE snitch_states AS s SET ${TIMES.map((name) => `${name} = u.${name}`).join(', ')}
    FROM unnest(${arrays(['bigint', ...TIMES.map(() => 'bigint')])}) AS u (id, ${TIMES.join(', ')})
    WHERE s.id = u.id`,
};

const WRITE_LEARNED: Statement = {
  name: 'snitch_set_learned',
  text: `UPDATE snitch_states AS s SET first_check_ins = u.packed
    FROM unnest(${arrays(['bigint', 'bytea'])}) AS u (id, packed) WHERE s.id = u.id`,
};

export function statementsFor(gathered: Gathered): { statement: Statement; values: Parameter[] }[] {
  const { logged, outputs, times, learned } = gathered;
  return [
    ...written(WRITE_LOG, logged),
    ...written(WRITE_OUTPUTS, outputs),
    ...written(WRITE_TIMES, [...times.values()]),
    ...written(WRITE_LEARNED, [...learned.entries()]),
  ];
}

function written(statement: Statement, rows: readonly (readonly Value[])[]) {
  const [first] = rows;
  if (!first) return [];
  return [{ statement, values: first.map((_, column) => rows.map((row) => row[column] ?? null)) }];
}
