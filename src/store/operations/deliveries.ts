/** The outbox: one row per alert and target, kept until it is delivered, dead or dropped, and listed long after. */
import type { Act } from '../../core/activity/activity.ts';
import { type Alert, BLIND_NOTICE } from '../../core/alert.ts';
import type { Delivery, DeliveryState } from '../../core/delivery.ts';
import type { Wait } from '../../core/hours/wait.ts';
import type { Channel, PlannedRoute } from '../../core/routing.ts';
import type { Page } from '../page.ts';
import type { Reading, Transaction, Value } from '../transaction.ts';
import { record } from './activity/record.ts';

interface ListedRow {
  id: number;
  case_id: string;
  alert_id: string;
  channel: Channel;
  target: string;
  state: DeliveryState;
  attempts: number;
  last_error: string | null;
  next_attempt_at: number | null;
  delivered_at: number | null;
  type: Alert['type'] | null;
  token: string | null;
  decided_at: number | null;
  /** The beginning of the snitch as the alert shows it; in older alerts, long notes follow. */
  head: string | null;
  leased: number;
  waits: Wait | null;
}

/** With what the alert of each delivery says. */
const LISTED = `SELECT d.id, d.case_id, d.alert_id, d.channel, d.target, d.state, d.attempts, d.last_error,
  d.next_attempt_at, d.delivered_at, d.leased, d.waits, a.type, a.token, a.at AS decided_at,
  substr(a.snitch, 1, 2000) AS head
  FROM deliveries AS d LEFT JOIN alerts AS a ON a.id = d.alert_id`;

const INSERT = `INSERT INTO deliveries
  (case_id, alert_id, channel, target, state, attempts, fence, leased, next_attempt_at`;
const VALUES = `VALUES (?, ?, ?, ?, 'pending', 0, 0, 0, ?`;
export const INSERT_DELIVERY = `${INSERT}) ${VALUES})`;
export const INSERT_WAITING = `${INSERT}, waits, waiting_token) ${VALUES}, ?, ?)`;

/** @param token of the snitch; null for a notice */
export async function insertDeliveries(
  tx: Transaction,
  { caseId, alertId, token = null }: { caseId: string; alertId: string; token?: string | null },
  routes: readonly PlannedRoute[],
  now: number,
): Promise<void> {
  for (const { channel, target, waits = null, at = now } of routes) {
    const values = [caseId, alertId, channel, target, at];
    if (waits === null) tx.put(INSERT_DELIVERY, ...values);
    else tx.put(INSERT_WAITING, ...values, waits, token ?? '');
  }
  if (routes.length === 0) return;
  tx.announce({ kind: 'deliveries', channels: [...new Set(routes.map(({ channel }) => channel))] });
}

export async function listDeliveriesOf(tx: Reading, alertId: string): Promise<Delivery[]> {
  const rows = await tx.all<ListedRow>(`${LISTED} WHERE d.alert_id = +? ORDER BY d.id`, alertId);
  return rows.map(toDelivery);
}

export async function listDeliveries(
  tx: Reading,
  caseId: string,
  { state, limit, before, behind }: { state: DeliveryState | null } & Page,
): Promise<Delivery[]> {
  const conditions = ['d.case_id = +?'];
  const values: Value[] = [caseId];
  if (state) {
    conditions.push('d.state = +?');
    values.push(state);
  }
  if (behind) {
    conditions.push('d.id < +?');
    values.push(Number(behind.id));
  }
  if (before && 'id' in before) {
    conditions.push('d.id < +?');
    values.push(Number(before.id));
  } else if (before) {
    conditions.push('d.alert_id IN (SELECT id FROM alerts WHERE at < +?)');
    values.push(before.at);
  }
  const rows = await tx.all<ListedRow>(
    `${LISTED} WHERE ${conditions.join(' AND ')} ORDER BY d.id DESC LIMIT +?`,
    ...values,
    limit,
  );
  return rows.map(toDelivery);
}

/**
 * Makes a delivery due now, with all its retries still to come, even if it waits for its time. One that was delivered
 * stays as it is, and so does one that was dropped: its recipient would never hear of the end of what it reports.
 */
export async function retryDelivery(
  tx: Transaction,
  act: Act,
  caseId: string,
  id: number,
  now: number,
): Promise<Delivery | null> {
  const queued = await tx.run(
    `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_at = ?, waits = NULL, waiting_token = NULL
     WHERE case_id = ? AND id = ? AND state IN ('pending', 'dead')`,
    now,
    caseId,
    id,
  );
  const row = await tx.get<ListedRow>(`${LISTED} WHERE d.case_id = +? AND d.id = +?`, caseId, id);
  if (!row) return null;
  if (row.state === 'pending') tx.announce({ kind: 'deliveries', channels: [row.channel] });
  const delivery = toDelivery(row);
  if (queued > 0) await recordRetry(tx, act, delivery);
  return delivery;
}

/** Recorded under the name of the snitch that it reports. */
function recordRetry(tx: Transaction, act: Act, { id, caseId, channel, about }: Delivery): Promise<void> {
  const subject = { id: String(id), name: about.snitch?.name ?? about.type };
  return record(tx, act, { caseId, action: 'delivery.retried', subject, details: { channel } });
}

/** Read without the rest, which may be long or, in a damaged row, not JSON. */
function nameIn(head: string | null): string {
  const [, name] = /^\{"token":"(?:[^"\\]|\\.)*","name":("(?:[^"\\]|\\.)*")/.exec(head ?? '') ?? [];
  return name === undefined ? '' : (JSON.parse(name) as string);
}

function isWaiting(row: ListedRow): row is ListedRow & { waits: Wait } {
  return row.waits !== null && row.state === 'pending' && row.attempts === 0 && row.leased === 0;
}

function toDelivery(row: ListedRow): Delivery {
  const { type, token, head } = row;
  return {
    id: row.id,
    caseId: row.case_id,
    alertId: row.alert_id,
    channel: row.channel,
    target: row.target,
    about: {
      type: type ?? BLIND_NOTICE,
      snitch: token === null ? null : { token, name: nameIn(head) },
    },
    state: row.state,
    ...(isWaiting(row) ? { waits: row.waits } : {}),
    sending: row.state === 'pending' && row.leased === 1,
    attempts: row.attempts,
    lastError: row.last_error,
    // A released delivery is due at once: it has no time of its own, and has been due since the alert.
    nextAttemptAt: row.next_attempt_at === 0 ? row.decided_at : row.next_attempt_at,
    deliveredAt: row.delivered_at,
  };
}
