/**
 * The outbox as its senders see it: one sender at a time claims each delivery, and settles it with the claim's fence.
 */
import type { Alert } from '../../core/alert.ts';
import type { ClaimedDelivery, Settlement } from '../../core/delivery.ts';
import { ALARM_UNHEARD, unreadable } from '../../core/explanation/death.ts';
import type { Wait } from '../../core/hours/wait.ts';
import type { Channel } from '../../core/routing.ts';
import type { ClaimRequest } from '../deliveries.ts';
import type { Reading, Transaction, Value } from '../transaction.ts';
import { getAlert } from './alerts.ts';
import { rememberedCase } from './cases.ts';
import { noteDelivered, noteRefused } from './channel-health.ts';
import { isUnheard, recipientOf, waitsUntil } from './incidents.ts';
import { isolate } from './isolation.ts';
import { settleDropped } from './routes/acknowledged.ts';
import { fateOfLate, fateOfRetry } from './routes/retries.ts';
import { ruleOf } from './routes/rules.ts';
import { carryOut, type Fate, fateOf } from './routes/waiting.ts';
import { getWebhook } from './webhooks.ts';

/** A delivery before it is claimed. */
export interface DueRow {
  id: number;
  case_id: string;
  alert_id: string;
  channel: Channel;
  target: string;
  attempts: number;
  fence: number;
  waits: Wait | null;
  waiting_token: string | null;
  last_error: string | null;
}

export const COLUMNS =
  'id, case_id, alert_id, channel, target, attempts, fence, waits, waiting_token, last_error';

/** The most deliveries of one target that one call examines, if they cannot be sent yet. */
const LOOKED_THROUGH = 256;

/**
 * Leases what is due, oldest first within a target and at most `perTarget` of each, so that no target can fill the
 * claim. Walks once around all targets on the index: the cost grows with the number of targets, not of rows.
 */
export async function claimDeliveries(tx: Transaction, request: ClaimRequest): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  const busy = new Set(request.busy);
  const halves = [
    { from: request.after, to: null },
    { from: '', to: request.after },
  ];
  for (const { from, to } of halves) {
    let target = await nextTarget(tx, request.channel, from);
    while (target !== null && (to === null || target <= to) && claimed.length < request.limit) {
      if (!busy.has(target)) claimed.push(...(await claimTarget(tx, request, target, claimed.length)));
      target = await nextTarget(tx, request.channel, target);
    }
  }
  return claimed;
}

/** The first target after `after`, in the order of the index, that has something pending. */
async function nextTarget(tx: Transaction, channel: Channel, after: string): Promise<string | null> {
  const row = await tx.get<{ target: string }>(
    `SELECT target FROM deliveries WHERE state = 'pending' AND channel = +? AND target > +? ORDER BY target LIMIT 1`,
    channel,
    after,
  );
  return row?.target ?? null;
}

/** A delivery that is not sent yet, or not at all, makes room for one after it. */
async function claimTarget(
  tx: Transaction,
  request: ClaimRequest,
  target: string,
  taken: number,
): Promise<ClaimedDelivery[]> {
  const most = Math.min(request.perTarget, request.limit - taken);
  const claimed: ClaimedDelivery[] = [];
  for (let looked = 0; claimed.length < most && looked < LOOKED_THROUGH; ) {
    const wanted = most - claimed.length;
    const rows = await dueOf(tx, request, target, wanted);
    for (const row of rows) {
      const delivery = await claimOne(tx, row, request);
      if (delivery) claimed.push(delivery);
    }
    if (rows.length < wanted) break;
    looked += rows.length;
  }
  return claimed;
}

async function dueOf(
  tx: Transaction,
  { now, channel }: ClaimRequest,
  target: string,
  limit: number,
): Promise<DueRow[]> {
  return tx.allFree<DueRow>(
    `SELECT ${COLUMNS} FROM deliveries
     WHERE state = 'pending' AND channel = +? AND target = +? AND next_attempt_at <= +?
     ORDER BY next_attempt_at, id LIMIT +?`,
    channel,
    target,
    now,
    limit,
  );
}

/** Null if it is not to be sent now, or cannot be read. */
async function claimOne(
  tx: Transaction,
  row: DueRow,
  { now, leaseUntil }: ClaimRequest,
): Promise<ClaimedDelivery | null> {
  await tx.run(
    'UPDATE deliveries SET attempts = attempts + 1, fence = fence + 1, leased = 1, next_attempt_at = ? WHERE id = ?',
    leaseUntil,
    row.id,
  );
  return lookAtClaimed(tx, row, now);
}

/** What to send for a row whose claim is written. Null if it is not to be sent now, or cannot be read. */
export async function lookAtClaimed(
  tx: Transaction,
  row: DueRow,
  now: number,
): Promise<ClaimedDelivery | null> {
  const { value: delivery = null, error } = await isolate(tx, () => toClaimed(tx, row, now));
  if (error !== undefined) {
    await settleDelivery(tx, row.id, row.fence + 1, {
      kind: 'dead',
      error: unreadable(String(error)),
    });
  }
  return delivery;
}

