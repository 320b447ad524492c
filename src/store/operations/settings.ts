import type { Act } from '../../core/activity/activity.ts';
import type { OrderlyStop } from '../blindness.ts';
import type { Setting } from '../server-notes.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { record } from './activity/record.ts';

/** The server's own settings, except those in its configuration file. */
export async function getSetting(tx: Reading, name: Setting): Promise<string | null> {
  const row = await tx.get<{ value: string }>('SELECT value FROM settings WHERE name = ?', name);
  return row?.value ?? null;
}

export async function setSetting(tx: Transaction, name: Setting, value: string): Promise<void> {
  await tx.run(
    `INSERT INTO settings (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    name,
    value,
  );
}

/** Records that the daemon was alive at `at`, and whether it then stopped in an orderly way. */
export async function recordLiveness(tx: Transaction, at: number, stop: OrderlyStop | null): Promise<void> {
  await setSetting(tx, 'liveness', String(at));
  if (stop) await setSetting(tx, 'stopped', JSON.stringify({ at, ...stop }));
}

/** While maintenance is on, the API answers nothing else. */
export async function setMaintenance(tx: Transaction, act: Act, enabled: boolean): Promise<void> {
  const before = await getSetting(tx, 'maintenance');
  await setSetting(tx, 'maintenance', enabled ? 'on' : 'off');
  if ((before === 'on') === enabled) return;
  const action = enabled ? 'maintenance.began' : 'maintenance.ended';
  await record(tx, act, { caseId: null, action, subject: { id: null, name: 'server' } });
}
