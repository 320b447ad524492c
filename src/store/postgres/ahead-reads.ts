/** What the decisions about many snitches read, fetched for all of them in one statement per kind. */
import { FLAPPING_OVER, FLAPPING_WITHIN } from '../../core/flapping.ts';
import { type NamedRow, OVERTAKEN_BY, SELECT_NAMED } from '../operations/alert-rows.ts';
import { hashOf, longText, SELECT_TEXT } from '../operations/alert-texts.ts';
import { SELECT_FLAP, SELECT_RECENT } from '../operations/flapping.ts';
import { SELECT_LEARNED } from '../operations/learned.ts';
import { SELECT_OUTCOME } from '../operations/open-run.ts';
import { SELECT_WAITING } from '../operations/routes/waiting.ts';
import { SELECT_BY_ID, SELECT_BY_TOKEN, STATE_COLUMNS } from '../operations/states.ts';
import type { Value } from '../transaction.ts';
import type { Statement } from './dialect.ts';
import type { Parameter, Session } from './session.ts';
import { RULES_COLUMNS_OF, type RulesOfCase, type SetRow } from './set-statements.ts';

/** The rows that one statement would return for one snitch; `of` is that snitch's number. */
export interface Answer {
  of: number;
  sql: string;
  values: readonly Value[];
  rows: readonly object[];
}

export interface Foreseen {
  states: readonly SetRow[];
  rules: readonly RulesOfCase[];
  pages: ReadonlyMap<string, number | null>;
  answers: readonly Answer[];
}

/** Locked in the order of their tokens, as check-ins lock them, so that no two transactions wait for each other. */
const STATES: Statement = {
  name: 'snitch_ahead_states',
  text: `SELECT ${STATE_COLUMNS}, s.first_check_ins FROM snitch_states AS s JOIN snitches AS n ON n.id = s.id
    WHERE s.id = ANY($1) ORDER BY n.token FOR UPDATE OF s`,
};

const CASES_OF = 'SELECT case_id FROM snitches WHERE id = ANY($1)';

const RULES: Statement = {
  name: 'snitch_ahead_rules',
  text: `SELECT ${RULES_COLUMNS_OF} FROM cases WHERE id IN (${CASES_OF})`,
};

const PAGES: Statement = {
  name: 'snitch_ahead_pages',
  text: `SELECT id, case_id FROM status_pages WHERE case_id IN (${CASES_OF})`,
};

const FLAPPING: Statement = {
  name: 'snitch_ahead_flapping',
  text: 'SELECT snitch_id FROM flapping WHERE snitch_id = ANY($1)',
};

/** Looked up snitch by snitch through the index, however many deliveries wait. */
const WAITING: Statement = {
  name: 'snitch_ahead_waiting',
  text: `SELECT n.token FROM snitches AS n CROSS JOIN LATERAL (
      SELECT 1 FROM deliveries WHERE state = 'pending' AND waiting_token = n.token LIMIT 1) AS w
    WHERE n.id = ANY($1)`,
};

const RECENT: Statement = {
  name: 'snitch_ahead_recent',
  text: `SELECT n.token, r.at FROM snitches AS n CROSS JOIN LATERAL (
      SELECT at FROM alerts WHERE token = n.token AND at > $2 AND at <= $3 ORDER BY at DESC LIMIT $4) AS r
    WHERE n.id = ANY($1) ORDER BY n.token, r.at DESC`,
};

const NAMED: Statement = {
  name: 'snitch_ahead_named',
  text: `SELECT n.token, n.name, n.notes, n.tags, n.alert_email,
      (SELECT MAX(at) FROM alerts WHERE alerts.token = n.token AND at > $2 AND at < $3) AS overtaken
    FROM snitches AS n WHERE n.id = ANY($1)`,
};

const LAST: Statement = {
  name: 'snitch_ahead_last',
  text: `SELECT c.id, c.previous_id, c.at, c.outcome FROM snitch_states AS s
    JOIN check_ins AS c ON c.id = s.last_check_in_id WHERE s.id = ANY($1)`,
};

