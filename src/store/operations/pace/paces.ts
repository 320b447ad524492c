/** One row of the settings for each chat that was ever written to, until its channel or case is deleted. */
import type { Channel } from '../../../core/routing.ts';
import type { KeptPace } from '../../paces.ts';
import type { Reading, Transaction } from '../../transaction.ts';

function prefixOf(channel: Channel): string {
  return `pace ${channel} `;
}

export async function keepPace(
  tx: Transaction,
  channel: Channel,
  target: string,
  pace: KeptPace,
): Promise<void> {
  await tx.run(
    `INSERT INTO settings (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    `${prefixOf(channel)}${target}`,
    JSON.stringify(pace),
  );
}

export async function listPaces(
  tx: Reading,
  channel: Channel,
): Promise<{ target: string; pace: KeptPace }[]> {
  const prefix = prefixOf(channel);
  const rows = await tx.all<{ name: string; value: string }>(
    'SELECT name, value FROM settings WHERE name > +? AND name < +?',
    prefix,
    `${prefix}~`,
  );
  return rows.map(({ name, value }) => ({
    target: name.slice(prefix.length),
    pace: JSON.parse(value) as KeptPace,
  }));
}

export async function forgetPace(tx: Transaction, channel: Channel, target: string): Promise<void> {
  await tx.run('DELETE FROM settings WHERE name = ?', `${prefixOf(channel)}${target}`);
}

/** To be called while the channels of the case are there. */
export async function forgetPacesOf(tx: Transaction, caseId: string): Promise<void> {
  await tx.run(
    `DELETE FROM settings WHERE name IN (SELECT 'pace ' || kind || ' ' || id FROM channels WHERE case_id = ?)`,
    caseId,
  );
}
