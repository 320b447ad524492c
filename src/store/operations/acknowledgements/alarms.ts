/** Alerts that report a problem, and whether it still exists. */
import { type Alert, type AlertKind, isAlarm } from '../../../core/alert.ts';
import type { Alarm } from '../../acknowledgements.ts';
import type { Reading } from '../../transaction.ts';
import { getAlert } from '../alerts.ts';
import { getCase } from '../cases.ts';
import { acknowledgedIn, getState, type StateRow } from '../states.ts';

export async function findAlarm(tx: Reading, alertId: string): Promise<Alarm | null> {
  const alert = await getAlert(tx, alertId);
  if (!alert?.snitch || !isAlarm(alert.type)) return null;
  const owner = await getCase(tx, alert.caseId);
  if (!owner) return null;
  const found = await getState(tx, alert.token);
  const row = found?.case_id === alert.caseId ? found : undefined;
  const lasts = row !== undefined && (await isPresent(tx, alert, row));
  return {
    alert,
    case: { name: owner.name, timezone: owner.timezone },
    lasts,
    status: row?.status ?? null,
    acknowledged: lasts ? acknowledgedIn(row.acknowledged) : null,
  };
}

/**
 * Whether the snitch is still in the state that the alert reports. It must be the same outage, and nothing else may
 * have been alerted in between: a snitch that was errored, then missing, and is now errored again raised another alarm.
 * A reminder belongs to the alarm that it repeats, and a pause hides an alarm only until it ends.
 */
async function isPresent(
  tx: Reading,
  { id, token, type, at, details }: Extract<Alert, { type: AlertKind }>,
  row: StateRow,
): Promise<boolean> {
  const told = type === 'snitch.missing' ? 'failed' : 'errored';
  if (row.status !== told || row.thread_id !== (details.threadId ?? id)) return false;
  const other = await tx.get<{ id: string }>(
    `SELECT id FROM alerts WHERE token = +? AND at >= +? AND id <> ? AND type NOT IN (?, 'snitch.paused') LIMIT 1`,
    token,
    at,
    id,
    type,
  );
  return other === undefined;
}
