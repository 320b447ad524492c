import type { Act } from '../../core/activity/activity.ts';
import { assertRoom } from '../../core/resource-limits.ts';
import type { Webhook } from '../../core/webhook.ts';
import { newId, newWebhookSecret } from '../identifiers.ts';
import type { Reading, Transaction } from '../transaction.ts';
import type { WebhookOptions } from '../webhooks.ts';
import { recordWebhook } from './activity/of-targets.ts';
import { requireCase } from './cases.ts';
import { countTargets } from './channels.ts';
import { lookAnew } from './routes/look-anew.ts';
import { deleteRoute } from './routes/rules.ts';

interface WebhookRow {
  id: string;
  case_id: string;
  url: string;
  secret: string;
  previous_secret: string | null;
  previous_secret_until: number | null;
  notices: number;
  created_at: number;
}

const COLUMNS = 'id, case_id, url, secret, previous_secret, previous_secret_until, notices, created_at';

export async function createWebhook(
  tx: Transaction,
  act: Act,
  caseId: string,
  url: string,
  now: number,
  { notices = false, most = Number.POSITIVE_INFINITY }: WebhookOptions = {},
): Promise<Webhook> {
  await requireCase(tx, caseId);
  assertRoom('webhooks', await countTargets(tx, caseId), most);
  const webhook: Webhook = {
    id: newId('hook'),
    caseId,
    url,
    secret: newWebhookSecret(),
    previousSecret: null,
    previousSecretUntil: null,
    notices,
    createdAt: now,
  };
  await tx.run(
    'INSERT INTO webhooks (id, case_id, url, secret, notices, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    webhook.id,
    caseId,
    url,
    webhook.secret,
    notices ? 1 : 0,
    now,
  );
  tx.forget();
  await recordWebhook(tx, act, 'webhook.created', webhook);
  return webhook;
}

export async function getWebhook(tx: Reading, caseId: string, id: string): Promise<Webhook | null> {
  const row = await tx.get<WebhookRow>(
    `SELECT ${COLUMNS} FROM webhooks WHERE id = ? AND case_id = ?`,
    id,
    caseId,
  );
  return row ? toWebhook(row) : null;
}

export async function listWebhooks(tx: Reading, caseId: string): Promise<Webhook[]> {
  const rows = await tx.all<WebhookRow>(
    `SELECT ${COLUMNS} FROM webhooks WHERE case_id = +? ORDER BY created_at DESC, id`,
    caseId,
  );
  return rows.map(toWebhook);
}

/** Deliveries that wait for the webhook die at their next attempt, with the reason. */
export async function deleteWebhook(tx: Transaction, act: Act, caseId: string, id: string): Promise<boolean> {
  const webhook = await getWebhook(tx, caseId, id);
  if (!webhook) return false;
  await tx.run('DELETE FROM webhooks WHERE id = ?', id);
  tx.forget();
  await recordWebhook(tx, act, 'webhook.deleted', webhook);
  await deleteRoute(tx, caseId, id);
  await lookAnew(tx, { channel: 'webhook', target: id });
  return true;
}

/** Gives the webhook a new secret; the one before stays valid until `previousUntil`. */
export async function rotateWebhookSecret(
  tx: Transaction,
  act: Act,
  caseId: string,
  id: string,
  previousUntil: number,
): Promise<Webhook | null> {
  await tx.run(
    `UPDATE webhooks SET previous_secret = secret, previous_secret_until = ?, secret = ?
     WHERE case_id = ? AND id = ?`,
    previousUntil,
    newWebhookSecret(),
    caseId,
    id,
  );
  const webhook = await getWebhook(tx, caseId, id);
  if (webhook) await recordWebhook(tx, act, 'webhook.secret_changed', webhook);
  return webhook;
}

function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    caseId: row.case_id,
    url: row.url,
    secret: row.secret,
    previousSecret: row.previous_secret,
    previousSecretUntil: row.previous_secret_until,
    notices: row.notices === 1,
    createdAt: row.created_at,
  };
}
