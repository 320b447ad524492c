/** Activity entries about changes to cases. */
import type { Act } from '../../../core/activity/activity.ts';
import { changesBetween } from '../../../core/activity/changes.ts';
import type { Case, CaseSettings } from '../../../core/case.ts';
import type { Transaction } from '../../transaction.ts';
import { record } from './record.ts';

/** The names of a case's settings in the API. */
const FIELDS: Record<keyof CaseSettings, string> = {
  name: 'name',
  timezone: 'timezone',
  members: 'members',
  reminders: 'reminders',
  errorNotices: 'error_notices',
  maxSnitches: 'max_snitches',
  onHold: 'on_hold',
};

/** Recorded for the server, because a deleted case has no list any more; and for the case itself while it exists. */
export async function recordCase(
  tx: Transaction,
  act: Act,
  action: 'case.created' | 'case.deleted',
  { id, name }: Pick<Case, 'id' | 'name'>,
): Promise<void> {
  await record(tx, act, { caseId: null, action, subject: { id, name } });
  if (action === 'case.created') await record(tx, act, { caseId: id, action, subject: { id, name } });
}

export async function recordCaseEdit(tx: Transaction, act: Act, before: Case, after: Case): Promise<void> {
  const changes = changesBetween({ ...before }, { ...after }, FIELDS);
  if (Object.keys(changes).length === 0) return;
  const subject = { id: after.id, name: after.name };
  await record(tx, act, { caseId: after.id, action: 'case.changed', subject, details: { changes } });
}
