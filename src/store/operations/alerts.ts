import {
  type AlertDecision,
  type AlertDetails,
  type AlertKind,
  type AlertSnitch,
  alertSnitch,
  BLIND_NOTICE,
  type BlindNotice,
} from '../../core/alert.ts';
import { route, routeToAddresses, routeToWebhooks } from '../../core/routing.ts';
import type { SnitchState } from '../../core/snitch.ts';
import { newId } from '../identifiers.ts';
import type { Alert, AlertWithDeliveries, CheckIn, Delivery, Page } from '../store.ts';
import type { Transaction, Value } from '../transaction.ts';
import { insertDeliveries, listDeliveriesOf } from './deliveries.ts';
import { openRunOf } from './open-run.ts';
import type { StateRow } from './states.ts';
import { getWebhook } from './webhooks.ts';

interface AlertRow {
  id: string;
  case_id: string;
  token: string | null;
  type: AlertKind | typeof BLIND_NOTICE;
  at: number;
  snitch: string | null;
  details: string | null;
  notice: string | null;
}

const COLUMNS = 'id, case_id, token, type, at, snitch, details, notice';

const INSERT =
  'INSERT INTO alerts (id, case_id, token, type, at, snitch, details) VALUES (?, ?, ?, ?, ?, ?, ?)';

/** What moved a snitch: the check-in or the deadline that an alert tells of. */
export interface AlertCause {
  at: number;
  checkIn?: Pick<CheckIn, 'message' | 'exitStatus' | 'at' | 'output'> & { id: number };
  deadlineAt?: number | null;
}

/**
 * Decides an alert: writes it with one delivery per target, in the transaction of the state change itself.
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
  const snitch = await tx.get<{ name: string; notes: string; tags: string; alert_email: string }>(
    'SELECT name, notes, tags, alert_email FROM snitches WHERE token = ?',
    row.token,
  );
  if (!snitch) throw new Error(`snitch ${row.token} has a state and no name`);
  const id = newId('alert');
  const tags = JSON.parse(snitch.tags) as string[];
  const details: AlertDetails = {
    interval: after.interval,
    checkedInAt: decision.type === 'snitch.reporting' ? row.checked_in_at : after.checkedInAt,
    lastCheckInAt: decision.type === 'snitch.reporting' ? row.last_check_in_at : after.lastCheckInAt,
    deadlineAt: cause.deadlineAt ?? null,
    nextDueAt: after.dueAt,
    message: cause.checkIn?.message ?? null,
    exitStatus: cause.checkIn?.exitStatus ?? null,
    threadId: row.thread_id,
    ...(await circumstances(tx, row, decision, after, cause)),
  };
  await tx.run(
    INSERT,
    id,
    row.case_id,
    row.token,
    decision.type,
    cause.at,
    JSON.stringify(alertSnitch({ token: row.token, name: snitch.name, notes: snitch.notes, tags }, decision)),
    JSON.stringify(details),
  );
  const routes = route(JSON.parse(snitch.alert_email) as string[], await targetsOf(tx, row.case_id));
  await insertDeliveries(tx, row.case_id, id, routes, cause.at);
  return row.thread_id ?? id;
}

/** What only some alerts have to tell. */
async function circumstances(
  tx: Transaction,
  row: StateRow,
  decision: AlertDecision,
  after: SnitchState,
  { at, checkIn, deadlineAt }: AlertCause,
): Promise<Partial<AlertDetails>> {
  if (checkIn) {
    return {
      ...(checkIn.output === null ? {} : { checkInId: checkIn.id }),
      ...(checkIn.at < at ? { ranAt: checkIn.at } : {}),
    };
  }
  if (after.pause) return { pausedUntil: after.pause.until.kind };
  if (decision.type !== 'snitch.missing') return {};
  const startedAt = await openRunOf(tx, row);
  const missingSince = decision.previousStatus === 'failed' ? await missingSinceOf(tx, row) : deadlineAt;
  return { ...(startedAt === null ? {} : { startedAt }), ...(missingSince == null ? {} : { missingSince }) };
}

