/** A service's latest answers: whether it refuses everything, and which alarms it must be told of again. */
import type { ChannelSettings } from '../../core/channel.ts';
import type { Channel } from '../../core/routing.ts';
import type { Transaction } from '../transaction.ts';
import { insertRefusalNotice } from './alerts.ts';
import { changeChannel, getChannel } from './channels.ts';
import { noteRepeats } from './repeats.ts';

interface SettledRow {
  case_id: string;
  channel: Channel;
  alert_id: string;
  target: string;
}

/** Something was delivered, so the channel is no longer refused. If a chat has moved, its new settings are stored. */
export async function noteDelivered(
  tx: Transaction,
  deliveryId: number,
  { settings }: { settings?: ChannelSettings },
  at: number,
): Promise<void> {
  const row = await settledRow(tx, deliveryId);
  if (!row) return;
  await tx.run(
    'UPDATE channels SET refused_at = NULL, refusal = NULL WHERE id = ? AND refused_at IS NOT NULL',
    row.target,
  );
  if (row.channel === 'alertmanager') await noteRepeats(tx, row, at);
  if (settings) await changeChannel(tx, row.case_id, row.target, { settings });
}

/** The first refusal stands until it is over, and everybody else who gets notices is told once. */
export async function noteRefused(
  tx: Transaction,
  deliveryId: number,
  error: string,
  at: number,
): Promise<void> {
  const row = await settledRow(tx, deliveryId);
  // Two deliveries that are refused at once count as one refusal.
  if (row) await tx.getHeld('SELECT id FROM channels WHERE id = ?', row.target);
  const channel = row && (await getChannel(tx, row.case_id, row.target));
  if (!channel || channel.refused) return;
  await tx.run('UPDATE channels SET refused_at = ?, refusal = ? WHERE id = ?', at, error, channel.id);
  const { id, name, kind, caseId } = channel;
  await insertRefusalNotice(tx, caseId, { channel: { id, name, kind }, error }, at);
}

async function settledRow(tx: Transaction, id: number): Promise<SettledRow | null> {
  return (
    (await tx.get<SettledRow>(
      'SELECT case_id, channel, alert_id, target FROM deliveries WHERE id = ?',
      id,
    )) ?? null
  );
}
