import type { Status } from '../../core/snitch.ts';
import type { Census } from '../server-notes.ts';
import type { Transaction } from '../transaction.ts';

/** Counts for the metrics. */
export async function takeCensus(tx: Transaction): Promise<Census> {
  const statuses = await tx.all<{ status: Status; count: number }>(
    'SELECT status, COUNT(*) AS count FROM snitch_states GROUP BY status',
  );
  const outbox = await tx.get<{ pending: number; oldest: number | null }>(
    `SELECT COUNT(*) AS pending, MIN(a.at) AS oldest
     FROM deliveries AS d JOIN alerts AS a ON a.id = d.alert_id WHERE d.state = 'pending'`,
  );
  const due = await tx.get<{ first: number | null }>(
    'SELECT MIN(due_at) AS first FROM snitch_states WHERE due_at IS NOT NULL',
  );
  const blind = await tx.get<{ total: number | null }>(
    'SELECT SUM(ended_at - started_at) AS total FROM blind_windows',
  );
  return {
    snitches: Object.fromEntries(statuses.map(({ status, count }) => [status, count])),
    outbox: { pending: outbox?.pending ?? 0, oldestAlertAt: outbox?.oldest ?? null },
    firstDueAt: due?.first ?? null,
    blindMs: blind?.total ?? 0,
  };
}
