/** What the decisions about many snitches write: gathered as rows, written in a few statements. */
import { INSERT_ALERT } from '../operations/alert-rows.ts';
import { INSERT_DELIVERY, INSERT_WAITING } from '../operations/deliveries.ts';
import { SAVE_STATE } from '../operations/states.ts';
import type { Value } from '../transaction.ts';
import type { Statement } from './dialect.ts';
import type { Parameter } from './session.ts';

export interface Writes {
  alerts: Value[][];
  deliveries: Value[][];
  /** Only the last row of each snitch is written. */
  states: Value[][];
}

export function noWrites(): Writes {
  return { alerts: [], deliveries: [], states: [] };
}

/** Returns false for a statement that is not gathered. */
export function gather(writes: Writes, sql: string, values: readonly Value[]): boolean {
  if (sql === INSERT_ALERT) writes.alerts.push([...values]);
  else if (sql === INSERT_DELIVERY) writes.deliveries.push([...values, null, null]);
  else if (sql === INSERT_WAITING) writes.deliveries.push([...values]);
  else if (sql === SAVE_STATE) writes.states.push([...values]);
  else return false;
  return true;
}

/** How much has been gathered, so that what is gathered later can be dropped again. */
export function sizeOf({ alerts, deliveries, states }: Writes): readonly [number, number, number] {
  return [alerts.length, deliveries.length, states.length];
}

export function cutTo(writes: Writes, [alerts, deliveries, states]: readonly [number, number, number]): void {
  writes.alerts.length = alerts;
  writes.deliveries.length = deliveries;
  writes.states.length = states;
}

const ALERT_COLUMNS = columnsIn(INSERT_ALERT, /\(([^)]*)\)/);
const DELIVERY_COLUMNS = [
  'case_id',
  'alert_id',
  'channel',
  'target',
  'next_attempt_at',
  'waits',
  'waiting_token',
];

/** In the order of the parameters of `SAVE_STATE`. */
const STATE_COLUMNS = [...SAVE_STATE.matchAll(/(\w+) = \?(?=[\s,])/g)].map(([, name]) => name ?? '');

const TEXTS = new Set(
  `case_id token type snitch details alert_id channel target waits waiting_token interval alert_type status pause_kind
   remembered thread_id schedule timezone reason runs run_rules acknowledged needs`.split(/\s+/),
);

const typeOf = (column: string) => (TEXTS.has(column) ? 'text' : 'bigint');

const arrays = (types: readonly string[]) =>
  types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');

const WRITE_ALERTS: Statement = {
  name: 'snitch_ahead_write_alerts',
  text: `INSERT INTO alerts (${ALERT_COLUMNS.join(', ')})
    SELECT * FROM unnest(${arrays(ALERT_COLUMNS.map((name) => (name === 'id' ? 'text' : typeOf(name))))})`,
};

/** In the order in which they were decided: their numbers keep that order. */
const WRITE_DELIVERIES: Statement = {
  name: 'snitch_ahead_write_deliveries',
  text: `INSERT INTO deliveries (state, attempts, fence, leased, ${DELIVERY_COLUMNS.join(', ')})
    SELECT 'pending', 0, 0, 0, ${DELIVERY_COLUMNS.map((name) => `u.${name}`).join(', ')}
    FROM unnest(${arrays(DELIVERY_COLUMNS.map(typeOf))}) WITH ORDINALITY AS u (${DELIVERY_COLUMNS.join(', ')}, place)
    ORDER BY u.place`,
};

const WRITE_STATES: Statement = {
  name: 'snitch_ahead_write_states',
  text: `UPDATE snitch_states AS s SET ${STATE_COLUMNS.map((name) => `${name} = u.${name}`).join(', ')}
    FROM unnest(${arrays([...STATE_COLUMNS.map(typeOf), 'bigint'])}) AS u (${STATE_COLUMNS.join(', ')}, id)
    WHERE s.id = u.id`,
};

/** In the order in which they must be written. */
export function statementsOf({
  alerts,
  deliveries,
  states,
}: Writes): { statement: Statement; values: Parameter[] }[] {
  const last = new Map(states.map((row) => [row.at(-1), row]));
  return [
    ...written(WRITE_ALERTS, alerts),
    ...written(WRITE_DELIVERIES, deliveries),
    ...written(WRITE_STATES, [...last.values()]),
  ];
}

function written(statement: Statement, rows: readonly (readonly Value[])[]) {
  const [first] = rows;
  if (!first) return [];
  return [{ statement, values: first.map((_, column) => rows.map((row) => row[column] ?? null)) }];
}

function columnsIn(sql: string, pattern: RegExp): string[] {
  return (pattern.exec(sql)?.[1] ?? '').split(', ');
}