/** As the alert before says, if it is of the same silence. */
async function missingSinceOf(tx: Transaction, row: StateRow): Promise<number | null> {
  const last = await tx.get<{ snitch: string; details: string }>(
    `SELECT snitch, details FROM alerts WHERE token = ? AND type = 'snitch.missing' AND at > ? ORDER BY at DESC, id DESC LIMIT 1`,
    row.token,
    row.last_check_in_at ?? 0,
  );
  if (!last) return null;
  const { missingSince, deadlineAt } = JSON.parse(last.details) as AlertDetails;
  const { previous_status: before } = JSON.parse(last.snitch) as AlertSnitch;
  // A reminder from before this was kept tells only when it came.
  return missingSince ?? (before === 'missing' ? null : deadlineAt);
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
  const { members } = await targetsOf(tx, caseId);
  const webhooks = await tx.all<{ id: string }>(
    'SELECT id FROM webhooks WHERE case_id = ? AND notices = 1 ORDER BY created_at, id',
    caseId,
  );
  const routes = [...routeToWebhooks(webhooks.map((webhook) => webhook.id)), ...routeToAddresses(members)];
  await insertDeliveries(tx, caseId, id, routes, now);
}

/** An alert as if a snitch had reported for the first time, to one webhook: shows that the target works. */
export async function insertTestAlert(
  tx: Transaction,
  caseId: string,
  webhookId: string,
  now: number,
): Promise<Delivery | null> {
  const webhook = await getWebhook(tx, caseId, webhookId);
  if (!webhook) return null;
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
  await tx.run(
    INSERT,
    id,
    caseId,
    sample.token,
    decision.type,
    now,
    JSON.stringify(alertSnitch(sample, decision)),
    JSON.stringify(details),
  );
  await insertDeliveries(tx, caseId, id, [{ channel: 'webhook', target: webhookId }], now);
  const [delivery] = await listDeliveriesOf(tx, id);
  return delivery ?? null;
}

async function targetsOf(
  tx: Transaction,
  caseId: string,
): Promise<{ members: string[]; webhooks: string[] }> {
  const owner = await tx.get<{ members: string }>('SELECT members FROM cases WHERE id = ?', caseId);
  const webhooks = await tx.all<{ id: string }>(
    'SELECT id FROM webhooks WHERE case_id = ? ORDER BY created_at, id',
    caseId,
  );
  return {
    members: owner ? (JSON.parse(owner.members) as string[]) : [],
    webhooks: webhooks.map(({ id }) => id),
  };
}

export async function getAlert(tx: Transaction, id: string): Promise<Alert | null> {
  const row = await tx.get<AlertRow>(`SELECT ${COLUMNS} FROM alerts WHERE id = ?`, id);
  return row ? toAlert(row) : null;
}

/** Newest first; of one snitch, or of the whole case. */
export async function listAlerts(
  tx: Transaction,
  caseId: string,
  token: string | null,
  page: Page,
): Promise<AlertWithDeliveries[]> {
  const conditions = ['case_id = ?'];
  const values: Value[] = [caseId];
  if (token !== null) {
    conditions.push('token = ?');
    values.push(token);
  }
  if (page.before && 'at' in page.before) {
    conditions.push('at < ?');
    values.push(page.before.at);
  } else if (page.before) {
    const last = await getAlert(tx, page.before.id);
    if (last?.caseId !== caseId) return [];
    conditions.push('(at, id) < (?, ?)');
    values.push(last.at, last.id);
  }
  const rows = await tx.all<AlertRow>(
    `SELECT ${COLUMNS} FROM alerts WHERE ${conditions.join(' AND ')} ORDER BY at DESC, id DESC LIMIT ?`,
    ...values,
    page.limit,
  );
  const alerts: AlertWithDeliveries[] = [];
  for (const row of rows) {
    alerts.push({ alert: toAlert(row), deliveries: await listDeliveriesOf(tx, row.id) });
  }
  return alerts;
}

function toAlert(row: AlertRow): Alert {
  const { id, case_id: caseId, at } = row;
  if (row.type === BLIND_NOTICE) {
    const notice = JSON.parse(row.notice ?? '') as BlindNotice;
    return { id, caseId, at, type: row.type, token: null, snitch: null, details: null, notice };
  }
  return {
    id,
    caseId,
    at,
    type: row.type,
    token: row.token ?? '',
    snitch: JSON.parse(row.snitch ?? '') as AlertSnitch,
    details: JSON.parse(row.details ?? '') as AlertDetails,
    notice: null,
  };
}
