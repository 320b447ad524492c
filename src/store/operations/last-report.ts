/** A job's last report: the newest check-in that says how a run ended. */
import type { LastReport } from '../../core/check-in.ts';
import type { Reading } from '../transaction.ts';
import { reportOf } from './reports.ts';
import type { StateRow } from './states.ts';

/** How many check-ins back it is searched for, past starts, log lines and check-ins that arrived late. */
const LOOKED_THROUGH = 20;

/** The columns of a log row that can make it a report. */
export interface ReportRow {
  at: number;
  outcome: string;
  exit_status: number | null;
  message: string | null;
  report: string | null;
}

/**
 * Null for a job that never reported how a run ended. If the log no longer has the check-in, its time and outcome are
 * still known from the state, and only its details are missing.
 */
export async function lastReportOf(
  tx: Reading,
  row: Pick<StateRow, 'checked_in_at' | 'last_check_in_at' | 'last_check_in_id'>,
): Promise<LastReport | null> {
  const { last_check_in_at: at } = row;
  if (at === null) return null;
  let id = row.last_check_in_id;
  for (let steps = 0; id !== null && steps < LOOKED_THROUGH; steps += 1) {
    const found: (ReportRow & { previous_id: number | null }) | undefined = await tx.get(
      'SELECT previous_id, at, outcome, exit_status, message, report FROM check_ins WHERE id = ?',
      id,
    );
    if (!found) break;
    const report = reportIn(found, row);
    if (report) return report;
    id = found.previous_id;
  }
  return { at, outcome: row.checked_in_at === at ? 'healthy' : 'error', exitStatus: null, message: null };
}

/** Null if the row is something else: a start, a line of the log, or a check-in that arrived late. */
export function reportIn(
  { at, outcome, exit_status: exitStatus, message, report }: ReportRow,
  { last_check_in_at: last }: Pick<StateRow, 'last_check_in_at'>,
): LastReport | null {
  if ((outcome !== 'healthy' && outcome !== 'error') || at !== last) return null;
  const { reason } = reportOf(report);
  return { at, outcome, exitStatus, message, ...(reason === null ? {} : { reason }) };
}