/** Null if it has to wait or need not be sent any more; it is then left as if it had not been claimed. */
async function toClaimed(tx: Transaction, row: DueRow, now: number): Promise<ClaimedDelivery | null> {
  const alert = await getAlert(tx, row.alert_id);
  if (!alert) throw new Error(`there is no alert ${row.alert_id}`);
  const fate = await fateOfDue(tx, row, alert, now);
  if (fate !== null) {
    await carryOut(tx, row, fate);
    return null;
  }
  const until = await waitsUntil(tx, row, alert, now);
  if (until !== null) {
    await putOff(tx, row, until);
    return null;
  }
  if (await isUnheard(tx, row, alert)) {
    await putOff(tx, row, now);
    await settleDelivery(tx, row.id, row.fence + 1, { kind: 'dead', error: ALARM_UNHEARD });
    return null;
  }
  const recipient = await recipientOf(tx, row, alert);
  const owner = await rememberedCase(tx, row.case_id);
  const output =
    row.channel === 'email' && alert.type === 'snitch.errored' ? await outputOf(tx, alert) : null;
  return {
    id: row.id,
    fence: row.fence + 1,
    attempt: row.attempts + 1,
    lastError: row.last_error,
    channel: row.channel,
    target: row.target,
    alert,
    ...(output === null ? {} : { output }),
    case: { id: row.case_id, name: owner?.name ?? '', timezone: owner?.timezone ?? 'UTC' },
    webhook: row.channel === 'webhook' ? await getWebhook(tx, row.case_id, row.target) : null,
    ...(recipient ? { recipient } : {}),
  };
}

async function fateOfDue(tx: Reading, row: DueRow, alert: Alert, now: number): Promise<Fate> {
  if (row.attempts > 0) return fateOfRetry(tx, row, alert, now);
  if (row.waits === null) return fateOfLate(tx, row, alert, now);
  return fateOf(tx, row, alert, await ruleOf(tx, row.case_id, row), now);
}

/** As if it had not been claimed. */
async function putOff(tx: Transaction, { id, attempts }: DueRow, until: number): Promise<void> {
  await tx.run(
    'UPDATE deliveries SET attempts = ?, leased = 0, next_attempt_at = ? WHERE id = ?',
    attempts,
    until,
    id,
  );
}

async function outputOf(tx: Transaction, { details }: Alert): Promise<string | null> {
  if (details?.checkInId === undefined) return null;
  const kept = await tx.get<{ output: string }>(
    'SELECT output FROM check_in_outputs WHERE check_in_id = ?',
    details.checkInId,
  );
  return kept?.output ?? null;
}

/** A settlement counts only for the latest claim of an unfinished delivery. */
export async function settleDelivery(
  tx: Transaction,
  id: number,
  fence: number,
  settlement: Settlement,
): Promise<boolean> {
  const [assignments, ...values] = assignmentsOf(settlement);
  const settled = await tx.run(
    `UPDATE deliveries SET leased = 0, ${assignments} WHERE id = ? AND fence = ? AND state = 'pending'`,
    ...values,
    id,
    fence,
  );
  if (settled === 0 && !(await settleDropped(tx, id, fence, settlement))) return false;
  if (settlement.kind === 'delivered' && settlement.told) {
    await noteDelivered(tx, id, settlement.told, settlement.at);
  }
  if (settlement.kind === 'dead' && settlement.refusedAt !== undefined) {
    await noteRefused(tx, id, settlement.error, settlement.refusedAt);
  }
  return true;
}

/** What a settlement sets in its row, with the values. */
function assignmentsOf(settlement: Settlement): [string, ...Value[]] {
  switch (settlement.kind) {
    case 'delivered':
      return [
        `state = 'delivered', delivered_at = ?, next_attempt_at = NULL, last_error = NULL, reference = ?`,
        settlement.at,
        settlement.told?.reference ?? null,
      ];
    case 'retry':
      return ['next_attempt_at = ?, last_error = ?', settlement.at, settlement.error];
    case 'dead':
      return [`state = 'dead', next_attempt_at = NULL, last_error = ?`, settlement.error];
    case 'released':
      // It becomes due before all others. A retry by hand during the attempt may already have set the count to 0.
      return ['next_attempt_at = 0, attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END'];
  }
}

/** Makes due what a daemon that is gone had claimed. Only correct while no sender of this store is running. */
export async function releaseLeases(tx: Transaction, now: number): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET leased = 0, next_attempt_at = ? WHERE state = 'pending' AND leased = 1`,
    now,
  );
}

export async function nextDeliveryAt(tx: Reading): Promise<number | null> {
  const row = await tx.get<{ next_attempt_at: number }>(
    `SELECT next_attempt_at FROM deliveries WHERE state = 'pending' ORDER BY next_attempt_at LIMIT 1`,
  );
  return row?.next_attempt_at ?? null;
}
