/** How the deliveries of one outage to one target depend on each other. */

import type { Alert } from '../../core/alert.ts';
import { type Incident, isChannelKind, keepsIncidents } from '../../core/channel.ts';
import type { DeliveryState, Recipient } from '../../core/delivery.ts';
import { reachedSome } from '../../core/explanation/death.ts';
import type { Channel } from '../../core/routing.ts';
import { MINUTE } from '../../text/durations.ts';
import type { Transaction } from '../transaction.ts';
import { getAlert } from './alerts.ts';
import { getChannel } from './channels.ts';

/** A delivery that is about to be claimed. */
interface Claimable {
  id: number;
  case_id: string;
  channel: Channel;
  target: string;
}

/** A mail does not wait for an earlier one whose next attempt is further away than this, in milliseconds. */
const MAILS_IN_ORDER = 20 * MINUTE;

/** Deliveries of the same outage to the same channel. Its alerts are found by the index on a snitch's alerts. */
const OF_INCIDENT = `FROM alerts AS a CROSS JOIN deliveries AS d ON d.alert_id = a.id
  WHERE a.token = +? AND a.at >= +? AND a.at <= +? AND d.channel = +? AND d.target = +?`;

/**
 * Null if the delivery can be claimed. A recovery that overtook its alarm would close an incident that is opened only
 * afterwards, and then stays open; a person would read "recovered" and then "missing". So all but webhooks get what
 * belongs to an outage in the order in which it was decided. Programs are told the times, and need not wait. A mail
 * waits for some minutes, as long as servers put off senders that they do not know: after an outage of the mail server
 * the next attempt may be hours away.
 *
 * @returns when to look again, while an earlier delivery waits for its next attempt
 */
export async function waitsUntil(
  tx: Transaction,
  { id, channel, target }: Claimable,
  alert: Alert,
  now: number,
): Promise<number | null> {
  const first = channel === 'webhook' ? null : await openingOf(tx, alert);
  if (first === null || first.id === alert.id) return null;
  const earlier = await tx.get<{ next_attempt_at: number }>(
    `SELECT d.next_attempt_at ${OF_INCIDENT} AND d.state = 'pending' AND d.leased = 0 AND d.id < +? LIMIT 1`,
    alert.token,
    first.at,
    alert.at,
    channel,
    target,
    id,
  );
  if (earlier && channel === 'email' && earlier.next_attempt_at > now + MAILS_IN_ORDER) return null;
  // It may be retried by hand at any time, so the wait is never very long.
  return earlier ? Math.min(earlier.next_attempt_at, now + MINUTE) : null;
}

/**
 * Whether a recovery reports the end of something that nobody there has heard of: all deliveries of its outage to that
 * target are dead. A service that keeps incidents is told all the same, because a failed attempt may have opened one, and
 * so is one that could pass the alarm on to some.
 */
export async function isUnheard(
  tx: Transaction,
  { id, channel, target }: Claimable,
  alert: Alert,
): Promise<boolean> {
  if (alert.type !== 'snitch.reporting' || !isChannelKind(channel) || keepsIncidents(channel)) return false;
  const first = await openingOf(tx, alert);
  if (first === null || first.id === alert.id) return false;
  const earlier = await tx.all<Attempted>(
    `SELECT DISTINCT d.state, d.leased, d.last_error ${OF_INCIDENT} AND d.id < +?`,
    alert.token,
    first.at,
    alert.at,
    channel,
    target,
    id,
  );
  return earlier.length > 0 && earlier.every(hasFailed);
}

interface Attempted {
  state: DeliveryState;
  leased: number;
  last_error: string | null;
}

function hasFailed({ state, leased, last_error: error }: Attempted): boolean {
  switch (state) {
    case 'pending':
    case 'delivered':
      return false;
    case 'dead':
      return !reachedSome(error);
    case 'dropped':
      // How the attempt under way ended is unknown.
      return leased === 0;
  }
}

/** Null for email and webhooks. */
export async function recipientOf(tx: Transaction, row: Claimable, alert: Alert): Promise<Recipient | null> {
  if (!isChannelKind(row.channel)) return null;
  const { case_id: caseId, target } = row;
  const channel = await tx.remember(`channel ${caseId} ${target}`, () => getChannel(tx, caseId, target));
  return { channel, incident: await incidentOf(tx, row, alert) };
}

async function incidentOf(tx: Transaction, { channel, target }: Claimable, alert: Alert): Promise<Incident> {
  const first = await openingOf(tx, alert);
  const key = alert.details?.threadId ?? alert.id;
  const name = (first ?? alert).snitch?.name ?? '';
  if (!first || first.id === alert.id) return { key, name, since: alert.at, reference: null };
  const told = await tx.get<{ reference: string }>(
    `SELECT d.reference ${OF_INCIDENT} AND d.reference IS NOT NULL ORDER BY d.id LIMIT 1`,
    alert.token,
    first.at,
    alert.at,
    channel,
    target,
  );
  return { key, name, since: first.at, reference: told?.reference ?? null };
}

/** The alert that opened the outage; null for a notice, or if it was pruned already. */
async function openingOf(tx: Transaction, alert: Alert): Promise<(Alert & { token: string }) | null> {
  const threadId = alert.details?.threadId ?? null;
  const first = threadId === null ? alert : await getAlert(tx, threadId);
  return first && first.token !== null ? first : null;
}
