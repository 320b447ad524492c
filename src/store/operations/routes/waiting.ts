/** Deliveries that wait for their time, and the end of what they would tell. */
import type { Transaction } from '../../transaction.ts';

/**
 * Drops what waits to tell of the present state of a snitch and was never attempted: all deliveries that wait for their
 * time (`after`) or for the hours of their target. The end of an outage that somebody was told of is kept. Call it in
 * the transaction in which the state ends, or in which somebody acknowledges the alarm.
 *
 * @param why in words, as `last_error` shows it
 * @returns how many were dropped
 */
export async function dropWaiting(
  tx: Transaction,
  { caseId, token }: { caseId: string; token: string },
  why: string,
): Promise<number> {
  return tx.run(
    `UPDATE deliveries SET ${DROPPED}
     WHERE state = 'pending' AND waiting_token = ? AND case_id = +? AND ${UNTRIED} AND waits <> 'opening'`,
    why,
    token,
    caseId,
  );
}

/** Of one that was attempted, nobody knows whether it arrived. */
const UNTRIED = 'attempts = 0 AND leased = 0';

/** Takes the reason. */
const DROPPED = `state = 'dropped', next_attempt_at = NULL, last_error = ?`;
