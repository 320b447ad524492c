/** Deliveries that wait for their time: what ends them, and whether they can be sent when it comes. */
import type { Alert } from '../../../core/alert.ts';
import { type ChannelEvent, eventOf, keepsIncidents, type RouteRule } from '../../../core/channel.ts';
import type { Outage } from '../../../core/explanation/audience.ts';
import type { Wait } from '../../../core/hours/wait.ts';
import { type Standing, whyOver } from '../../../core/routes/standing.ts';
import { type Channel, type Route, routeKey, whenOf, whyNotTaken } from '../../../core/routing.ts';
import type { Status } from '../../../core/snitch.ts';
import { MINUTE, SECOND } from '../../../text/durations.ts';
import type { Reading, Transaction } from '../../transaction.ts';
import { getRules } from '../silences/case-rules.ts';
import { type Looked, silencedUntil } from '../silences/rows.ts';

/**
 * Drops the deliveries that wait to report a snitch's present state and were never attempted, whether they wait for
 * their time (`after`) or for the hours of their target. The end of an outage that somebody was told of is kept. Call
 * it in the transaction in which the state ends, or in which somebody acknowledges the alarm.
 *
 * @param why in words, as `last_error` shows it
 * @returns how many were dropped
 */
export async function dropWaiting(
  tx: Transaction,
  { caseId, token }: { caseId: string; token: string },
  why: string,
): Promise<number> {
  const dropped = await tx.run(DROP_WAITING, why, token, caseId);
  if (dropped > 0) (await droppedIn(tx, caseId)).some = true;
  return dropped;
}

/** Whether anything that is kept of a case was dropped: read once, however many alerts one transaction decides. */
function droppedIn(tx: Reading, caseId: string): Promise<{ some: boolean }> {
  return tx.remember(`dropped ${caseId}`, async () => {
    const sql = "SELECT id FROM deliveries WHERE case_id = +? AND state = 'dropped' LIMIT 1";
    return { some: (await tx.get(sql, caseId)) !== undefined };
  });
}

