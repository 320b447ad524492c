/** The deadline that a failed snitch missed, as its alerts record it. */
import type { Reading } from '../transaction.ts';
import { heldIn } from './needs/held-text.ts';
import type { StateRow } from './states.ts';

/**
 * For the snitch `n`, from its last alert of that type. A list needs it in every failed row, and reading one number of
 * the details costs half as much as reading all of them.
 */
export const LAST_MISSING = `SELECT json_extract(a.details, '$.missingSince') FROM alerts AS a
  WHERE a.token = n.token AND a.type = 'snitch.missing' ORDER BY a.at DESC, a.id DESC LIMIT 1`;

export async function missingSinceOf(
  tx: Reading,
  row: Pick<StateRow, 'id' | 'status' | 'last_check_in_at' | 'needs'>,
): Promise<number | null> {
  if (row.status !== 'failed') return null;
  // Nobody was told, so no alert records it.
  const held = heldIn(row.needs);
  if (held) return held.missed;
  const found = await tx.get<{ missing_since: number | null }>(
    `SELECT (${LAST_MISSING}) AS missing_since FROM snitches AS n WHERE n.id = +?`,
    row.id,
  );
  return ofThisSilence(found?.missing_since ?? null, row);
}

/** Null if the alert belongs to an earlier absence: a flapping snitch may have no alert for the present one. */
export function ofThisSilence(
  missingSince: number | null,
  { last_check_in_at: last }: Pick<StateRow, 'last_check_in_at'>,
): number | null {
  return missingSince !== null && missingSince > (last ?? 0) ? missingSince : null;
}
