import type { Act } from '../../core/activity/activity.ts';
import {
  type Alert,
  type AlertDecision,
  type AlertDetails,
  alertSnitch,
  BLIND_NOTICE,
  type BlindNotice,
  isAlarm,
  REFUSAL_NOTICE,
  type Refusal,
  TEST_TOKEN,
} from '../../core/alert.ts';
import type { AlertWithDeliveries, Delivery } from '../../core/delivery.ts';
import { overBy } from '../../core/routes/standing.ts';
import { type Route, routeOfNotice, routeOfRefusal, type Targets } from '../../core/routing.ts';
import type { SnitchState } from '../../core/snitch.ts';
import { newAlertId } from '../identifiers.ts';
import type { Page } from '../page.ts';
import type { Reading, Transaction, Value } from '../transaction.ts';
import { hostOf, recordTest, type Target } from './activity/of-targets.ts';
import { type AlertCause, detailsOf } from './alert-details.ts';
import { type AlertRow, insertRow, SELECT, type Told, targetsOf, toAlert, writeAlert } from './alert-rows.ts';
import { getChannel } from './channels.ts';
import { insertDeliveries, listDeliveriesOf } from './deliveries.ts';
import { countChange, flappingBegins, openFlap } from './flapping.ts';
import { dropWaiting } from './routes/waiting.ts';
import { forgetKeptBack, keepBack, keptBackOf } from './silences/alarms.ts';
import { silencedUntil } from './silences/rows.ts';
import { getRules, type StateRow } from './states.ts';
import { getWebhook } from './webhooks.ts';

/**
 * Writes an alert with one delivery per target, in the transaction of the state change itself. If the snitch flaps, the
 * change is counted instead; in a silence, the alert is kept back.
 *
 * @returns the id of the incident's first alert, which the state keeps; null if nobody was told of the incident
 */
export async function insertAlert(
  tx: Transaction,
  row: StateRow,
  decision: AlertDecision,
  after: SnitchState,
  cause: AlertCause,
): Promise<string | null> {
  const change = { decision, details: await detailsOf(tx, row, decision, after, cause) };
  const { status, previousStatus } = decision;
  const goesOn = isAlarm(decision.type) && (previousStatus === 'failed' || previousStatus === 'errored');
  if (!goesOn) await dropWaiting(tx, idOf(row), `it ${overBy(status)}`);
  const rules = await getRules(tx, row.case_id);
  if (rules.hasSilences && (await isKeptSilent(tx, row, change, cause.at, rules.timezone))) {
    if (goesOn && status !== previousStatus) await dropWaiting(tx, idOf(row), `it ${overBy(status)}`);
    return row.thread_id;
  }
  const counted = await countChange(tx, row.id, change, cause.at);
  if (counted) return row.thread_id ?? counted.alertId;
  // A waiting delivery about an error gives way to the alarm that the snitch is missing, and vice versa.
  if (goesOn && status !== previousStatus) await dropWaiting(tx, idOf(row), `it ${overBy(status)}`);
  const flapping = await flappingBegins(tx, row.token, cause.at);
  const details = flapping ? { ...change.details, flapping } : change.details;
  const id = await writeAlert(tx, row, { decision, details }, cause.at);
  if (flapping) await openFlap(tx, row.id, change, { at: cause.at, alertId: id });
  return row.thread_id ?? id;
}

const idOf = ({ case_id: caseId, token }: StateRow) => ({ caseId, token });

/**
 * In a silence, an alarm is kept back. If an alarm was kept back and nobody was told of it earlier either, its end is
 * not worth telling.
 */
async function isKeptSilent(
  tx: Transaction,
  row: StateRow,
  change: Told,
  at: number,
  timezone: string,
): Promise<boolean> {
  const { type, previousStatus } = change.decision;
  if (isAlarm(type)) {
    const until = await silencedUntil(tx, row, at, timezone);
    const kept = { ...change, details: { ...change.details, silencedSince: at } };
    if (until !== null) await keepBack(tx, row.id, kept, until);
    else forgetKeptBack(tx, row.id);
    return until !== null;
  }
  if (type !== 'snitch.reporting' || !(await keptBackOf(tx, row.id))) return false;
  forgetKeptBack(tx, row.id);
  return row.thread_id === null && previousStatus !== 'paused';
}

/**
 * The notice to one case that the service was blind.
 *
 * @param options `told`: it is sent to members and to webhooks that want notices; otherwise it is only listed
 */
