/** Lists of snitches: one statement for a slice, because a list may have a million of them. */
import type { ListedSnitch } from '../../../core/snitch.ts';
import type { TaggedSlice } from '../../snitches.ts';
import type { Awaitable, Reading } from '../../transaction.ts';
import { holdOf } from '../needs/shown.ts';
import { type Alike, alikeIn, COLUMNS, type ListedRow, olderReportOf, reportOf, toListed } from './rows.ts';

const JOINED = `CROSS JOIN snitch_states AS s ON s.id = n.id LEFT JOIN check_ins AS c ON c.id = s.last_check_in_id`;

type Slice = Pick<TaggedSlice, 'after' | 'limit'>;

/**
 * Snitches with all of `tags`, and with `name` as their name or token, in order of creation; `after` and `next` are
 * positions in that order.
 */
export async function listSnitches(
  tx: Reading,
  caseId: string,
  { after, limit, tags, name = null }: TaggedSlice & { name?: string | null },
): Promise<{ snitches: ListedSnitch[]; next: number | null }> {
  const rows = await rowsOf(tx, caseId, { after, limit, tags, name });
  const snitches: ListedSnitch[] = [];
  for (const row of rows) {
    const alike = alikeIn(row);
    if ((tags.length > 1 || name !== null) && !hasAll(alike, tags)) continue;
    const { held, state } = alike;
    const hold = held && (await holdOf(tx, held, { status: state.status, dueAt: row.due_at }));
    const report = reportOf(row, alike) ?? (await olderReportOf(tx, row, alike));
    const listed = toListed(row, alike, report);
    snitches.push(hold ? { ...listed, hold, missingSince: held.missed } : listed);
  }
  const last = rows.at(-1);
  return { snitches, next: last && rows.length === limit ? last.id : null };
}

function rowsOf(
  tx: Reading,
  caseId: string,
  { tags, name, ...slice }: TaggedSlice & { name: string | null },
): Awaitable<ListedRow[]> {
  const [tag] = tags;
  if (name !== null) return listNamed(tx, caseId, name, slice);
  return tag === undefined ? listAll(tx, caseId, slice) : listTagged(tx, caseId, tag, slice);
}

function listNamed(
  tx: Reading,
  caseId: string,
  name: string,
  { after, limit }: Slice,
): Awaitable<ListedRow[]> {
  return tx.all<ListedRow>(
    `SELECT ${COLUMNS} FROM snitches AS n ${JOINED}
     WHERE n.id IN (
       SELECT id FROM snitches WHERE case_id = +? AND name = +?
       UNION ALL SELECT id FROM snitches WHERE token = +? AND case_id = +?
     ) AND n.id > +? ORDER BY n.id LIMIT +?`,
    caseId,
    name,
    name,
    caseId,
    after,
    limit,
  );
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
