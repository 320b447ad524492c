/** Check-ins by name. Names need not be unique: if several snitches have it, the first one created is meant. */
import type { Act } from '../../core/activity/activity.ts';
import type { CheckIn } from '../../core/check-in.ts';
import type { SnitchFields } from '../../core/snitch.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { applyCheckIn } from './check-ins.ts';
import { createSnitch } from './snitches.ts';

export async function findTokenByName(tx: Reading, caseId: string, name: string): Promise<string | null> {
  const row = await tx.get<{ token: string }>(
    'SELECT token FROM snitches WHERE case_id = +? AND name = +? ORDER BY id LIMIT 1',
    caseId,
    name,
  );
  return row?.token ?? null;
}

/** Acts on one case run one after the other, so a second call finds what the first one created. */
export async function applyFirstCheckIn(
  tx: Transaction,
  act: Act,
  caseId: string,
  fields: SnitchFields,
  checkIn: Omit<CheckIn, 'token'>,
): Promise<boolean> {
  const found = await findTokenByName(tx, caseId, fields.name);
  const token = found ?? (await createSnitch(tx, act, caseId, fields, checkIn.now)).token;
  await applyCheckIn(tx, { ...checkIn, token });
  return found === null;
}