export async function insertBlindNotice(
  tx: Transaction,
  caseId: string,
  notice: BlindNotice,
  { now, told }: { now: number; told: boolean },
): Promise<void> {
  const id = newAlertId();
  await tx.run(
    'INSERT INTO alerts (id, case_id, type, at, notice) VALUES (?, ?, ?, ?, ?)',
    id,
    caseId,
    BLIND_NOTICE,
    now,
    JSON.stringify(notice),
  );
  if (!told) return;
  const routes = routeOfNotice(await noticedTargets(tx, caseId), now);
  await insertDeliveries(tx, { caseId, alertId: id }, routes, now);
}

/**
 * The notice that a service refuses what is sent to a channel. It goes to everybody else in the case who gets notices.
 */
export async function insertRefusalNotice(
  tx: Transaction,
  caseId: string,
  refusal: Refusal,
  now: number,
): Promise<void> {
  const id = newAlertId();
  await tx.run(
    'INSERT INTO alerts (id, case_id, type, at, notice) VALUES (?, ?, ?, ?, ?)',
    id,
    caseId,
    REFUSAL_NOTICE,
    now,
    JSON.stringify(refusal),
  );
  const routes = routeOfRefusal(await noticedTargets(tx, caseId), refusal.channel.id, now);
  await insertDeliveries(tx, { caseId, alertId: id }, routes, now);
}

/** With only the webhooks that want notices. */
async function noticedTargets(tx: Transaction, caseId: string): Promise<Targets> {
  const webhooks = await tx.all<{ id: string }>(
    'SELECT id FROM webhooks WHERE case_id = +? AND notices = 1 ORDER BY created_at, id',
    caseId,
  );
  return { ...(await targetsOf(tx, caseId)), webhooks: webhooks.map(({ id }) => id) };
}

/** An alert as if a snitch had reported for the first time, sent to one target to show that it works. */
export async function insertTestAlert(
  tx: Transaction,
  act: Act,
  caseId: string,
  route: Route,
  now: number,
): Promise<Delivery | null> {
  const target = await targetOf(tx, caseId, route);
  if (!target) return null;
  await recordTest(tx, act, caseId, target);
  const id = newAlertId();
  const decision: AlertDecision = { type: 'snitch.reporting', status: 'healthy', previousStatus: 'pending' };
  const sample = { token: TEST_TOKEN, name: 'Test alert', notes: 'This is only a test.', tags: ['test'] };
  const details: AlertDetails = {
    interval: 'daily',
    checkedInAt: null,
    lastCheckInAt: null,
    deadlineAt: null,
    nextDueAt: null,
    message: null,
    exitStatus: null,
    threadId: null,
  };
  await insertRow(tx, { id, caseId, at: now, type: decision.type, details }, alertSnitch(sample, decision));
  await insertDeliveries(tx, { caseId, alertId: id }, [route], now);
  const [delivery] = await listDeliveriesOf(tx, id);
  return delivery ?? null;
}

async function targetOf(tx: Reading, caseId: string, { channel, target }: Route): Promise<Target | null> {
  if (channel === 'webhook') {
    const webhook = await getWebhook(tx, caseId, target);
    return webhook && { id: target, name: hostOf(webhook), channel };
  }
  if (channel === 'email') {
    const { members } = await targetsOf(tx, caseId);
    return members.includes(target) ? { id: target, name: target, channel } : null;
  }
  const found = await getChannel(tx, caseId, target);
  return found?.kind === channel ? { id: target, name: found.name, channel } : null;
}

export const GET_ALERT = `${SELECT} WHERE a.id = +?`;

export async function getAlert(tx: Reading, id: string): Promise<Alert | null> {
  const row = await tx.get<AlertRow>(GET_ALERT, id);
  return row ? toAlert(row) : null;
}

/** Newest first; of one snitch, or of the whole case if `token` is null. */
export async function listAlerts(
  tx: Reading,
  caseId: string,
  token: string | null,
  page: Page,
): Promise<AlertWithDeliveries[]> {
  const conditions = ['a.case_id = +?'];
  const values: Value[] = [caseId];
  if (token !== null) {
    conditions.push('a.token = +?');
    values.push(token);
  }
  if (page.behind) {
    conditions.push('(a.at, a.id) < (+?, +?)');
    values.push(page.behind.at, page.behind.id);
  } else if (page.before && 'at' in page.before) {
    conditions.push('a.at < +?');
    values.push(page.before.at);
  } else if (page.before) {
    const last = await getAlert(tx, page.before.id);
    if (last?.caseId !== caseId) return [];
    conditions.push('(a.at, a.id) < (+?, +?)');
    values.push(last.at, last.id);
  }
  const rows = await tx.all<AlertRow>(
    `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY a.at DESC, a.id DESC LIMIT +?`,
    ...values,
    page.limit,
  );
  const alerts: AlertWithDeliveries[] = [];
  for (const row of rows) {
    alerts.push({ alert: toAlert(row), deliveries: await listDeliveriesOf(tx, row.id) });
  }
  return alerts;
}
