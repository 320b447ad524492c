import type { Transaction } from '../transaction.ts';

const MAINTENANCE = 'maintenance';

export async function getMaintenance(tx: Transaction): Promise<boolean> {
  const row = await tx.get<{ value: string }>('SELECT value FROM settings WHERE name = ?', MAINTENANCE);
  return row?.value === 'on';
}

/** Stays as it was set when the daemon restarts. */
export async function setMaintenance(tx: Transaction, enabled: boolean): Promise<void> {
  await tx.run(
    `INSERT INTO settings (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    MAINTENANCE,
    enabled ? 'on' : 'off',
  );
}
