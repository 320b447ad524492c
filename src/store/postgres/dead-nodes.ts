/** Takes over from nodes that are dead by the clock of the database. */
import type { Transaction } from '../transaction.ts';
import { freeClaimsOf } from './node-claims.ts';
import { CLOCK, PROVEN } from './nodes/signs.ts';

/**
 * Locked, so that a node that wakes up gives its next sign either before this transaction or after it, never during it.
 */
const DEAD = `SELECT id FROM nodes AS other
  WHERE id <> ? AND freed_at IS NULL AND alive_at < ${CLOCK} - CAST(? AS BIGINT) AND (CAST(? AS BIGINT) = 1 OR ${PROVEN})
  ORDER BY id`;

const FREED = `UPDATE nodes SET freed_at = ${CLOCK} WHERE id IN (SELECT value FROM json_each(?))`;

/**
 * Releases the claims of nodes that have been silent for longer than `deadAfter` milliseconds. Rows that one of them is
 * writing right now are left for the next call.
 *
 * @param areAll whether all silent nodes count as dead; if not, only those that the database proves to be dead
 * @returns how many nodes were released completely
 */
export async function freeClaimsOfDead(
  tx: Transaction,
  own: string,
  deadAfter: number,
  areAll: boolean,
): Promise<number> {
  const found = await tx.allFree<{ id: string }>(DEAD, own, deadAfter, areAll ? 1 : 0);
  const dead = found.map(({ id }) => id);
  if (dead.length === 0) return 0;
  const { isAll, freed } = await freeClaimsOf(tx, dead);
  if (isAll) await tx.run(FREED, JSON.stringify(dead));
  if (freed > 0) tx.announce({ kind: 'deliveries' });
  return isAll ? dead.length : 0;
}

/**
 * Releases what a node still holds when it ends in order, after its last send, so that the others need not wait until
 * they take it for dead: that would be late for the recipients it served last.
 */
export async function freeOwnClaims(tx: Transaction, own: string): Promise<void> {
  const { isAll, freed } = await freeClaimsOf(tx, [own]);
  if (isAll) await tx.run(FREED, JSON.stringify([own]));
  if (freed > 0) tx.announce({ kind: 'deliveries' });
}
