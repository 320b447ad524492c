import type { Act } from '../../core/activity/activity.ts';
import type { Case, CaseSettings } from '../../core/case.ts';
import { NotFound } from '../../core/errors.ts';
import type { Reminders, Status } from '../../core/snitch.ts';
import { newId } from '../identifiers.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { recordCase, recordCaseEdit } from './activity/of-cases.ts';
import { forgetPacesOf } from './pace/paces.ts';
import { forgetMembers } from './routes/rules.ts';
import { dropWaitingOfCase } from './routes/waiting.ts';
import { tagsIn } from './snitch-rows.ts';
import { countStatus } from './status-counts.ts';
import { forgetPage } from './status-pages/pages.ts';
import { indexTags } from './tags.ts';

interface CaseRow {
  id: string;
  name: string;
  timezone: string;
  members: string;
  reminders: Reminders;
  error_notices: number;
  max_snitches: number | null;
  on_hold: number;
  created_at: number;
}

const COLUMNS = 'id, name, timezone, members, reminders, error_notices, max_snitches, on_hold, created_at';

export async function createCase(
  tx: Transaction,
  act: Act,
  settings: CaseSettings,
  now: number,
): Promise<Case> {
  const created: Case = { ...settings, id: newId('case'), createdAt: now };
  await tx.run(
    `INSERT INTO cases (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    created.id,
    ...settingValues(created),
    now,
  );
  await recordCase(tx, act, 'case.created', created);
  return created;
}

export async function getCase(tx: Reading, id: string): Promise<Case | null> {
  const row = await tx.get<CaseRow>(`SELECT ${COLUMNS} FROM cases WHERE id = ?`, id);
  return row ? toCase(row) : null;
}

/** As `getCase`, read once in a transaction however many ask for it. */
export function rememberedCase(tx: Reading, id: string): Promise<Case | null> {
  return tx.remember(`case ${id}`, () => getCase(tx, id));
}

/** Nothing can be created in a case that was deleted since the caller looked. */
export async function requireCase(tx: Transaction, id: string): Promise<void> {
  if (!(await rememberedCase(tx, id))) throw new NotFound();
}

export async function listCases(tx: Reading): Promise<Case[]> {
  const rows = await tx.all<CaseRow>(`SELECT ${COLUMNS} FROM cases ORDER BY created_at DESC, id`);
  return rows.map(toCase);
}

/** A new time zone restarts every deadline of the case, a new kind of reminders those of its failed snitches. */
export async function updateCase(
  tx: Transaction,
  act: Act,
  id: string,
  changes: Partial<CaseSettings>,
): Promise<Case | null> {
  const before = await getCase(tx, id);
  if (!before) return null;
  const after: Case = { ...before, ...changes };
  await tx.run(
    `UPDATE cases SET name = ?, timezone = ?, members = ?, reminders = ?, error_notices = ?, max_snitches = ?,
       on_hold = ? WHERE id = ?`,
    ...settingValues(after),
    id,
  );
  if (changes.members) await forgetMembers(tx, id, before.members, after.members);
  tx.forget();
  if (after.onHold && !before.onHold) tx.announce({ kind: 'access', caseId: id, keyId: null });
  tx.announce({ kind: 'statusPage', caseId: id });
  const deadlines = after.timezone !== before.timezone;
  if (deadlines || after.reminders !== before.reminders) await planReschedule(tx, id, deadlines);
  await recordCaseEdit(tx, act, before, after);
  return after;
}

async function planReschedule(tx: Transaction, id: string, deadlines: boolean): Promise<void> {
  await tx.lock('reschedules');
  await tx.run(
    `INSERT INTO reschedules (case_id, deadlines, cursor) VALUES (?, ?, 0)
     ON CONFLICT (case_id) DO UPDATE SET cursor = 0,
       deadlines = CASE WHEN excluded.deadlines = 1 THEN 1 ELSE reschedules.deadlines END`,
    id,
    deadlines ? 1 : 0,
  );
}

/** How many snitches one slice deletes. */
const SLICE = 200;

/**
 * Deletes some of the case's snitches, oldest first, so that few are left when the case itself is deleted: check-ins
 * wait for that, and with a million snitches it would take many seconds.
 *
 * @returns false when no full slice is left
 */
export async function emptyCaseSlice(tx: Transaction, caseId: string): Promise<boolean> {
  await tx.lock(`case ${caseId}`);
  const rows = await tx.all<{ id: number; tags: string; status: Status }>(
    `SELECT n.id, n.tags, s.status FROM snitches AS n CROSS JOIN snitch_states AS s ON s.id = n.id
     WHERE n.case_id = +? ORDER BY n.id LIMIT +?`,
    caseId,
    SLICE,
  );
  // The last few are deleted together with the case, in one step.
  if (rows.length < SLICE) return false;
  for (const { id, tags, status } of rows) {
    for (const table of OF_SNITCHES) tx.put(`DELETE FROM ${table} WHERE snitch_id = ?`, id);
    tx.put('DELETE FROM snitch_states WHERE id = ?', id);
    tx.put('DELETE FROM snitches WHERE id = ?', id);
    indexTags(tx, { id, caseId }, tagsIn({ tags }), []);
    countStatus(tx, caseId, status, -1);
  }
  tx.announce({ kind: 'shown', caseId });
  return true;
}

/** The tables with rows that belong to one snitch. */
const OF_SNITCHES = ['flapping', 'silenced_alarms', 'snitch_values', 'badges'];

/** Deletes the case and everything that belongs to it. Alerts that were decided stay, and so do their emails. */
export async function deleteCase(tx: Transaction, act: Act, id: string): Promise<boolean> {
  const deleted = await getCase(tx, id);
  if (!deleted) return false;
  await tx.run('DELETE FROM cases WHERE id = ?', id);
  tx.forget();
  await tx.run('DELETE FROM flapping WHERE snitch_id IN (SELECT id FROM snitches WHERE case_id = ?)', id);
  await tx.run(
    'DELETE FROM silenced_alarms WHERE snitch_id IN (SELECT id FROM snitches WHERE case_id = ?)',
    id,
  );
  await tx.run('DELETE FROM silences WHERE case_id = ?', id);
  await tx.run('DELETE FROM badges WHERE case_id = ?', id);
  await tx.run(
    'DELETE FROM snitch_values WHERE snitch_id IN (SELECT id FROM snitches WHERE case_id = ?)',
    id,
  );
  await tx.run('DELETE FROM snitch_states WHERE id IN (SELECT id FROM snitches WHERE case_id = ?)', id);
  await tx.run('DELETE FROM snitches WHERE case_id = ?', id);
  await tx.run('DELETE FROM snitch_tags WHERE case_id = ?', id);
  await tx.run('DELETE FROM status_counts WHERE case_id = ?', id);
  await tx.run('DELETE FROM api_keys WHERE case_id = ?', id);
  await tx.run('DELETE FROM webhooks WHERE case_id = ?', id);
  await forgetPacesOf(tx, id);
  await tx.run('DELETE FROM channels WHERE case_id = ?', id);
  await tx.run('DELETE FROM repeats WHERE case_id = ?', id);
  await tx.run('DELETE FROM routes WHERE case_id = ?', id);
  await dropWaitingOfCase(tx, id, 'the case was deleted before');
  await tx.run('DELETE FROM reschedules WHERE case_id = ?', id);
  await tx.run('DELETE FROM activity WHERE case_id = ?', id);
  await recordCase(tx, act, 'case.deleted', deleted);
  await tx.run('DELETE FROM needs WHERE case_id = ?', id);
  await forgetPage(tx, id);
  await tx.run('DELETE FROM reliefs WHERE case_id = ?', id);
  tx.announce({ kind: 'access', caseId: id, keyId: null });
  return true;
}

function settingValues(settings: CaseSettings) {
  return [
    settings.name,
    settings.timezone,
    JSON.stringify(settings.members),
    settings.reminders,
    settings.errorNotices ? 1 : 0,
    settings.maxSnitches,
    settings.onHold ? 1 : 0,
  ] as const;
}

function toCase(row: CaseRow): Case {
  return {
    id: row.id,
    name: row.name,
    timezone: row.timezone,
    members: JSON.parse(row.members) as string[],
    reminders: row.reminders,
    errorNotices: row.error_notices === 1,
    maxSnitches: row.max_snitches,
    onHold: row.on_hold === 1,
    createdAt: row.created_at,
  };
}
