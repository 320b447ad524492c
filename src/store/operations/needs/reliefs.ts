/**
 * Records which snitches no longer hold alerts. The deadlines of those that need them restart later, one slice at a
 * time, because there may be thousands (`reliefs`). Nothing is lost by that: `well_since` is checked when a deadline
 * passes.
 */
import { isDown } from '../../../core/needs/needs.ts';
import type { Status } from '../../../core/snitch.ts';
import type { Awaitable, Reading, Transaction } from '../../transaction.ts';
import { hasNeeds } from './facts.ts';

/** A snitch before a change. */
interface Before {
  id: number;
  case_id: string;
  status: Status;
}

/** To be called with every change of status. */
export async function noteStatus(
  tx: Transaction,
  before: Before,
  status: Status,
  now: number,
): Promise<void> {
  if (!isDown(before) || isDown({ status }) || !(await hasNeeds(tx, before.case_id))) return;
  await tx.run('UPDATE snitch_states SET well_since = ? WHERE id = ?', now, before.id);
  await noteRelief(tx, before, await tagsOf(tx, before.id));
}

/** A snitch lost `tags`: those that needed it by one of them no longer need it. */
export async function noteLostTags(tx: Transaction, before: Before, tags: readonly string[]): Promise<void> {
  if (tags.length === 0 || !isDown(before) || !(await hasNeeds(tx, before.case_id))) return;
  await noteRelief(tx, { ...before, id: 0 }, tags);
}

/** A snitch with these tags is deleted: the needs that name it are deleted too, at once or with the last slice. */
export async function noteDeleted(tx: Transaction, before: Before, tags: readonly string[]): Promise<void> {
  if (!(await hasNeeds(tx, before.case_id))) return;
  await tx.run('DELETE FROM needs WHERE snitch_id = ?', before.id);
  tx.forget();
  if (isDown(before)) await noteRelief(tx, before, tags, true);
  else await tx.run('DELETE FROM needs WHERE needed_id = ?', before.id);
}

/** Stands for the tags if a silence ended: it may have covered anything that is needed in the case. */
const WHOLE_CASE = 'null';

export async function noteSilenceEnd(tx: Transaction, caseId: string): Promise<void> {
  if (!(await hasNeeds(tx, caseId))) return;
  await tx.run(
    'INSERT INTO reliefs (case_id, needed_id, tags, gone, cursor) VALUES (?, 0, ?, 0, 0)',
    caseId,
    WHOLE_CASE,
  );
}

export function isSilenceEnd({ tags }: Pick<Relief, 'tags'>): boolean {
  return tags === WHOLE_CASE;
}

async function noteRelief(
  tx: Transaction,
  { id, case_id: caseId }: Pick<Before, 'id' | 'case_id'>,
  tags: readonly string[],
  isGone = false,
): Promise<void> {
  const relief = { needed_id: id, case_id: caseId, tags: JSON.stringify(tags), cursor: 0 };
  if ((await dependentsOf(tx, relief, 1)).length === 0) return;
  await tx.run(
    'INSERT INTO reliefs (case_id, needed_id, tags, gone, cursor) VALUES (?, ?, ?, ?, 0)',
    caseId,
    id,
    relief.tags,
    isGone ? 1 : 0,
  );
}

async function tagsOf(tx: Reading, id: number): Promise<string[]> {
  const row = await tx.get<{ tags: string }>('SELECT tags FROM snitches WHERE id = +?', id);
  return row === undefined ? [] : (JSON.parse(row.tags) as string[]);
}

/** A snitch that no longer holds alerts, and how far those that need it have been handled. */
export interface Relief {
  id: number;
  case_id: string;
  needed_id: number;
  tags: string;
  gone: number;
  cursor: number;
}

export function nextRelief(tx: Reading): Awaitable<Relief | undefined> {
  return tx.get<Relief>('SELECT id, case_id, needed_id, tags, gone, cursor FROM reliefs ORDER BY id LIMIT 1');
}

/** The numbers of the snitches after the cursor that need it, ascending. */
export async function dependentsOf(
  tx: Reading,
  relief: Pick<Relief, 'needed_id' | 'case_id' | 'tags' | 'cursor'>,
  limit: number,
): Promise<number[]> {
  if (isSilenceEnd(relief)) {
    const all = await tx.all<Dependent>(
      'SELECT DISTINCT snitch_id FROM needs WHERE snitch_id > +? AND +case_id = +? ORDER BY snitch_id LIMIT +?',
      relief.cursor,
      relief.case_id,
      limit,
    );
    return all.map(({ snitch_id: id }) => id);
  }
  const named = await tx.all<Dependent>(
    'SELECT snitch_id FROM needs WHERE needed_id = +? AND snitch_id > +? ORDER BY snitch_id LIMIT +?',
    relief.needed_id,
    relief.cursor,
    limit,
  );
  const ids = new Set(named.map(({ snitch_id: id }) => id));
  for (const tag of JSON.parse(relief.tags) as string[]) {
    const tagged = await tx.all<Dependent>(
      `SELECT snitch_id FROM needs WHERE case_id = +? AND tag = +? AND snitch_id > +? ORDER BY snitch_id LIMIT +?`,
      relief.case_id,
      tag,
      relief.cursor,
      limit,
    );
    for (const { snitch_id: id } of tagged) ids.add(id);
  }
  return [...ids].sort((one, other) => one - other).slice(0, limit);
}

interface Dependent {
  snitch_id: number;
}

/** @param last the last number of the slice; null at the end */
export async function advanceRelief(tx: Transaction, relief: Relief, last: number | null): Promise<void> {
  if (last !== null) {
    await tx.run('UPDATE reliefs SET cursor = ? WHERE id = ?', last, relief.id);
    return;
  }
  if (relief.gone === 1) await tx.run('DELETE FROM needs WHERE needed_id = ?', relief.needed_id);
  await tx.run('DELETE FROM reliefs WHERE id = ?', relief.id);
  tx.forget();
}
