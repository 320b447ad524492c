/** When the sweep looks at which snitch. */
import type { LookCursor } from '../../sweep.ts';
import type { Transaction } from '../../transaction.ts';

/**
 * The rows that the sweep looks at by `until`, in its order, after `after`. Many may have the same instant, and a
 * single condition on both columns would read all of those from the start: SQLite finds the id through the index only
 * if the instant is fixed.
 */
export async function looksBehind(
  tx: Transaction,
  until: number,
  after: LookCursor | null,
  limit: number,
): Promise<LookRow[]> {
  // If the clock was set back meanwhile, it is too early to look at the rows of that instant.
  const same =
    after && after.lookAt <= until
      ? await tx.allFree<LookRow>(
          'SELECT id, look_at, due_at FROM snitch_states WHERE look_at = +? AND id > +? ORDER BY id LIMIT +?',
          after.lookAt,
          after.id,
          limit,
        )
      : [];
  if (same.length === limit) return same;
  const later = await tx.allFree<LookRow>(
    `SELECT id, look_at, due_at FROM snitch_states
     WHERE look_at > +? AND look_at <= +? ORDER BY look_at, id LIMIT +?`,
    after?.lookAt ?? Number.MIN_SAFE_INTEGER,
    until,
    limit - same.length,
  );
  return [...same, ...later];
}

interface LookRow {
  id: number;
  look_at: number;
  due_at: number | null;
}

/** The most rows that one call moves: few enough that no check-in waits noticeably for it. */
const MOVED_AT_ONCE = 200;

/**
 * Makes the sweep look at each snitch only when it is due, if a check-in has moved that on; one slice per call.
 *
 * @param until only snitches that the sweep would look at by then
 * @param after where the last call ended, or null to begin with the first that the sweep looks at
 * @returns where to continue, or null at the end
 */
export async function moveLooks(
  tx: Transaction,
  until: number,
  after: LookCursor | null,
): Promise<LookCursor | null> {
  const looked = await looksBehind(tx, until, after, MOVED_AT_ONCE);
  for (const { id, look_at: lookAt, due_at: dueAt } of looked) {
    // A snitch that waits for the end of a silence is looked at later than it is due.
    if (dueAt === null || dueAt > lookAt)
      tx.put('UPDATE snitch_states SET look_at = due_at WHERE id = ?', id);
  }
  const last = looked.at(-1);
  return last && looked.length === MOVED_AT_ONCE ? { lookAt: last.look_at, id: last.id } : null;
}
