/** The deadline that a failed snitch missed, which its alerts keep. */
import type { Reading } from '../transaction.ts';
import { heldIn } from './needs/held-text.ts';
import type { StateRow } from './states.ts';

/**
 * Of the snitch `n`, as its last alert of that kind says. A list asks for it in every failed row, and reading one number
 * of the details costs half as much as reading all of them.
 */
export const LAST_MISSING = `SELECT json_extract(a.details, '$.missingSince') FROM alerts AS a
  WHERE a.token = n.token AND a.type = 'snitch.missing' ORDER BY a.at DESC, a.id DESC LIMIT 1`;

export async function missingSinceOf(
  tx: Reading,
  row: Pick<StateRow, 'id' | 'status' | 'last_check_in_at' | 'needs'>,
): Promise<number | null> {
  if (row.status !== 'failed') return null;
  // Nobody was told, so no alert has it.
  const held = heldIn(row.needs);
  if (held) return held.missed;
  const found = await tx.get<{ missing_since: number | null }>(
    `SELECT (${LAST_MISSING}) AS missing_since FROM snitches AS n WHERE n.id = +?`,
    row.id,
  );
  return ofThisSilence(found?.missing_since ?? null, row);
}

/** Null where the alert is of an earlier silence: the present one of a snitch that flaps has none of its own. */
export function ofThisSilence(
  missingSince: number | null,
  { last_check_in_at: last }: Pick<StateRow, 'last_check_in_at'>,
): number | null {
  return missingSince !== null && missingSince > (last ?? 0) ? missingSince : null;
}
