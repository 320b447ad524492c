/** What waits is judged again at once, because what it waits for has changed. */
import type { Route } from '../../../core/routing.ts';
import type { Transaction } from '../../transaction.ts';
import { UNTRIED } from './waiting.ts';

/**
 * After a route was changed or removed, what waits for its target is judged again at the next claim, with what failed
 * and waits for its hours.
 */
export function lookAnew(tx: Transaction, { channel, target }: Route): Promise<void> {
  return lookAnewWhere(
    tx,
    'channel = +? AND target = +? AND waits IS NOT NULL AND leased = 0',
    channel,
    target,
  );
}

/** After snitches of the case were silenced, or a silence ended, what waits there is judged again at the next claim. */
export function lookAnewInCase(tx: Transaction, caseId: string): Promise<void> {
  return lookAnewWhere(tx, `case_id = +? AND waiting_token IS NOT NULL AND ${UNTRIED}`, caseId);
}

/** After the tags of a snitch changed, other silences may cover it: what waits is judged again at the next claim. */
export function lookAnewOf(tx: Transaction, token: string): Promise<void> {
  return lookAnewWhere(tx, `waiting_token = +? AND ${UNTRIED}`, token);
}

async function lookAnewWhere(tx: Transaction, condition: string, ...values: string[]): Promise<void> {
  const waiting = `state = 'pending' AND ${condition}`;
  const channels = await tx.all<Pick<Route, 'channel'>>(
    `SELECT DISTINCT channel FROM deliveries WHERE ${waiting}`,
    ...values,
  );
  if (channels.length === 0) return;
  await tx.run(`UPDATE deliveries SET next_attempt_at = 0 WHERE ${waiting}`, ...values);
  tx.announce({ kind: 'deliveries', channels: channels.map(({ channel }) => channel) });
}
