import { Invalid, PlanLimitReached } from '../../core/errors.ts';
import { isMinuteInterval } from '../../core/interval.ts';
import { newSnitchState, type Snitch, type SnitchFields } from '../../core/snitch.ts';
import { transition } from '../../core/transition.ts';
import { SMART_WITH_MINUTES, tooManyTags } from '../../core/validation.ts';
import { newToken } from '../identifiers.ts';
import type { Transaction, Value } from '../transaction.ts';
import { requireCase } from './cases.ts';
import { lastReportOf } from './last-report.ts';
import { contextFor, getRules, getState, insertState, type StateRow, saveState, toState } from './states.ts';

interface SnitchRow {
  id: number;
  token: string;
  case_id: string;
  name: string;
  notes: string;
  tags: string;
  alert_email: string;
  created_at: number;
}

const COLUMNS = 'id, token, case_id, name, notes, tags, alert_email, created_at';

export async function hasRoomForSnitch(tx: Transaction, caseId: string): Promise<boolean> {
  const row = await tx.get<{ max_snitches: number | null }>(
    'SELECT max_snitches FROM cases WHERE id = ?',
    caseId,
  );
  if (row?.max_snitches == null) return true;
  const count = await tx.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM snitches WHERE case_id = ?',
    caseId,
  );
  return (count?.count ?? 0) < row.max_snitches;
}

export async function createSnitch(
  tx: Transaction,
  caseId: string,
  fields: SnitchFields,
  now: number,
): Promise<Snitch> {
  if (!(await hasRoomForSnitch(tx, caseId))) throw new PlanLimitReached();
  return insertSnitch(tx, caseId, fields, now);
}

