import type { Action, Entry } from '../../../core/activity/activity.ts';
import type { Details } from '../../../core/activity/changes.ts';
import type { ActivityFilter } from '../../activity.ts';
import type { Page } from '../../page.ts';
import type { Reading, Value } from '../../transaction.ts';
import { SERVER } from './record.ts';

interface EntryRow {
  id: number;
  at: number;
  key_id: string | null;
  key_name: string;
  action: Action;
  subject_id: string | null;
  subject_name: string;
  details: string;
}

const COLUMNS = 'id, at, key_id, key_name, action, subject_id, subject_name, details';

/** Newest first: in the order in which things were done, whatever the clock said. */
export async function listActivity(
  tx: Reading,
  caseId: string | null,
  { subjectId, action, limit, before, behind }: ActivityFilter & Page,
): Promise<Entry[]> {
  const conditions = ['case_id = +?'];
  const values: Value[] = [caseId ?? SERVER];
  const also = (condition: string, value: Value) => {
    conditions.push(condition);
    values.push(value);
  };
  if (subjectId !== null) also('subject_id = +?', subjectId);
  if (action !== null) also('action = +?', action);
  if (behind) also('id < +?', Number(behind.id));
  if (before && 'id' in before) also('id < +?', Number(before.id));
  else if (before) also('at < +?', before.at);
  const rows = await tx.all<EntryRow>(
    `SELECT ${COLUMNS} FROM activity WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT +?`,
    ...values,
    limit,
  );
  return rows.map(toEntry);
}

function toEntry(row: EntryRow): Entry {
  return {
    id: row.id,
    at: row.at,
    by: { keyId: row.key_id, name: row.key_name },
    action: row.action,
    subject: { id: row.subject_id, name: row.subject_name },
    details: JSON.parse(row.details) as Details,
  };
}
