import { timingSafeEqual } from 'node:crypto';
import type { Act } from '../../core/activity/activity.ts';
import type { ApiKey, Scope } from '../../core/api-key.ts';
import type { Case } from '../../core/case.ts';
import { assertRoom } from '../../core/resource-limits.ts';
import { hashApiKey, newApiKey, newId } from '../identifiers.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { record } from './activity/record.ts';
import { getCase, requireCase } from './cases.ts';

interface ApiKeyRow {
  id: string;
  case_id: string | null;
  name: string;
  scope: Scope;
  created_at: number;
  last_used_at: number | null;
  hash: string;
}

const COLUMNS = 'id, case_id, name, scope, created_at, last_used_at, hash';

/** Only the answer has the key itself: the store keeps its hash. */
export async function createApiKey(
  tx: Transaction,
  act: Act,
  settings: { caseId: string | null; name: string; scope: Scope },
  now: number,
  most = Number.POSITIVE_INFINITY,
): Promise<{ apiKey: ApiKey; key: string }> {
  await tx.lock(`case ${settings.caseId ?? ''}`);
  if (settings.caseId !== null) await requireCase(tx, settings.caseId);
  const kept = await tx.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM api_keys WHERE case_id IS NOT DISTINCT FROM ?',
    settings.caseId,
  );
  assertRoom('api_keys', kept?.count ?? 0, most);
  const key = newApiKey();
  const apiKey = await insertApiKey(tx, settings, key, now);
  const { caseId, scope, id, name } = apiKey;
  await record(tx, act, { caseId, action: 'key.created', subject: { id, name }, details: { scope } });
  return { apiKey, key };
}

async function insertApiKey(
  tx: Transaction,
  { caseId, name, scope }: { caseId: string | null; name: string; scope: Scope },
  key: string,
  now: number,
): Promise<ApiKey> {
  const apiKey: ApiKey = { id: newId('key'), caseId, name, scope, createdAt: now, lastUsedAt: null };
  await tx.run(
    'INSERT INTO api_keys (id, case_id, name, scope, hash, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    apiKey.id,
    caseId,
    name,
    scope,
    hashApiKey(key).toString('hex'),
    now,
  );
  return apiKey;
}

/**
 * Installs `key`, which came from outside, as the admin key of this name, and revokes any earlier key of that name.
 * With no key, it only revokes.
 *
 * @throws Error if the key already belongs to a case
 */
export async function provideAdminKey(
  tx: Transaction,
  name: string,
  key: string | null,
  now: number,
): Promise<void> {
  await tx.lock('admin keys');
  const hash = key === null ? null : hashApiKey(key).toString('hex');
  await tx.run(
    'DELETE FROM api_keys WHERE case_id IS NULL AND name = ? AND hash IS DISTINCT FROM ?',
    name,
    hash,
  );
  const known = key === null ? null : await findApiKey(tx, key);
  if (key === null || known?.apiKey.scope === 'admin') return;
  if (known)
    throw new Error(`${name}: this key is one of the case ${known.case?.name} already: make another`);
  await insertApiKey(tx, { caseId: null, name, scope: 'admin' }, key, now);
}

export async function findApiKey(
  tx: Reading,
  key: string,
): Promise<{ apiKey: ApiKey; case: Case | null } | null> {
  const hash = hashApiKey(key);
  const row = await tx.get<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys WHERE hash = ?`, hash.toString('hex'));
  return row && timingSafeEqual(Buffer.from(row.hash, 'hex'), hash) ? withCase(tx, row) : null;
}

export async function getApiKey(
  tx: Reading,
  id: string,
): Promise<{ apiKey: ApiKey; case: Case | null } | null> {
  const row = await tx.get<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`, id);
  return row ? withCase(tx, row) : null;
}

async function withCase(tx: Reading, row: ApiKeyRow): Promise<{ apiKey: ApiKey; case: Case | null }> {
  return { apiKey: toApiKey(row), case: row.case_id === null ? null : await getCase(tx, row.case_id) };
}

export async function listApiKeys(tx: Reading, caseId: string | null): Promise<ApiKey[]> {
  const rows = await tx.all<ApiKeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE case_id IS NOT DISTINCT FROM ? ORDER BY created_at DESC, id`,
    caseId,
  );
  return rows.map(toApiKey);
}

export async function deleteApiKey(
  tx: Transaction,
  act: Act,
  caseId: string | null,
  id: string,
): Promise<boolean> {
  const row = await tx.get<ApiKeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE case_id IS NOT DISTINCT FROM ? AND id = ?`,
    caseId,
    id,
  );
  if (!row) return false;
  await tx.run('DELETE FROM api_keys WHERE id = ?', id);
  if (caseId !== null) tx.announce({ kind: 'access', caseId, keyId: id });
  const { name, scope } = row;
  await record(tx, act, { caseId, action: 'key.deleted', subject: { id, name }, details: { scope } });
  return true;
}

export async function recordKeyUse(tx: Transaction, id: string, at: number): Promise<void> {
  await tx.run('UPDATE api_keys SET last_used_at = ? WHERE id = ?', at, id);
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    caseId: row.case_id,
    name: row.name,
    scope: row.scope,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