/** The caller has looked whether there is room for it. */
export async function insertSnitch(
  tx: Transaction,
  caseId: string,
  fields: SnitchFields,
  now: number,
  token = newToken(),
): Promise<Snitch> {
  await requireCase(tx, caseId);
  const { interval, alertType, ...described } = fields;
  const snitch: Snitch = {
    ...described,
    token,
    caseId,
    createdAt: now,
    state: newSnitchState(interval, alertType),
    lastReport: null,
  };
  await tx.run(
    `INSERT INTO snitches (token, case_id, name, notes, tags, alert_email, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    snitch.token,
    caseId,
    snitch.name,
    snitch.notes,
    JSON.stringify(snitch.tags),
    JSON.stringify(snitch.alertEmail),
    now,
  );
  await insertState(tx, snitch.token, caseId, snitch.state);
  return snitch;
}

export async function getSnitch(tx: Transaction, caseId: string, token: string): Promise<Snitch | null> {
  const found = await find(tx, caseId, token);
  return found ? toSnitch(tx, found.row, found.state) : null;
}

interface Found {
  row: SnitchRow;
  state: StateRow;
}

async function find(tx: Transaction, caseId: string, token: string): Promise<Found | null> {
  const row = await tx.get<SnitchRow>(
    `SELECT ${COLUMNS} FROM snitches WHERE token = ? AND case_id = ?`,
    token,
    caseId,
  );
  const state = row && (await getState(tx, token));
  return row && state ? { row, state } : null;
}

/** In order of creation, those with all of `tags`; `after` and `next` are positions in that order. */
export async function listSnitches(
  tx: Transaction,
  caseId: string,
  { after, limit, tags }: { after: number; limit: number; tags: readonly string[] },
): Promise<{ snitches: Snitch[]; next: number | null }> {
  const rows = await tx.all<SnitchRow>(
    `SELECT ${COLUMNS} FROM snitches WHERE case_id = ? AND id > ? ORDER BY id LIMIT ?`,
    caseId,
    after,
    limit,
  );
  const snitches: Snitch[] = [];
  for (const row of rows) {
    const own = JSON.parse(row.tags) as string[];
    if (!tags.every((tag) => own.includes(tag))) continue;
    const state = await getState(tx, row.token);
    if (state) snitches.push(await toSnitch(tx, row, state));
  }
  const last = rows.at(-1);
  return { snitches, next: last && rows.length === limit ? last.id : null };
}

/** Changes what is named. A new interval or alert type restarts the deadline from now. */
export async function updateSnitch(
  tx: Transaction,
  caseId: string,
  token: string,
  changes: Partial<SnitchFields>,
  now: number,
): Promise<Snitch | null> {
  const found = await find(tx, caseId, token);
  if (!found) return null;
  const { row, state } = found;
  const interval = changes.interval ?? state.interval;
  const alertType = changes.alertType ?? state.alert_type;
  if (alertType === 'smart' && isMinuteInterval(interval)) throw new Invalid([SMART_WITH_MINUTES]);
  const described: SnitchRow = {
    ...row,
    name: changes.name ?? row.name,
    notes: changes.notes ?? row.notes,
    tags: changes.tags ? JSON.stringify(changes.tags) : row.tags,
    alert_email: changes.alertEmail ? JSON.stringify(changes.alertEmail) : row.alert_email,
  };
  await tx.run(
    'UPDATE snitches SET name = ?, notes = ?, tags = ?, alert_email = ? WHERE id = ?',
    described.name,
    described.notes,
    described.tags,
    described.alert_email,
    row.id,
  );
  tx.announce({ kind: 'snitch', caseId, token });
  if (interval === state.interval && alertType === state.alert_type) return toSnitch(tx, described, state);
  if (interval !== state.interval) await tx.run('DELETE FROM first_check_ins WHERE token = ?', token);
  const changed: StateRow = { ...state, interval, alert_type: alertType };
  const context = await contextFor(tx, changed, await getRules(tx, caseId), now);
  const rescheduled = transition(toState(changed), { kind: 'rescheduled' }, context).snitch;
  await saveState(tx, state, rescheduled, state.thread_id);
  return { ...(await toSnitch(tx, described, state)), state: rescheduled };
}

export async function addTags(
  tx: Transaction,
  caseId: string,
  token: string,
  tags: readonly string[],
): Promise<string[] | null> {
  const own = await tagsOf(tx, caseId, token);
  if (!own) return null;
  const all = [...new Set([...own, ...tags])];
  const refused = tooManyTags(all);
  if (refused) throw new Invalid([refused]);
  return writeTags(tx, caseId, token, all);
}

/** Removes the first of `spellings` that the snitch has. */
export async function removeTag(
  tx: Transaction,
  caseId: string,
  token: string,
  spellings: readonly string[],
): Promise<string[] | null> {
  const own = await tagsOf(tx, caseId, token);
  if (!own) return null;
  const tag = spellings.find((spelling) => own.includes(spelling));
  if (tag === undefined) return own;
  return writeTags(
    tx,
    caseId,
    token,
    own.filter((one) => one !== tag),
  );
}

async function tagsOf(tx: Transaction, caseId: string, token: string): Promise<string[] | null> {
  const row = await tx.get<{ tags: string }>(
    'SELECT tags FROM snitches WHERE token = ? AND case_id = ?',
    token,
    caseId,
  );
  return row ? (JSON.parse(row.tags) as string[]) : null;
}

async function writeTags(tx: Transaction, caseId: string, token: string, tags: string[]): Promise<string[]> {
  await tx.run('UPDATE snitches SET tags = ? WHERE token = ?', JSON.stringify(tags), token);
  tx.announce({ kind: 'snitch', caseId, token });
  return tags;
}

/** Alerts that were decided are still delivered; the log of check-ins goes with retention. */
export async function deleteSnitch(tx: Transaction, caseId: string, token: string): Promise<boolean> {
  const values: Value[] = [token, caseId];
  if ((await tx.run('DELETE FROM snitches WHERE token = ? AND case_id = ?', ...values)) === 0) return false;
  await tx.run('DELETE FROM snitch_states WHERE token = ?', token);
  await tx.run('DELETE FROM first_check_ins WHERE token = ?', token);
  await tx.run('DELETE FROM flapping WHERE token = ?', token);
  tx.announce({ kind: 'snitch', caseId, token });
  return true;
}

async function toSnitch(tx: Transaction, row: SnitchRow, state: StateRow): Promise<Snitch> {
  return {
    token: row.token,
    caseId: row.case_id,
    name: row.name,
    notes: row.notes,
    tags: JSON.parse(row.tags) as string[],
    alertEmail: JSON.parse(row.alert_email) as string[],
    createdAt: row.created_at,
    state: toState(state),
    lastReport: await lastReportOf(tx, state),
  };
}