/** As `dropWaiting`, for all snitches of a case that is deleted. */
export async function dropWaitingOfCase(tx: Transaction, caseId: string, why: string): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET ${DROPPED}
     WHERE state = 'pending' AND case_id = +? AND waiting_token IS NOT NULL AND ${UNTRIED}`,
    why,
    caseId,
  );
}

/** Whether an attempted delivery arrived is unknown. */
export const UNTRIED = 'attempts = 0 AND leased = 0';

/** Its parameter is the reason. */
const DROPPED = `state = 'dropped', next_attempt_at = NULL, last_error = ?`;

/** Its parameters are the reason, the token and the case. If `SELECT_WAITING` finds nothing, it drops nothing. */
export const DROP_WAITING = `UPDATE deliveries SET ${DROPPED}
  WHERE state = 'pending' AND waiting_token = +? AND +case_id = +? AND ${UNTRIED} AND waits <> 'opening'`;
export const SELECT_WAITING = `SELECT channel, target FROM deliveries
  WHERE state = 'pending' AND waiting_token = +? AND ${UNTRIED} AND waits <> 'opening'`;

/** The targets with a delivery that waits to report a snitch's present state, by `routeKey`. */
export async function waitingFor(tx: Reading, token: string): Promise<Set<string>> {
  const rows = await tx.all<Route>(SELECT_WAITING, token);
  return new Set(rows.map(routeKey));
}

/**
 * The targets that were sent an earlier alert of an outage of the snitch, by `routeKey`. A delivery that waits, or was
 * dropped, does not count unless it was attempted.
 *
 * @param threadId the alert that opened the outage
 */
export async function toldOf(tx: Reading, token: string, threadId: string | null): Promise<Set<string>> {
  if (threadId === null) return new Set();
  const rows = await tx.all<Route>(
    // If the first alert was pruned already, everything that is left of the snitch counts.
    `SELECT DISTINCT d.channel, d.target FROM alerts AS a JOIN deliveries AS d ON d.alert_id = a.id
     WHERE a.token = +? AND a.at >= COALESCE((SELECT at FROM alerts WHERE id = +?), 0)
       AND NOT (d.state = 'dropped' AND d.attempts = 0) AND NOT (d.state = 'pending' AND d.waits IS NOT NULL AND ${UNTRIED})`,
    token,
    threadId,
  );
  return new Set(rows.map(routeKey));
}

/** The targets for which an alert of an outage was dropped before it was attempted, by `routeKey`. */
export async function sparedOf(
  tx: Reading,
  { caseId, token, threadId }: { caseId: string; token: string; threadId: string | null },
): Promise<Set<string>> {
  if (threadId === null || !(await droppedIn(tx, caseId)).some) return new Set();
  const rows = await tx.all<Route>(
    `SELECT DISTINCT d.channel, d.target FROM alerts AS a JOIN deliveries AS d ON d.alert_id = a.id
     WHERE a.token = +? AND a.at >= COALESCE((SELECT at FROM alerts WHERE id = +?), 0)
       AND d.state = 'dropped' AND d.attempts = 0`,
    token,
    threadId,
  );
  return new Set(rows.map(routeKey));
}

/**
 * When the snitch's present alarm began: the first alarm of its outage, or the oldest one left if that was pruned.
 *
 * @param alarm that is being decided, or waits: the outage began no later
 */
export async function sinceOf(
  tx: Reading,
  { token, threadId, at }: { token: string; threadId: string | null; at: number },
): Promise<number> {
  if (threadId === null) return at;
  const first = await tx.get<{ at: number }>(
    // A thread may begin with a pause during which the snitch failed.
    `SELECT at FROM alerts WHERE token = +? AND at >= COALESCE((SELECT at FROM alerts WHERE id = +?), 0)
       AND type IN ('snitch.missing', 'snitch.errored') ORDER BY at LIMIT 1`,
    token,
    threadId,
  );
  return Math.min(first?.at ?? at, at);
}

/** The outage that a snitch is in, as far as it decides who is told; null if it is in none. */
export async function findOutage(tx: Reading, caseId: string, token: string): Promise<Outage | null> {
  const row = await tx.get<{ status: Status; thread_id: string | null }>(
    `SELECT s.status, s.thread_id FROM snitches AS n JOIN snitch_states AS s ON s.id = n.id
     WHERE n.token = +? AND n.case_id = +?`,
    token,
    caseId,
  );
  if (!row?.thread_id || (row.status !== 'failed' && row.status !== 'errored')) return null;
  const { thread_id: threadId } = row;
  const at = Number.MAX_SAFE_INTEGER;
  return {
    since: await sinceOf(tx, { token, threadId, at }),
    told: await toldOf(tx, token, threadId),
    waiting: await waitingFor(tx, token),
  };
}

/** A delivery whose time seems to have come. */
export interface WaitingRow {
  id: number;
  case_id: string;
  channel: Channel;
  target: string;
  attempts: number;
  waits: Wait | null;
  waiting_token: string | null;
}

/** What becomes of a delivery that is due; null if it is sent. */
export type Fate = { why: string } | { until: number; waits: Wait } | null;

/**
 * Checks once more whether a delivery that waited and was never attempted can be sent, in the transaction that claims
 * it.
 *
 * @param rule of its target now; null if that is gone
 */
export async function fateOf(
  tx: Reading,
  row: WaitingRow,
  alert: Alert,
  rule: RouteRule | null,
  now: number,
): Promise<Fate> {
  const { waits, waiting_token: token } = row;
  if (waits === null || token === null) return null;
  if (rule === null) return { why: 'nobody is told there any more' };
  const event = eventOf(alert.type);
  const standing = await standingOf(tx, token);
  const why =
    waits === 'opening' ? null : (overNow(event, standing) ?? untakenNow(rule, event, alert, row.channel));
  if (why !== null) return { why };
  const isAlarm = event === 'missing' || event === 'errored';
  const threadId = alert.details?.threadId ?? null;
  const since = isAlarm ? await sinceOf(tx, { token, threadId, at: alert.at }) : alert.at;
  const from = (await isDelayed(tx, row, event, threadId)) ? since : null;
  const lasts = waits !== 'opening';
  const when = whenOf(rule, { now, from, lasts });
  const silent = isAlarm && standing ? await silentUntil(tx, { ...standing, token }, when.at) : null;
  const { at, waits: still } = silent === null ? when : whenOf(rule, { now: silent, from, lasts });
  if (at > now) return { until: at, waits: still ?? waits };
  const behind = waits === 'opening' ? null : await behindOf(tx, row, now);
  return behind === null ? null : { until: behind, waits };
}

/** Whether `after` counts: not for the end of what was told, nor for its pause, even if that waits for the hours. */
async function isDelayed(tx: Reading, row: WaitingRow, event: ChannelEvent, threadId: string | null) {
  const { waits, waiting_token: token } = row;
  if (waits !== 'hours' || event !== 'paused' || token === null) return waits !== 'opening';
  return !(await toldOf(tx, token, threadId)).has(routeKey(row));
}

function overNow(event: ChannelEvent, standing: Standing | null): string | null {
  const over = whyOver(event, standing);
  return over === null ? null : `it ${over}`;
}

/** The route may have changed since the alert was decided. A pause closes an incident, whatever the route takes. */
function untakenNow(rule: RouteRule, event: ChannelEvent, { snitch }: Alert, channel: Channel) {
  if (event === 'paused' && keepsIncidents(channel)) return null;
  const untaken = snitch && whyNotTaken(rule, event, snitch.tags);
  return untaken === null ? null : `its target now ${untaken}`;
}

interface StandingRow {
  id: number;
  case_id: string;
  status: Status;
  acknowledged: string | null;
}

async function standingOf(
  tx: Reading,
  token: string,
): Promise<(Standing & Pick<StandingRow, 'id' | 'case_id'>) | null> {
  const row = await tx.get<StandingRow>(
    `SELECT s.id, s.case_id, s.status, s.acknowledged FROM snitches AS n JOIN snitch_states AS s ON s.id = n.id
     WHERE n.token = +?`,
    token,
  );
  return row ? { ...row, acknowledged: row.acknowledged !== null } : null;
}

/**
 * Whoever silenced it is working on it, so nobody else is disturbed.
 *
 * @returns when the silence ends that holds at `at`
 */
async function silentUntil(tx: Reading, row: Looked, at: number): Promise<number | null> {
  const { hasSilences, timezone } = await getRules(tx, row.case_id);
  return hasSilences ? silencedUntil(tx, row, at, timezone) : null;
}

/**
 * The end of the previous outage is sent first.
 *
 * @returns when to look again, or null if nothing comes first
 */
async function behindOf(tx: Reading, row: WaitingRow, now: number): Promise<number | null> {
  const end = await tx.get<{ next_attempt_at: number; leased: number }>(
    `SELECT next_attempt_at, leased FROM deliveries
     WHERE state = 'pending' AND waiting_token = +? AND channel = +? AND target = +? AND waits = 'opening' AND id < +?
     LIMIT 1`,
    row.waiting_token,
    row.channel,
    row.target,
    row.id,
  );
  if (!end) return null;
  // It may be retried by hand at any time, so the wait is never very long.
  return end.leased === 1
    ? now + SECOND
    : Math.max(now + SECOND, Math.min(end.next_attempt_at, now + MINUTE));
}

/** One that was to go out at once, and failed or came too late, waits from now on. A notice is of no snitch. */
const PUT_OFF = `UPDATE deliveries SET attempts = ?, leased = 0, next_attempt_at = ?, waits = ?,
    waiting_token = COALESCE(waiting_token, (SELECT a.token FROM alerts AS a WHERE a.id = deliveries.alert_id), '')
  WHERE id = ?`;

/** Carries out a fate: the row is left as if it had not been claimed. */
export async function carryOut(
  tx: Transaction,
  { id, attempts }: Pick<WaitingRow, 'id' | 'attempts'>,
  fate: Exclude<Fate, null>,
): Promise<void> {
  if ('why' in fate) {
    const drop = `UPDATE deliveries SET ${DROPPED}, attempts = ?, leased = 0 WHERE id = ?`;
    await tx.run(drop, fate.why, attempts, id);
  } else {
    await tx.run(PUT_OFF, attempts, fate.until, fate.waits, id);
  }
}
