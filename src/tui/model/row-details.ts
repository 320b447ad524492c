/** Updates what the table shows in addition to the snitches when these change. */
import type { WireSnitch } from '../../api/wire.ts';
import type { RowDetail, State } from './state.ts';

/** How many rows keep their details, so that an hour of scrolling does not fill the memory. */
export const MOST_ROWS = 500;

/**
 * Marks the details of changed snitches as stale, and adds the check-in that caused the change, so that the strip moves
 * at once without reading the history again.
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
 * Whether nothing visible has changed. An error check-in of an errored snitch changes only its deadline, and is still
 * reported by the stream.
 */
function isSame(before: WireSnitch, after: WireSnitch): boolean {
  return (
    after.status !== 'errored' &&
    before.status === after.status &&
    before.reason === after.reason &&
    before.checked_in_at === after.checked_in_at &&
    before.last_report?.at === after.last_report?.at &&
    before.interval === after.interval &&
    before.alert_type === after.alert_type &&
    before.deadline === after.deadline &&
    JSON.stringify([before.schedule, before.timezone]) === JSON.stringify([after.schedule, after.timezone])
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

/** Adds the details of a row. If there are too many, rows that are not on the screen are forgotten. */
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
