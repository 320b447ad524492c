/** Activity entries about badges. A snitch's badge is listed under that snitch. */
import type { Act, Action } from '../../../core/activity/activity.ts';
import type { Badge } from '../../../core/badges/badge.ts';
import type { Transaction } from '../../transaction.ts';
import { record } from './record.ts';

export function recordBadge(
  tx: Transaction,
  act: Act,
  action: Action,
  { id, caseId, subject: of }: Badge,
): Promise<void> {
  const subject =
    of.kind === 'snitch' ? { id: of.token, name: of.name } : { id, name: `all tagged ${of.tag}` };
  return record(tx, act, { caseId, action, subject });
}
