/** Records status changes of snitches whose case has a status page. */
import type { Status } from '../../../core/snitch.ts';
import type { Reading, Transaction } from '../../transaction.ts';

/** How many changes of one snitch are kept: its strip and its feed need no more. */
export const CHANGES_KEPT = 300;

/** The key under which a case's page is remembered: its number, or null. */
export function pageKey(caseId: string): string {
  return `page of ${caseId}`;
}

/** A snitch before a change. */
interface Before {
  id: number;
  case_id: string;
  status: Status;
}

/** To be called with every change of state. It costs nothing if the status is the same, and little without a page. */
export async function noteChange(
  tx: Transaction,
  { id, case_id: caseId, status: was }: Before,
  status: Status,
  now: number,
): Promise<void> {
  if (status === was) return;
  const page = await tx.remember(pageKey(caseId), () => pageOf(tx, caseId));
  tx.announce({ kind: 'shown', caseId });
  if (page === null) return;
  await tx.run(
    `INSERT INTO status_changes (page_id, snitch_id, at, was, status) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (page_id, snitch_id, at) DO UPDATE SET status = excluded.status`,
    page,
    id,
    now,
    was,
    status,
  );
  await tx.run(
    `DELETE FROM status_changes WHERE page_id = +? AND snitch_id = +? AND at <= (
       SELECT at FROM status_changes WHERE page_id = +? AND snitch_id = +? ORDER BY at DESC LIMIT 1 OFFSET +?)`,
    page,
    id,
    page,
    id,
    CHANGES_KEPT,
  );
}

async function pageOf(tx: Reading, caseId: string): Promise<number | null> {
  const row = await tx.get<{ id: number }>('SELECT id FROM status_pages WHERE case_id = ?', caseId);
  return row?.id ?? null;
}

/** The snitch is deleted, and nothing more is shown of it. */
export async function forgetChanges(
  tx: Transaction,
  { id, caseId }: { id: number; caseId: string },
): Promise<void> {
  tx.announce({ kind: 'shown', caseId });
  const page = await pageOf(tx, caseId);
  if (page !== null) await tx.run('DELETE FROM status_changes WHERE page_id = ? AND snitch_id = ?', page, id);
}

/** Deletes a slice of what is stored for pages that are gone; false when nothing more is left to delete. */
export async function pruneChanges(tx: Transaction, slice: number): Promise<boolean> {
  let after = 0;
  for (;;) {
    const row = await tx.get<{ page_id: number }>(
      'SELECT page_id FROM status_changes WHERE page_id > ? ORDER BY page_id LIMIT 1',
      after,
    );
    if (!row) return false;
    after = row.page_id;
    if (await tx.get('SELECT 1 FROM status_pages WHERE id = ?', after)) continue;
    const deleted = await tx.run(
      `DELETE FROM status_changes WHERE page_id = +? AND (snitch_id, at) IN (
         SELECT snitch_id, at FROM status_changes WHERE page_id = +? LIMIT +?)`,
      after,
      after,
      slice,
    );
    if (deleted === slice) return true;
  }
}
