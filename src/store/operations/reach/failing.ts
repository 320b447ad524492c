/** The targets of a case that refused the last delivery sent to them. */
import { deathOf } from '../../../core/explanation/death.ts';
import type { Channel } from '../../../core/routing.ts';
import type { LastDeath } from '../../reach.ts';
import type { Reading } from '../../transaction.ts';

/** How many dead deliveries are examined, newest first: a failing target that gets alerts at all has one among them. */
const DEAD = 200;

/** How many delivered ones are examined at once, and then for each target that is not among those. */
const DELIVERED = 1_000;
const SEARCHED = 20_000;

interface Row {
  id: number;
  channel: Channel;
  target: string;
  last_error: string | null;
}

const COLUMNS = 'id, channel, target, last_error';

/**
 * A delivery that was never sent says nothing about its target. A target that something was delivered to later works
 * again. If no delivery is dead, nothing else is read.
 */
export async function listLastDeaths(tx: Reading, caseId: string): Promise<LastDeath[]> {
  const dead = await tx.all<Row>(
    `SELECT ${COLUMNS} FROM deliveries WHERE case_id = +? AND state = 'dead' ORDER BY id DESC LIMIT +?`,
    caseId,
    DEAD,
  );
  const latest = new Map<string, Row>();
  for (const row of dead) {
    const key = keyOf(row);
    if (deathOf(row.last_error) !== 'never sent' && !latest.has(key)) latest.set(key, row);
  }
  if (latest.size === 0) return [];
  const delivered = await tx.all<Row>(
    `SELECT ${COLUMNS} FROM deliveries WHERE case_id = +? AND state = 'delivered' ORDER BY id DESC LIMIT +?`,
    caseId,
    DELIVERED,
  );
  for (const row of delivered) {
    const before = latest.get(keyOf(row));
    if (before && row.id > before.id) latest.delete(keyOf(row));
  }
  const oldest = delivered.length < DELIVERED ? 0 : (delivered.at(-1)?.id ?? 0);
  for (const row of [...latest.values()]) {
    if (row.id < oldest && (await wasDelivered(tx, caseId, row))) latest.delete(keyOf(row));
  }
  return [...latest.values()].map(({ channel, target, last_error: error }) => ({ channel, target, error }));
}

async function wasDelivered(tx: Reading, caseId: string, { id, channel, target }: Row): Promise<boolean> {
  const row = await tx.get<{ found: number }>(
    `SELECT 1 AS found FROM (
       SELECT channel, target FROM deliveries WHERE case_id = +? AND state = 'delivered' AND id > +? ORDER BY id LIMIT +?)
     WHERE channel = +? AND target = +? LIMIT 1`,
    caseId,
    id,
    SEARCHED,
    channel,
    target,
  );
  return row !== undefined;
}

function keyOf({ channel, target }: Pick<Row, 'channel' | 'target'>): string {
  return `${channel} ${channel === 'email' ? target.toLowerCase() : target}`;
}
