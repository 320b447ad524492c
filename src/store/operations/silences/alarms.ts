/** Alarms that a silence keeps back, and snitches that wait for the end of one. */
import type { AlertDecision, AlertDetails } from '../../../core/alert.ts';
import type { Reading, Transaction } from '../../transaction.ts';

/** An alarm that is sent when the silence ends, unless it is over by then. */
export interface KeptBack {
  decision: AlertDecision;
  details: AlertDetails;
}

export async function keptBackOf(tx: Reading, id: number): Promise<KeptBack | null> {
  const row = await tx.get<{ told: string }>('SELECT told FROM silenced_alarms WHERE snitch_id = ?', id);
  return row ? (JSON.parse(row.told) as KeptBack) : null;
}

/** Of several, the last one is sent, with the status before the first: nobody knows about those in between. */
export async function keepBack(
  tx: Transaction,
  id: number,
  { decision, details }: KeptBack,
  settleAt: number,
): Promise<void> {
  const earlier = await keptBackOf(tx, id);
  const { previousStatus } = earlier?.decision ?? decision;
  await tx.run(
    `INSERT INTO silenced_alarms (snitch_id, settle_at, told) VALUES (?, ?, ?)
     ON CONFLICT (snitch_id) DO UPDATE SET settle_at = excluded.settle_at, told = excluded.told`,
    id,
    settleAt,
    JSON.stringify({ decision: { ...decision, previousStatus }, details }),
  );
}

export function forgetKeptBack(tx: Transaction, id: number): void {
  tx.put('DELETE FROM silenced_alarms WHERE snitch_id = ?', id);
}

/** Has the sweep look at a kept-back alarm at `at`. */
export async function settleKeptBack(tx: Transaction, id: number, at: number): Promise<void> {
  await tx.run('UPDATE silenced_alarms SET settle_at = ? WHERE snitch_id = ?', at, id);
}

/** Has the sweep look at the snitch again only at `until`, although it is due. */
export async function waitFor(tx: Transaction, id: number, until: number): Promise<void> {
  await tx.run('UPDATE snitch_states SET look_at = ? WHERE id = ?', until, id);
}

/** Has the sweep look at once at a snitch that may no longer be silenced. */
export async function lookAnew(tx: Transaction, id: number): Promise<void> {
  await tx.run('UPDATE snitch_states SET look_at = due_at WHERE id = ? AND look_at > due_at', id);
  await settleKeptBack(tx, id, 0);
}

/** For an alarm that waits for the end of a pause, an acknowledgement or a hold, and not of a silence. */
export const AT_NO_TIME = Number.MAX_SAFE_INTEGER;

/** Examines all of them again, because the silence they wait for may have been set by a clock that ran ahead. */
export async function bringKeptBackNear(tx: Transaction, now: number): Promise<void> {
  await tx.run(
    'UPDATE silenced_alarms SET settle_at = ? WHERE settle_at > ? AND settle_at < ?',
    now,
    now,
    AT_NO_TIME,
  );
}
