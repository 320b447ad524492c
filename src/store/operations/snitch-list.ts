/** Lists of snitches: one statement for a slice, since a list may have a million of them. */
import type { Snitch } from '../../core/snitch.ts';
import type { Awaitable, Transaction } from '../transaction.ts';
import { lastReportOf, type ReportRow, reportIn } from './last-report.ts';
import { type SnitchRow, tagsIn, toSnitch } from './snitch-rows.ts';
import { STATE_COLUMNS, type StateRow } from './states.ts';

/** With the newest row of its log, which nearly always is its last report. */
type ListedRow = SnitchRow &
  StateRow & {
    log_at: ReportRow['at'] | null;
    log_outcome: ReportRow['outcome'] | null;
    log_exit_status: ReportRow['exit_status'];
    log_message: ReportRow['message'];
    log_report: ReportRow['report'];
  };

const COLUMNS = `n.name, n.notes, n.tags, n.alert_email, n.created_at, ${STATE_COLUMNS},
  c.at AS log_at, c.outcome AS log_outcome, c.exit_status AS log_exit_status, c.message AS log_message,
  c.report AS log_report`;

const JOINED = `CROSS JOIN snitch_states AS s ON s.id = n.id LEFT JOIN check_ins AS c ON c.id = s.last_check_in_id`;

interface Slice {
  after: number;
  limit: number;
}

/** In order of creation, those with all of `tags`; `after` and `next` are positions in that order. */
export async function listSnitches(
  tx: Transaction,
  caseId: string,
  { after, limit, tags }: Slice & { tags: readonly string[] },
): Promise<{ snitches: Snitch[]; next: number | null }> {
  const [tag] = tags;
  const slice = { after, limit };
  const rows = await (tag === undefined ? listAll(tx, caseId, slice) : listTagged(tx, caseId, tag, slice));
  const snitches: Snitch[] = [];
  for (const row of rows) {
    if (tags.length > 1 && !hasAll(row, tags)) continue;
    snitches.push(toSnitch(row, row, reportOf(row) ?? (await lastReportOf(tx, row))));
  }
  const last = rows.at(-1);
  return { snitches, next: last && rows.length === limit ? last.id : null };
}

function listAll(tx: Transaction, caseId: string, { after, limit }: Slice): Awaitable<ListedRow[]> {
  return tx.all<ListedRow>(
    `SELECT ${COLUMNS} FROM snitches AS n ${JOINED}
     WHERE n.case_id = +? AND n.id > +? ORDER BY n.id LIMIT +?`,
    caseId,
    after,
    limit,
  );
}

function listTagged(
  tx: Transaction,
  caseId: string,
  tag: string,
  { after, limit }: Slice,
): Awaitable<ListedRow[]> {
  return tx.all<ListedRow>(
    `SELECT ${COLUMNS} FROM snitch_tags AS t CROSS JOIN snitches AS n ON n.id = t.snitch_id ${JOINED}
     WHERE t.case_id = +? AND t.tag = +? AND t.snitch_id > +? ORDER BY t.snitch_id LIMIT +?`,
    caseId,
    tag,
    after,
    limit,
  );
}

function hasAll(row: ListedRow, tags: readonly string[]): boolean {
  const own = tagsIn(row);
  return tags.every((tag) => own.includes(tag));
}

function reportOf({ log_at: at, log_outcome: outcome, ...row }: ListedRow) {
  if (at === null || outcome === null) return null;
  const { log_exit_status: exit_status, log_message: message, log_report: report } = row;
  return reportIn({ at, outcome, exit_status, message, report }, row);
}
