/** Keeps what the table shows beside the snitches in step with their changes. */
import type { WireSnitch } from '../../api/wire.ts';
import type { RowDetail, State } from './state.ts';

/** Details are kept of this many rows, so that an hour of scrolling does not fill the memory. */
export const MOST_ROWS = 500;

/**
 * Marks the details of changed snitches as stale, and adds the check-in that the change tells of: the strip then
 * moves at once, without asking for the history again.
 */
export function changedRows(
  rows: State['rows'],
  entries: State['collection']['entries'],
  changed: readonly WireSnitch[],
  at: number,
): State['rows'] {
  let next: Map<string, RowDetail> | null = null;
  for (const snitch of changed) {
    const row = rows.get(snitch.token);
    const before = entries.get(snitch.token)?.snitch;
    if (!row || !before || isSame(before, snitch)) continue;
    next ??= new Map(rows);
    next.set(snitch.token, { ...row, stale: true, checkIns: withNews(row.checkIns, before, snitch, at) });
  }
  return next ?? rows;
}

/**
 * An error check-in changes nothing in an errored snitch but its deadline; the stream tells of it all the same.
 */
function isSame(before: WireSnitch, after: WireSnitch): boolean {
  return (
    after.status !== 'errored' &&
    before.status === after.status &&
    before.checked_in_at === after.checked_in_at &&
    before.last_report?.at === after.last_report?.at &&
    before.interval === after.interval &&
    before.alert_type === after.alert_type
  );
}

function withNews(
  checkIns: RowDetail['checkIns'],
  before: WireSnitch,
  after: WireSnitch,
  at: number,
): RowDetail['checkIns'] {
  const report = after.last_report;
  if (report && report.at !== before.last_report?.at) {
    return [{ at: report.at, outcome: report.outcome }, ...checkIns].slice(0, 100);
  }
  if (after.checked_in_at !== null && after.checked_in_at !== before.checked_in_at) {
    return [{ at: after.checked_in_at, outcome: 'healthy' as const }, ...checkIns].slice(0, 100);
  }
  if (after.status !== 'errored' || before.status === 'errored') return checkIns;
  return [{ at: new Date(at).toISOString(), outcome: 'error' as const }, ...checkIns].slice(0, 100);
}

/** The details of one more row; rows far from the screen are forgotten once there are too many. */
export function withRow(
  rows: State['rows'],
  token: string,
  detail: RowDetail,
  visible: ReadonlySet<string>,
): State['rows'] {
  const next = new Map(rows).set(token, detail);
  if (next.size <= MOST_ROWS) return next;
  for (const old of rows.keys()) {
    if (next.size <= MOST_ROWS / 2) break;
    if (!visible.has(old) && old !== token) next.delete(old);
  }
  return next;
}
