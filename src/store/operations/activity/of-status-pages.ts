/** Activity entries about who created, changed and deleted a status page. */
import type { Act, Action } from '../../../core/activity/activity.ts';
import { changesBetween } from '../../../core/activity/changes.ts';
import type { StatusPage } from '../../../core/status-page/page.ts';
import type { Transaction } from '../../transaction.ts';
import { record } from './record.ts';

const FIELDS = {
  slug: 'slug',
  title: 'title',
  tags: 'tags',
  groups: 'groups',
  passwordHash: 'password',
  text: 'announcement',
};

const UNTOLD = new Set(['passwordHash']);

export async function recordPage(
  tx: Transaction,
  act: Act,
  action: Action,
  { id, caseId, slug, tags }: StatusPage,
): Promise<void> {
  const shown = `shows ${tags.includes('*') ? 'everything' : `what is tagged ${tags.join(' or ')}`}`;
  const details = action === 'status_page.deleted' ? {} : { note: shown };
  await record(tx, act, { caseId, action, subject: { id: `page_${id}`, name: `/s/${slug}` }, details });
}

export async function recordPageEdit(
  tx: Transaction,
  act: Act,
  before: StatusPage,
  after: StatusPage,
): Promise<void> {
  const changes = changesBetween(told(before), told(after), FIELDS, UNTOLD);
  if (Object.keys(changes).length === 0) return;
  const subject = { id: `page_${after.id}`, name: `/s/${after.slug}` };
  await record(tx, act, {
    caseId: after.caseId,
    action: 'status_page.changed',
    subject,
    details: { changes },
  });
}

function told(page: StatusPage): Record<string, unknown> {
  return { ...page, text: page.announcement?.text ?? null };
}
