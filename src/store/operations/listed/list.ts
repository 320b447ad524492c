/** Lists of snitches: one statement for a slice, because a list may have a million of them. */
import type { ListedSnitch } from '../../../core/snitch.ts';
import type { Awaitable, Reading } from '../../transaction.ts';
import { holdOf } from '../needs/shown.ts';
import { type Alike, alikeIn, COLUMNS, type ListedRow, olderReportOf, reportOf, toListed } from './rows.ts';

const JOINED = `CROSS JOIN snitch_states AS s ON s.id = n.id LEFT JOIN check_ins AS c ON c.id = s.last_check_in_id`;

interface Slice {
  after: number;
  limit: number;
}

/** Snitches with all of `tags`, in order of creation; `after` and `next` are positions in that order. */
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
    const alike = alikeIn(row);
    if (tags.length > 1 && !hasAll(alike, tags)) continue;
    const { held, state } = alike;
    const hold = held && (await holdOf(tx, held, { status: state.status, dueAt: row.due_at }));
    const report = reportOf(row, alike) ?? (await olderReportOf(tx, row, alike));
    const listed = toListed(row, alike, report);
    snitches.push(hold ? { ...listed, hold, missingSince: held.missed } : listed);
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

function hasAll({ said }: Alike, tags: readonly string[]): boolean {
  return tags.every((tag) => said.tags.includes(tag));
}
