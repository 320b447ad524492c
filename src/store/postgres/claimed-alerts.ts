/** Reads at once the alerts of all deliveries that are claimed. */
import { type AlertRow, SELECT } from '../operations/alert-rows.ts';
import { GET_ALERT } from '../operations/alerts.ts';
import type { DueRow } from '../operations/claims.ts';
import type { Transaction } from '../transaction.ts';
import { AheadTransaction } from './ahead-transaction.ts';

const ALERTS = `${SELECT} WHERE a.id IN (SELECT value FROM json_each(?))`;

export async function foreseeAlerts(tx: Transaction, rows: readonly DueRow[]): Promise<void> {
  if (rows.length === 0 || !(tx instanceof AheadTransaction)) return;
  const ids = [...new Set(rows.map((row) => row.alert_id))];
  for (const row of await tx.all<AlertRow>(ALERTS, JSON.stringify(ids)))
    tx.answer(GET_ALERT, [row.id], [row]);
}
