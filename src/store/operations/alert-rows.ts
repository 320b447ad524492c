/** The rows of alerts, and the deliveries that are written with them. */
import {
  type Alert,
  type AlertDecision,
  type AlertDetails,
  type AlertSnitch,
  alertSnitch,
  BLIND_NOTICE,
  type BlindNotice,
  isAlarm,
  REFUSAL_NOTICE,
  type Refusal,
} from '../../core/alert.ts';
import { eventOf } from '../../core/channel.ts';
import { type Occasion, route, type Targets } from '../../core/routing.ts';
import { MINUTE } from '../../text/durations.ts';
import { newAlertId } from '../identifiers.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { keepSnitch, snitchOf } from './alert-texts.ts';
import { listRoutedChannels } from './channels.ts';
import { insertDeliveries } from './deliveries.ts';
import { listRoutes } from './routes/rules.ts';
import { sinceOf, sparedOf, toldOf, waitingFor } from './routes/waiting.ts';
import type { StateRow } from './states.ts';

export interface AlertRow {
  id: string;
  case_id: string;
  token: string | null;
  type: Alert['type'];
  at: number;
  snitch: string | null;
  details: string | null;
  notice: string | null;
  text: string | null;
}

export const SELECT = `SELECT a.id, a.case_id, a.token, a.type, a.at, a.snitch, a.details, a.notice, t.text
  FROM alerts AS a LEFT JOIN alert_texts AS t ON t.id = a.text_id`;

/** What an alert reports: how a snitch changed, and what is known about it. */
export interface Told {
  decision: AlertDecision;
  details: AlertDetails;
}

/**
 * How far the last alert of a snitch may be ahead of the next one, in milliseconds. A sweep has one time from start to
 * end, and what arrives meanwhile is later. Anything further ahead was written by a wrong clock.
 */
export const OVERTAKEN_BY = MINUTE;

export interface NamedRow {
  name: string;
  notes: string;
  tags: string;
  alert_email: string;
  /** The time of the last alert of the snitch, if that is after `decidedAt`. */
  overtaken: number | null;
}

export const SELECT_NAMED = `SELECT name, notes, tags, alert_email,
    (SELECT MAX(at) FROM alerts WHERE alerts.token = snitches.token AND at > +? AND at < +?) AS overtaken
  FROM snitches WHERE token = ?`;

/**
 * Writes an alert of a snitch with one delivery per target, and returns its id. Its time is later than that of the
 * alert before it, so that the latest alert by time shows how the snitch is now.
 */
export async function writeAlert(
  tx: Transaction,
  { token, case_id: caseId }: Pick<StateRow, 'token' | 'case_id'>,
  { decision, details }: Told,
  decidedAt: number,
): Promise<string> {
  const snitch = await tx.get<NamedRow>(SELECT_NAMED, decidedAt, decidedAt + OVERTAKEN_BY, token);
  if (!snitch) throw new Error(`snitch ${token} has a state and no name`);
  const id = newAlertId();
  const { name, notes, overtaken } = snitch;
  const at = overtaken === null ? decidedAt : overtaken + 1;
  const tags = JSON.parse(snitch.tags) as string[];
  const shown = alertSnitch({ token, name, notes, tags }, decision);
  await insertRow(tx, { id, caseId, at, type: decision.type, details }, shown);
  const targets = await targetsOf(tx, caseId);
  const occasion = await occasionOf(tx, targets, { caseId, token, decision, details, tags, at });
  const routes = route(JSON.parse(snitch.alert_email) as string[], targets, occasion);
  await insertDeliveries(tx, { caseId, alertId: id, token }, routes, at);
  const { type } = decision;
  tx.announce({ kind: 'alert', alertId: id, type, token, name, deliveries: routes.length });
  return id;
}

export const INSERT_ALERT =
  'INSERT INTO alerts (id, case_id, token, type, at, snitch, text_id, details) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';

export async function insertRow(
  tx: Transaction,
  { id, caseId, at, type, details }: Pick<Alert, 'id' | 'caseId' | 'at' | 'type'> & { details: AlertDetails },
  snitch: AlertSnitch,
): Promise<void> {
  const { json, textId } = await keepSnitch(tx, snitch);
  tx.put(INSERT_ALERT, id, caseId, snitch.token, type, at, json, textId, JSON.stringify(details));
}

/** The recipients of a case's alerts: read once, however many alerts a sweep decides in one transaction. */
export function targetsOf(tx: Reading, caseId: string): Promise<Targets> {
  return tx.remember(`targets ${caseId}`, () => readTargets(tx, caseId));
}

async function readTargets(tx: Reading, caseId: string): Promise<Targets> {
  const [owner, webhooks, channels, routes] = await Promise.all([
    tx.get<{ members: string }>('SELECT members FROM cases WHERE id = ?', caseId),
    tx.all<{ id: string }>('SELECT id FROM webhooks WHERE case_id = +? ORDER BY created_at, id', caseId),
    listRoutedChannels(tx, caseId),
    tx.remember(`routes ${caseId}`, () => listRoutes(tx, caseId)),
  ]);
  return {
    members: owner ? (JSON.parse(owner.members) as string[]) : [],
    webhooks: webhooks.map(({ id }) => id),
    channels,
    routes,
  };
}

interface Decided extends Told {
  caseId: string;
  token: string;
  tags: readonly string[];
  at: number;
}

/** Reads only what some route of the case needs. */
async function occasionOf(
  tx: Reading,
  { channels, routes }: Targets,
  { caseId, token, decision, details: { threadId }, tags, at }: Decided,
): Promise<Occasion> {
  const ends = decision.type === 'snitch.reporting';
  const spared = ends ? await sparedOf(tx, { caseId, token, threadId }) : new Set<string>();
  const rules = [...channels, ...routes.values()];
  const isTimed = rules.some(({ after, hours }) => after > 0 || hours !== null);
  return {
    event: eventOf(decision.type),
    tags,
    isFirst: decision.previousStatus === 'pending',
    spared,
    told: rules.length > 0 || spared.size > 0 ? await toldOf(tx, token, threadId) : new Set(),
    waiting: isTimed ? await waitingFor(tx, token) : new Set(),
    now: at,
    since: isTimed && isAlarm(decision.type) ? await sinceOf(tx, { token, threadId, at }) : at,
  };
}

export function toAlert(row: AlertRow): Alert {
  const { id, case_id: caseId, at } = row;
  const none = { token: null, snitch: null, details: null } as const;
  if (row.type === REFUSAL_NOTICE) {
    const refusal = JSON.parse(row.notice ?? '') as Refusal;
    return { id, caseId, at, type: row.type, ...none, notice: null, refusal };
  }
  if (row.type === BLIND_NOTICE) {
    const notice = JSON.parse(row.notice ?? '') as BlindNotice;
    return { id, caseId, at, type: row.type, ...none, notice };
  }
  return {
    id,
    caseId,
    at,
    type: row.type,
    token: row.token ?? '',
    snitch: snitchOf(row.snitch ?? '', row.text),
    details: JSON.parse(row.details ?? '') as AlertDetails,
    notice: null,
  };
}
