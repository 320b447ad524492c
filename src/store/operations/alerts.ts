import type { Act } from '../../core/activity/activity.ts';
import {
  type Alert,
  type AlertDecision,
  type AlertDetails,
  alertSnitch,
  BLIND_NOTICE,
  type BlindNotice,
  REFUSAL_NOTICE,
  type Refusal,
} from '../../core/alert.ts';
import type { AlertWithDeliveries, Delivery } from '../../core/delivery.ts';
import {
  type Route,
  routeOfRefusal,
  routeToAddresses,
  routeToChannels,
  routeToWebhooks,
} from '../../core/routing.ts';
import type { SnitchState } from '../../core/snitch.ts';
import { newId } from '../identifiers.ts';
import type { Page } from '../page.ts';
import type { Reading, Transaction, Value } from '../transaction.ts';
import { hostOf, recordTest, type Target } from './activity/of-targets.ts';
import { type AlertCause, detailsOf } from './alert-details.ts';
import { type AlertRow, insertRow, SELECT, targetsOf, toAlert, writeAlert } from './alert-rows.ts';
import { getChannel } from './channels.ts';
import { insertDeliveries, listDeliveriesOf } from './deliveries.ts';
import { countChange, flappingBegins, openFlap } from './flapping.ts';
import type { StateRow } from './states.ts';
import { getWebhook } from './webhooks.ts';

/**
 * Decides an alert: writes it with one delivery per target, in the transaction of the state change itself. Of a snitch
 * that flaps, the alert is counted instead.
 *
 * @returns the id of the incident's first alert, which the state keeps
 */
export async function insertAlert(
  tx: Transaction,
  row: StateRow,
  decision: AlertDecision,
  after: SnitchState,
  cause: AlertCause,
): Promise<string> {
  const change = { decision, details: await detailsOf(tx, row, decision, after, cause) };
  const counted = await countChange(tx, row.id, change, cause.at);
  if (counted) return row.thread_id ?? counted.alertId;
  const flapping = await flappingBegins(tx, row.token, cause.at);
  const details = flapping ? { ...change.details, flapping } : change.details;
  const id = await writeAlert(tx, row, { decision, details }, cause.at);
  if (flapping) await openFlap(tx, row.id, change, { at: cause.at, alertId: id });
  return row.thread_id ?? id;
}

/**
 * The notice to one case that the service was blind.
 *
 * @param options `told`: its members are sent it, and the webhooks that want notices; else it is only listed
 */
export async function insertBlindNotice(
  tx: Transaction,
  caseId: string,
  notice: BlindNotice,
  { now, told }: { now: number; told: boolean },
): Promise<void> {
  const id = newId('alert');
  await tx.run(
    'INSERT INTO alerts (id, case_id, type, at, notice) VALUES (?, ?, ?, ?, ?)',
    id,
    caseId,
    BLIND_NOTICE,
    now,
    JSON.stringify(notice),
  );
  if (!told) return;
  const { members, channels } = await targetsOf(tx, caseId);
  const routes = [
    ...routeToWebhooks(await noticedWebhooks(tx, caseId)),
    ...routeToAddresses(members),
    ...routeToChannels(channels, { event: 'blind', tags: [], isFirst: false, told: new Set() }),
  ];
  await insertDeliveries(tx, caseId, id, routes, now);
}

/** The notice to one case that a service refuses what is sent to a channel, to whoever else is told of notices. */
export async function insertRefusalNotice(
  tx: Transaction,
  caseId: string,
  refusal: Refusal,
  now: number,
): Promise<void> {
  const id = newId('alert');
  await tx.run(
    'INSERT INTO alerts (id, case_id, type, at, notice) VALUES (?, ?, ?, ?, ?)',
    id,
    caseId,
    REFUSAL_NOTICE,
    now,
    JSON.stringify(refusal),
  );
  const { members, channels } = await targetsOf(tx, caseId);
  const routes = [
    ...routeToWebhooks(await noticedWebhooks(tx, caseId)),
    ...routeToAddresses(members),
    ...routeOfRefusal(channels, refusal.channel.id),
  ];
  await insertDeliveries(tx, caseId, id, routes, now);
}

/** The webhooks that want notices. */
async function noticedWebhooks(tx: Transaction, caseId: string): Promise<string[]> {
  const webhooks = await tx.all<{ id: string }>(
    'SELECT id FROM webhooks WHERE case_id = +? AND notices = 1 ORDER BY created_at, id',
    caseId,
  );
  return webhooks.map(({ id }) => id);
}

/** An alert as if a snitch had reported for the first time, to one target: shows that it works. */
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
  const id = newId('alert');
  const decision: AlertDecision = { type: 'snitch.reporting', status: 'healthy', previousStatus: 'pending' };
  const sample = { token: 'test', name: 'Test alert', notes: 'This is only a test.', tags: ['test'] };
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
  await insertDeliveries(tx, caseId, id, [route], now);
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

export async function getAlert(tx: Reading, id: string): Promise<Alert | null> {
  const row = await tx.get<AlertRow>(`${SELECT} WHERE a.id = +?`, id);
  return row ? toAlert(row) : null;
}

/** Newest first; of one snitch, or of the whole case. */
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
