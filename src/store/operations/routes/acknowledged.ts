/**
 * Escalations of an alarm that somebody acknowledged. One that was never attempted is dropped, and its target is not
 * told of the end either. One that was attempted but is not known to have arrived is dropped too, but counts as told,
 * because it may have arrived: a service would keep the incident open, and anybody who saw the alarm would wait for its
 * end. If an attempt is known to have failed, a chat has shown nothing, so only services for incidents are told of the
 * end.
 */
import type { Settlement } from '../../../core/delivery.ts';
import { ACKNOWLEDGED } from '../../../core/routes/standing.ts';
import type { Transaction } from '../../transaction.ts';
import { dropWaiting } from './waiting.ts';

const WHY = `it ${ACKNOWLEDGED}`;

/**
 * To be called in the transaction in which somebody acknowledges.
 *
 * @param threadId the alert that opened the outage
 */
export async function dropEscalations(
  tx: Transaction,
  {
    case_id: caseId,
    token,
    thread_id: threadId,
  }: { case_id: string; token: string; thread_id: string | null },
): Promise<void> {
  await dropWaiting(tx, { caseId, token }, WHY);
  // What is left was attempted. For a dropped delivery, `leased` means that it is unknown how its last attempt ended.
  await tx.run(
    `UPDATE deliveries SET state = 'dropped', next_attempt_at = NULL,
       leased = CASE WHEN leased = 1 OR last_error IS NULL THEN 1 ELSE 0 END,
       last_error = CASE WHEN leased = 1 OR last_error IS NULL THEN ? ELSE ? END
     WHERE state = 'pending' AND waiting_token = +? AND +case_id = +? AND waits <> 'opening'
       AND alert_id IN (SELECT id FROM alerts WHERE token = +? AND type IN ('snitch.missing', 'snitch.errored')
         AND at >= COALESCE((SELECT at FROM alerts WHERE id = +?), 0))`,
    `${WHY}; whether an attempt arrived is not known`,
    WHY,
    token,
    caseId,
    token,
    threadId,
  );
}

/** The end of an attempt that was under way when somebody acknowledged. False if there is none for this claim. */
export async function settleDropped(
  tx: Transaction,
  id: number,
  fence: number,
  settlement: Settlement,
): Promise<boolean> {
  const condition = `WHERE id = ? AND fence = ? AND state = 'dropped' AND leased = 1`;
  if (settlement.kind === 'delivered') {
    const arrived = await tx.run(
      `UPDATE deliveries SET state = 'delivered', leased = 0, delivered_at = ?, last_error = NULL, reference = ? ${condition}`,
      settlement.at,
      settlement.told?.reference ?? null,
      id,
      fence,
    );
    return arrived > 0;
  }
  // One that was released was not attempted.
  const untried = settlement.kind === 'released' ? 1 : 0;
  const ended = await tx.run(
    `UPDATE deliveries SET leased = 0, attempts = attempts - ?, last_error = ? ${condition}`,
    untried,
    WHY,
    id,
    fence,
  );
  return ended > 0;
}
