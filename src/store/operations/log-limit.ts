/** Keeps the log of one snitch within its limit as it is written: pruning comes only once an hour. */
import type { Transaction } from '../transaction.ts';
import type { StateRow } from './states.ts';

/**
 * The log is cut each time it has grown by half the limit. Finding what to delete means walking through everything that
 * is kept; done this rarely, that costs three steps for each check-in. The list never shows more than the limit.
 */
const SLACK = 2;

/** A cut finds at least this many check-ins beyond the limit. Pruning finds any that are older. */
const CUT_AT_ONCE = 1_000;

function slackOf(limit: number): number {
  return Math.ceil(limit / SLACK);
}

/**
 * If many snitches check in by turns, the check-ins of one of them lie far apart in the log, each on a different page.
 * Deleting them here would cost a page each, while the hourly pruning deletes everything on a page at once. Only a
 * snitch whose last two check-ins are this close together can fill the log before that.
 */
const NEAR = 100;

/**
 * @param row the state before the check-in
 * @param checkIn what has just been logged; one with an output or values takes so much room that it is always cut
 * @param limit how many of the newest check-ins are kept
 */
export function isCutDue(
  { check_in_count: before, last_check_in_id: last }: Pick<StateRow, 'check_in_count' | 'last_check_in_id'>,
  { id, isLong }: { id: number; isLong: boolean },
  limit: number,
): boolean {
  const count = before + 1;
  if (count <= limit || count % slackOf(limit) !== 0) return false;
  return isLong || id - (last ?? 0) <= NEAR;
}

/**
 * Deletes what is beyond the limit.
 *
 * @param newest the id of the last check-in
 */
export async function cutLog(tx: Transaction, newest: number, limit: number): Promise<void> {
  const cut = await tx.all<{ id: number }>(
    `WITH RECURSIVE chain (id, previous_id, place) AS (
       SELECT id, previous_id, 1 FROM check_ins WHERE id = +?
       UNION ALL
       SELECT c.id, c.previous_id, place + 1 FROM chain JOIN check_ins AS c ON c.id = chain.previous_id
       WHERE place < +?)
     SELECT id FROM chain WHERE place > +?`,
    newest,
    limit + Math.max(CUT_AT_ONCE, 2 * slackOf(limit)),
    limit,
  );
  const ids = JSON.stringify(cut.map(({ id }) => id));
  await tx.run('DELETE FROM check_ins WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))', ids);
  await tx.run(
    'DELETE FROM check_in_outputs WHERE check_in_id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))',
    ids,
  );
}
