/** The ends of silences, recorded for the snitches that need those they covered. */
import { currentWindow, nextWindow, type Silence } from '../../../core/silences/silence.ts';
import type { Transaction } from '../../transaction.ts';
import { noteSilenceEnd } from '../needs/reliefs.ts';
import { SILENCE_COLUMNS, type SilenceRow, toSilence } from '../silences/rows.ts';
import { getRules } from '../states.ts';

/** The end of the window that holds at `now`, or of the next one; null if there is none any more. */
export function endsNext(silence: Silence, now: number, timezone: string): number | null {
  return (currentWindow(silence, now, timezone) ?? nextWindow(silence, now, timezone))?.end ?? null;
}

/** Records the end of one silence, and when its next window ends; false if none ended. */
export async function noteEnd(tx: Transaction, now: number): Promise<boolean> {
  const row = await tx.get<SilenceRow>(
    `SELECT ${SILENCE_COLUMNS} FROM silences WHERE ends_at <= +? ORDER BY ends_at LIMIT 1`,
    now,
  );
  if (!row) return false;
  const { timezone } = await getRules(tx, row.case_id);
  const next = endsNext(toSilence(row), now, timezone);
  await tx.run('UPDATE silences SET ends_at = ? WHERE id = ?', next, row.id);
  await noteSilenceEnd(tx, row.case_id);
  return true;
}
