/** A run that was reported to have started, and not to have ended: it hangs, where others never start. */
import type { Transaction } from '../transaction.ts';
import type { StateRow } from './states.ts';

/** How far back the start is looked for, in check-ins of the same snitch. */
const LOOK_BACK = 50;

/** When the latest run began, where it began after the last end of any; else null. */
export async function openRunOf(
  tx: Transaction,
  row: Pick<StateRow, 'last_check_in_id' | 'last_check_in_at' | 'open_start_at'>,
): Promise<number | null> {
  let id = row.last_check_in_id;
  for (let steps = 0; id !== null && steps < LOOK_BACK; steps += 1) {
    const found: { previous_id: number | null; at: number; outcome: string } | undefined = await tx.get(
      'SELECT previous_id, at, outcome FROM check_ins WHERE id = ?',
      id,
    );
    if (!found || found.outcome === 'healthy' || found.outcome === 'error') return null;
    if (found.outcome === 'start') return found.at;
    id = found.previous_id;
  }
  // A run that logs a lot has its start further back.
  const { open_start_at: openAt, last_check_in_at: endedAt } = row;
  return id !== null && openAt !== null && openAt >= (endedAt ?? 0) ? openAt : null;
}
