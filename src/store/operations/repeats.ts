/** Alarms that a service ends automatically unless it is told of them again. */
import { isAlarm } from '../../core/alert.ts';
import { REPEAT_EVERY } from '../../core/channel.ts';
import type { Repeat } from '../../core/delivery.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { getAlert } from './alerts.ts';
import { getCase } from './cases.ts';
import { recipientOf } from './incidents.ts';

interface RepeatRow {
  channel_id: string;
  token: string;
  case_id: string;
  alert_id: string;
}

/** From now on an alarm that was delivered is repeated; any other delivered alert stops that. */
export async function noteRepeats(
  tx: Transaction,
  { case_id: caseId, target, alert_id: alertId }: { case_id: string; target: string; alert_id: string },
  at: number,
): Promise<void> {
  const alert = await getAlert(tx, alertId);
  if (!alert?.token) return;
  if (isAlarm(alert.type)) {
    await tx.run(
      `INSERT INTO repeats (channel_id, token, case_id, alert_id, next_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (channel_id, token) DO UPDATE SET alert_id = excluded.alert_id, next_at = excluded.next_at`,
      target,
      alert.token,
      caseId,
      alertId,
      at + REPEAT_EVERY,
    );
  } else {
    await tx.run('DELETE FROM repeats WHERE channel_id = ? AND token = ?', target, alert.token);
  }
}

/** A clock that was set back must not let an alarm end: a repeat that is due too far in the future is due now. */
export async function takeRepeats(
  tx: Transaction,
  now: number,
  limit: number,
  busy: readonly string[] = [],
): Promise<Repeat[]> {
  const rows = await tx.allFree<RepeatRow>(
    `SELECT channel_id, token, case_id, alert_id FROM repeats
     WHERE next_at <= +? AND channel_id NOT IN (SELECT value FROM json_each(+?)) ORDER BY next_at LIMIT +?`,
    now,
    JSON.stringify(busy),
    limit,
  );
  if (rows.length === 0) {
    await tx.run('UPDATE repeats SET next_at = ? WHERE next_at > ?', now, now + 2 * REPEAT_EVERY);
  }
  const repeats: Repeat[] = [];
  for (const row of rows) {
    const repeat = await toRepeat(tx, row);
    if (repeat) repeats.push(repeat);
    const key = [row.channel_id, row.token];
    if (repeat) {
      await tx.run(
        'UPDATE repeats SET next_at = ? WHERE channel_id = ? AND token = ?',
        now + REPEAT_EVERY,
        ...key,
      );
    } else await tx.run('DELETE FROM repeats WHERE channel_id = ? AND token = ?', ...key);
  }
  return repeats;
}

/** Null if the alarm is over, or the channel or the alert is gone. */
async function toRepeat(tx: Transaction, row: RepeatRow): Promise<Repeat | null> {
  if (!(await isFailing(tx, row.token))) return null;
  const [alert, owner] = [await getAlert(tx, row.alert_id), await getCase(tx, row.case_id)];
  if (!alert || !owner) return null;
  const { channel_id: channelId, token, case_id } = row;
  const recipient = await recipientOf(
    tx,
    { id: 0, case_id, channel: 'alertmanager', target: channelId },
    alert,
  );
  if (!recipient?.channel) return null;
  const { id, name, timezone } = owner;
  return { channelId, token, alert, recipient, case: { id, name, timezone } };
}

export async function lasts(
  tx: Reading,
  { channelId, token }: Pick<Repeat, 'channelId' | 'token'>,
): Promise<boolean> {
  const row = await tx.get<{ token: string }>(
    'SELECT token FROM repeats WHERE channel_id = ? AND token = ?',
    channelId,
    token,
  );
  return row !== undefined && (await isFailing(tx, token));
}

async function isFailing(tx: Reading, token: string): Promise<boolean> {
  const row = await tx.get<{ status: string }>(
    'SELECT s.status FROM snitches AS n JOIN snitch_states AS s ON s.id = n.id WHERE n.token = ?',
    token,
  );
  return row?.status === 'failed' || row?.status === 'errored';
}

export async function nextRepeatAt(tx: Reading): Promise<number | null> {
  const row = await tx.get<{ next_at: number }>('SELECT next_at FROM repeats ORDER BY next_at LIMIT 1');
  return row?.next_at ?? null;
}