const TEXTS: Statement = {
  name: 'snitch_ahead_texts',
  text: 'SELECT id, hash FROM alert_texts WHERE hash = ANY($1) ORDER BY id FOR UPDATE',
};

interface Token {
  token: string;
}

/**
 * Reads what the work on `ids` is about to ask for. The states are read first and locked; the rest is read after that.
 */
export async function foreseen(session: Session, ids: readonly number[], now: number): Promise<Foreseen> {
  const ask = async <Row>(statement: Statement, ...values: Parameter[]) =>
    (await session.query<Row & object>(statement, [ids, ...values])).rows as Row[];
  const [states, rules, pages, flapping, waiting, recent, named, last] = await Promise.all([
    ask<SetRow>(STATES),
    ask<RulesOfCase>(RULES),
    ask<{ id: number; case_id: string }>(PAGES),
    ask<{ snitch_id: number }>(FLAPPING),
    ask<Token>(WAITING),
    ask<Token & { at: number }>(RECENT, now - FLAPPING_WITHIN, now, FLAPPING_OVER),
    ask<Token & NamedRow>(NAMED, now, now + OVERTAKEN_BY),
    ask<{ id: number }>(LAST),
  ]);
  const flaps = new Set(flapping.map(({ snitch_id: id }) => id));
  const waits = new Set(waiting.map(({ token }) => token));
  const alerted = Map.groupBy(recent, ({ token }) => token);
  const names = new Map(named.map((row) => [row.token, row]));
  const outcomes = new Map(last.map((row) => [row.id, row]));
  const texts = await textsOf(session, named);
  const answers: Answer[] = [];
  for (const state of states) {
    const { id: of, token, last_check_in_id: lastId } = state;
    const told = (sql: string, values: Value[], rows: readonly object[]) =>
      answers.push({ of, sql, values, rows });
    told(SELECT_BY_ID, [of], [state]);
    told(SELECT_BY_TOKEN, [token], [state]);
    told(SELECT_LEARNED, [of], [state]);
    if (!flaps.has(of)) told(SELECT_FLAP, [of], []);
    if (!waits.has(token)) told(SELECT_WAITING, [token], []);
    told(SELECT_RECENT, [token, now - FLAPPING_WITHIN, now, FLAPPING_OVER], alerted.get(token) ?? []);
    const row = names.get(token);
    if (row) told(SELECT_NAMED, [now, now + OVERTAKEN_BY, token], [row]);
    const text = row && texts.get(token);
    if (text) told(SELECT_TEXT, [text.hash], [{ id: text.id }]);
    const outcome = lastId === null ? undefined : outcomes.get(lastId);
    if (outcome) told(SELECT_OUTCOME, [lastId], [outcome]);
  }
  const cases = new Map<string, number | null>(rules.map(({ id }) => [id, null]));
  for (const { id, case_id: caseId } of pages) cases.set(caseId, id);
  return { states, rules, pages: cases, answers };
}

/** The long texts that are stored already, by the token of the snitch that has them. */
async function textsOf(
  session: Session,
  named: readonly (Token & NamedRow)[],
): Promise<Map<string, { id: number; hash: string }>> {
  const hashes = new Map<string, string>();
  for (const { token, notes, tags } of named) {
    const text = longText({ notes, tags: JSON.parse(tags) as string[] });
    if (text !== null) hashes.set(token, hashOf(text));
  }
  if (hashes.size === 0) return new Map();
  const { rows } = await session.query<{ id: number; hash: string }>(TEXTS, [[...new Set(hashes.values())]]);
  const kept = new Map(rows.map((row) => [row.hash, row]));
  return new Map([...hashes].flatMap(([token, hash]) => [[token, kept.get(hash)] as const]).filter(isKept));
}

function isKept<Row>(entry: readonly [string, Row | undefined]): entry is readonly [string, Row] {
  return entry[1] !== undefined;
}
