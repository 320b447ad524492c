/** What is written of changes to cases, their keys and whoever they tell. */
import type { Act } from '../../../core/activity/activity.ts';
import { changesBetween } from '../../../core/activity/changes.ts';
import type { Case, CaseSettings } from '../../../core/case.ts';
import type { Transaction } from '../../transaction.ts';
import { record } from './record.ts';

/** Settings of a case by their names in the API. */
const FIELDS: Record<keyof CaseSettings, string> = {
  name: 'name',
  timezone: 'timezone',
  members: 'members',
  reminders: 'reminders',
  errorNotices: 'error_notices',
  maxSnitches: 'max_snitches',
  onHold: 'on_hold',
};

/** For the server, which has the case no more once it is deleted; and for the case itself, while it is there. */
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
