/** How many snitches of a case have each status: updated with each change, because counting them reads them all. */
import type { Status } from '../../core/snitch.ts';
import type { Reading, Transaction } from '../transaction.ts';

export const COUNT = `INSERT INTO status_counts (case_id, status, count) VALUES (?, ?, ?)
  ON CONFLICT (case_id, status) DO UPDATE SET count = status_counts.count + excluded.count`;

export function countStatus(tx: Transaction, caseId: string, status: Status, change: 1 | -1): void {
  tx.put(COUNT, caseId, status, change);
}

export async function countSnitches(tx: Reading, caseId: string): Promise<number> {
  const row = await tx.get<{ count: number | null }>(
    'SELECT SUM(count) AS count FROM status_counts WHERE case_id = ?',
    caseId,
  );
  return row?.count ?? 0;
}

/** Whether the case can have one more. */
export async function hasRoomForSnitch(tx: Reading, caseId: string): Promise<boolean> {
  const row = await tx.get<{ most: number | null }>(
    'SELECT max_snitches AS most FROM cases WHERE id = ?',
    caseId,
  );
  return row?.most == null || (await countSnitches(tx, caseId)) < row.most;
}

/** Of all cases together. */
export async function countByStatus(tx: Reading): Promise<Partial<Record<Status, number>>> {
  const rows = await tx.all<{ status: Status; count: number }>(
    'SELECT status, SUM(count) AS count FROM status_counts GROUP BY status HAVING SUM(count) > 0',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
