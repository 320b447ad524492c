/** Lists of snitches: one statement for a slice, since a list may have a million of them. */
import type { LastReport } from '../../core/check-in.ts';
import type { ListedSnitch } from '../../core/snitch.ts';
import type { Awaitable, Reading } from '../transaction.ts';
import { lastReportOf, type ReportRow, reportIn } from './last-report.ts';
import { LAST_MISSING, ofThisSilence } from './missing-since.ts';
import { heldIn } from './needs/held-text.ts';
import { holdOf } from './needs/shown.ts';
import { NEEDS_OF_N } from './needs/written.ts';
import { rulesIn } from './run-rules.ts';
import { type SnitchRow, tagsIn, textsIn } from './snitch-rows.ts';
import { acknowledgedIn, reasonIn, ruleOf, type StateRow } from './states.ts';

/** Only what is shown, since each column costs, and the newest row of the log, which nearly always is the last report. */
type ListedRow = Omit<SnitchRow, 'case_id'> &
  Pick<
    StateRow,
    | 'status'
    | 'interval'
    | 'alert_type'
    | 'checked_in_at'
    | 'last_check_in_at'
    | 'last_check_in_id'
    | 'schedule'
    | 'timezone'
    | 'grace'
    | 'reason'
    | 'due_at'
    | 'max_runtime'
    | 'run_rules'
    | 'acknowledged'
  > & {
    held: StateRow['needs'];
    /** JSON; null for a snitch that needs nothing. */
    needs: string | null;
    log_at: number | null;
    log_outcome: string | null;
    log_exit_status: number | null;
    log_message: string | null;
    log_report: ReportRow['report'];
    missing_since: number | null;
  };

const COLUMNS = `n.id, n.token, n.name, n.public_name, n.notes, n.tags, n.alert_email, n.created_at, s.status, s.interval,
  s.alert_type, s.checked_in_at, s.last_check_in_at, s.last_check_in_id, s.schedule, s.timezone, s.grace, s.reason,
  s.due_at, s.max_runtime, s.run_rules, s.acknowledged, s.needs AS held, CASE WHEN s.needs IS NOT NULL THEN (${NEEDS_OF_N}) END AS needs,
  c.at AS log_at, c.outcome AS log_outcome, c.exit_status AS log_exit_status, c.message AS log_message,
  c.report AS log_report,
  CASE WHEN s.status = 'failed' THEN (${LAST_MISSING}) END AS missing_since`;

const JOINED = `CROSS JOIN snitch_states AS s ON s.id = n.id LEFT JOIN check_ins AS c ON c.id = s.last_check_in_id`;

interface Slice {
  after: number;
  limit: number;
}

/** In order of creation, those with all of `tags`; `after` and `next` are positions in that order. */
export async function listSnitches(
  tx: Reading,
  caseId: string,
  { after, limit, tags }: Slice & { tags: readonly string[] },
): Promise<{ snitches: ListedSnitch[]; next: number | null }> {
  const [tag] = tags;
  const slice = { after, limit };
  const rows = await (tag === undefined ? listAll(tx, caseId, slice) : listTagged(tx, caseId, tag, slice));
  const snitches: ListedSnitch[] = [];
  for (const row of rows) {
    if (tags.length > 1 && !hasAll(row, tags)) continue;
    const held = heldIn(row.held);
    const hold = held && (await holdOf(tx, held, { status: row.status, dueAt: row.due_at }));
    const report = reportOf(row) ?? (await lastReportOf(tx, row));
    snitches.push({ ...toListed(row, report), ...(hold ? { hold, missingSince: held.missed } : {}) });
  }
  const last = rows.at(-1);
  return { snitches, next: last && rows.length === limit ? last.id : null };
}

function listAll(tx: Reading, caseId: string, { after, limit }: Slice): Awaitable<ListedRow[]> {
  return tx.all<ListedRow>(
    `SELECT ${COLUMNS} FROM snitches AS n ${JOINED}
     WHERE n.case_id = +? AND n.id > +? ORDER BY n.id LIMIT +?`,
    caseId,
    after,
    limit,
  );
}

function listTagged(
  tx: Reading,
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

function reportOf(row: ListedRow): LastReport | null {
  const { log_at: at, log_outcome: outcome } = row;
  if (at === null || outcome === null) return null;
  const { log_exit_status: exit_status, log_message: message, log_report: report } = row;
  return reportIn({ at, outcome, exit_status, message, report }, row);
}

const NO_NEEDS: string[] = [];

/** Of the row that was read last: neighbours in a list often have the same. */
let known: { json: string; tags: string[] } = { json: '[]', tags: [] };

/** What is answered belongs to several rows, and is not to be changed. */
function tagsOf(row: Pick<ListedRow, 'tags'>): string[] {
  if (row.tags !== known.json) {
    known = { json: row.tags, tags: tagsIn(row) };
    Object.freeze(known.tags);
  }
  return known.tags;
}

function toListed(row: ListedRow, lastReport: LastReport | null): ListedSnitch {
  return {
    token: row.token,
    name: row.name,
    publicName: row.public_name,
    notes: row.notes,
    tags: tagsOf(row),
    alertEmail: textsIn(row.alert_email),
    createdAt: row.created_at,
    state: {
      status: row.status,
      interval: row.interval,
      alertType: row.alert_type,
      checkedInAt: row.checked_in_at,
      schedule: ruleOf(row),
      timezone: row.timezone,
      grace: row.grace,
      dueAt: row.due_at,
      reason: reasonIn(row.reason),
      maxRuntime: row.max_runtime,
      acknowledged: acknowledgedIn(row.acknowledged),
      ...rulesIn(row.run_rules),
    },
    lastReport,
    missingSince: ofThisSilence(row.missing_since, row),
    needs: row.needs === null ? NO_NEEDS : textsIn(row.needs),
    hold: null,
  };
}
