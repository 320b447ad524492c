/** Keeps the log of one snitch within its limit while it is written: the pruning comes only once an hour. */
import type { Transaction } from '../transaction.ts';

/**
 * The log is cut when a half of the limit is too many: what is kept has to be walked through to find what is not, and
 * so that costs a check-in three steps. The list never shows more than the limit.
 */
const SLACK = 2;

/** At least so many check-ins beyond the limit are cut at once; the pruning finds those that are older still. */
const CUT_AT_ONCE = 1_000;

function slackOf(limit: number): number {
  return Math.ceil(limit / SLACK);
}

/**
 * @param count how many check-ins the snitch has had
 * @param limit the newest check-ins kept
 */
export function isCutDue(count: number, limit: number): boolean {
  return count > limit && count % slackOf(limit) === 0;
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
  await tx.run('DELETE FROM check_ins WHERE id IN (SELECT value FROM json_each(?))', ids);
  await tx.run('DELETE FROM check_in_outputs WHERE check_in_id IN (SELECT value FROM json_each(?))', ids);
}
