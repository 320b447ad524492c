/** Keeps the log of one snitch within its limit while it is written: the pruning comes only once an hour. */
import type { Transaction } from '../transaction.ts';

/** The log is cut when a tenth of the limit is too many, so that most check-ins look at nothing. */
const SLACK = 10;

/** At least so many check-ins beyond the limit are cut at once; the pruning finds those that are older still. */
const CUT_AT_ONCE = 1_000;

/**
 * @param newest the id of the check-in just written
 * @param number which of its snitch it is, from 1
 * @param limit the newest check-ins kept
 */
export async function cutLog(
  tx: Transaction,
  { newest, number, limit }: { newest: number; number: number; limit: number },
): Promise<void> {
  const slack = Math.ceil(limit / SLACK);
  if (number <= limit || number % slack !== 0) return;
  const cut = await tx.all<{ id: number }>(
    `WITH RECURSIVE chain (id, previous_id, place) AS (
       SELECT id, previous_id, 1 FROM check_ins WHERE id = ?
       UNION ALL
       SELECT c.id, c.previous_id, place + 1 FROM chain JOIN check_ins AS c ON c.id = chain.previous_id
       WHERE place < ?)
     SELECT id FROM chain WHERE place > ?`,
    newest,
    limit + Math.max(CUT_AT_ONCE, 2 * slack),
    limit,
  );
  const ids = JSON.stringify(cut.map(({ id }) => id));
  await tx.run('DELETE FROM check_ins WHERE id IN (SELECT value FROM json_each(?))', ids);
  await tx.run('DELETE FROM check_in_outputs WHERE check_in_id IN (SELECT value FROM json_each(?))', ids);
}
