/** Takes over from nodes that are dead by the clock of the database. */
import type { Transaction } from '../transaction.ts';
import { freeClaimsOf } from './node-claims.ts';
import { CLOCK, PROVEN } from './nodes/signs.ts';

/** Their rows are held, so that one of them that wakes up gives its next sign before this or behind it, never within. */
const DEAD = `SELECT id FROM nodes AS other
  WHERE id <> ? AND freed_at IS NULL AND alive_at < ${CLOCK} - CAST(? AS BIGINT) AND (CAST(? AS BIGINT) = 1 OR ${PROVEN})
  ORDER BY id`;

const FREED = `UPDATE nodes SET freed_at = ${CLOCK} WHERE id IN (SELECT value FROM json_each(?))`;

/**
 * Makes free what nodes had claimed that were silent for longer than `deadAfter` milliseconds. What one of them is writing
 * just now stays for the next call.
 *
 * @param areAll whether all of them are dead; else those are of which the database proves it
 * @returns how many nodes are done with
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
 * Makes free what a node has left when it ends in order, after its last send: the others need not wait until it is dead
 * for them, which is late for whoever it has served last.
 */
export async function freeOwnClaims(tx: Transaction, own: string): Promise<void> {
  const { isAll, freed } = await freeClaimsOf(tx, [own]);
  if (isAll) await tx.run(FREED, JSON.stringify([own]));
  if (freed > 0) tx.announce({ kind: 'deliveries' });
}
