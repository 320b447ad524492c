/** What a job said last: the newest check-in that tells how a run ended. */
import type { LastReport } from '../../core/check-in.ts';
import type { Transaction } from '../transaction.ts';
import type { StateRow } from './states.ts';

/** How far back it is looked for behind starts, log lines and check-ins that arrived late. */
const LOOKED_THROUGH = 20;

interface ReportRow {
  previous_id: number | null;
  at: number;
  outcome: string;
  exit_status: number | null;
  message: string | null;
}

/**
 * Null for a job that never said how a run ended. Where the log no longer has the check-in, its time and what it
 * meant are still known from the state, and only its details are missing.
 */
export async function lastReportOf(tx: Transaction, row: StateRow): Promise<LastReport | null> {
  const { last_check_in_at: at } = row;
  if (at === null) return null;
  let id = row.last_check_in_id;
  for (let steps = 0; id !== null && steps < LOOKED_THROUGH; steps += 1) {
    const found: ReportRow | undefined = await tx.get<ReportRow>(
      'SELECT previous_id, at, outcome, exit_status, message FROM check_ins WHERE id = ?',
      id,
    );
    if (!found) break;
    const { outcome, exit_status: exitStatus, message } = found;
    if ((outcome === 'healthy' || outcome === 'error') && found.at === at) {
      return { at, outcome, exitStatus, message };
    }
    id = found.previous_id;
  }
  return { at, outcome: row.checked_in_at === at ? 'healthy' : 'error', exitStatus: null, message: null };
}
