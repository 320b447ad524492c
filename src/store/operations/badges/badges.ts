/** Badges as people create and delete them, and what is shown to anybody who knows a badge's id. */
import type { Act } from '../../../core/activity/activity.ts';
import { type Badge, type BadgeSubject, labelOf } from '../../../core/badges/badge.ts';
import type { NewBadge } from '../../../core/badges/input.ts';
import { Invalid } from '../../../core/errors.ts';
import { assertRoom } from '../../../core/resource-limits.ts';
import type { Status } from '../../../core/snitch.ts';
import type { ShownBadge, TagStatuses } from '../../badges.ts';
import { newId } from '../../identifiers.ts';
import type { Reading, Transaction } from '../../transaction.ts';
import { recordBadge } from '../activity/of-badges.ts';
import { requireCase } from '../cases.ts';

interface BadgeRow {
  id: string;
  case_id: string;
  token: string | null;
  name: string | null;
  public_name: string | null;
  tag: string | null;
  label: string | null;
  created_at: number;
}

const BADGES = `SELECT b.id, b.case_id, n.token, n.name, n.public_name, b.tag, b.label, b.created_at
  FROM badges AS b LEFT JOIN snitches AS n ON n.id = b.snitch_id`;

export async function createBadge(
  tx: Transaction,
  act: Act,
  caseId: string,
  { subject, label }: NewBadge,
  now: number,
  most = Number.POSITIVE_INFINITY,
): Promise<Badge> {
  await requireCase(tx, caseId);
  assertRoom('badges', await countBadges(tx, caseId), most);
  const { of, snitchId } = await subjectOf(tx, caseId, subject);
  const badge: Badge = { id: newId('badge'), caseId, subject: of, label, createdAt: now };
  await tx.run(
    'INSERT INTO badges (id, case_id, snitch_id, tag, label, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    badge.id,
    caseId,
    snitchId,
    of.kind === 'tag' ? of.tag : null,
    label,
    now,
  );
  await recordBadge(tx, act, 'badge.created', badge);
  return badge;
}

/**
 * A tag can be one that no snitch has yet.
 *
 * @throws Invalid for a token of no snitch of the case
 */
async function subjectOf(
  tx: Reading,
  caseId: string,
  subject: NewBadge['subject'],
): Promise<{ of: BadgeSubject; snitchId: number | null }> {
  if (subject.kind === 'tag') return { of: subject, snitchId: null };
  const { token } = subject;
  const row = await tx.get<{ id: number; name: string; public_name: string | null }>(
    'SELECT id, name, public_name FROM snitches WHERE token = +? AND case_id = +?',
    token,
    caseId,
  );
  if (!row) throw new Invalid([{ attribute: 'token', message: 'names no snitch' }]);
  return { of: { kind: 'snitch', token, name: row.name, publicName: row.public_name }, snitchId: row.id };
}

async function countBadges(tx: Reading, caseId: string): Promise<number> {
  const row = await tx.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM badges WHERE case_id = ?',
    caseId,
  );
  return row?.count ?? 0;
}

export async function getBadge(tx: Reading, caseId: string, id: string): Promise<Badge | null> {
  const row = await tx.get<BadgeRow>(`${BADGES} WHERE b.id = ? AND b.case_id = ?`, id, caseId);
  return row ? toBadge(row) : null;
}

export async function listBadges(tx: Reading, caseId: string): Promise<Badge[]> {
  const rows = await tx.all<BadgeRow>(
    `${BADGES} WHERE b.case_id = +? ORDER BY b.created_at DESC, b.id`,
    caseId,
  );
  return rows.map(toBadge);
}

export async function deleteBadge(tx: Transaction, act: Act, caseId: string, id: string): Promise<boolean> {
  const badge = await getBadge(tx, caseId, id);
  if (!badge) return false;
  await tx.run('DELETE FROM badges WHERE id = ?', id);
  await recordBadge(tx, act, 'badge.deleted', badge);
  return true;
}

export async function findBadge(tx: Reading, id: string): Promise<ShownBadge | null> {
  const row = await tx.get<BadgeRow & { timezone: string; tags: string | null; status: Status | null }>(
    `SELECT b.id, b.case_id, n.token, n.name, n.public_name, b.tag, b.label, b.created_at, c.timezone, n.tags, s.status
     FROM badges AS b CROSS JOIN cases AS c ON c.id = b.case_id
       LEFT JOIN snitches AS n ON n.id = b.snitch_id LEFT JOIN snitch_states AS s ON s.id = b.snitch_id
     WHERE b.id = +? AND c.on_hold = 0`,
    id,
  );
  if (!row) return null;
  const { case_id: caseId, timezone, tag, token, tags, status } = row;
  const shown = { label: labelOf(toBadge(row)), caseId, timezone };
  if (tag !== null) return { ...shown, of: { kind: 'tag', tag } };
  if (token === null || tags === null || status === null) return null;
  return { ...shown, of: { kind: 'snitch', token, tags: JSON.parse(tags) as string[], status } };
}

/** How many snitches are read without a break: a tag may have very many. */
const SLICE = 500;

export async function tagStatuses(
  tx: Reading,
  caseId: string,
  tag: string,
  after: number,
): Promise<TagStatuses> {
  const rows = await tx.all<{ status: Status; last: number; count: number }>(
    `SELECT s.status, MAX(s.id) AS last, COUNT(*) AS count FROM (
       SELECT snitch_id FROM snitch_tags WHERE case_id = +? AND tag = +? AND snitch_id > +?
       ORDER BY snitch_id LIMIT +?
     ) AS t CROSS JOIN snitch_states AS s ON s.id = t.snitch_id GROUP BY s.status`,
    caseId,
    tag,
    after,
    SLICE,
  );
  const statuses = new Set(rows.map(({ status }) => status));
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  const isDone = count < SLICE || rows.some(({ status }) => status === 'failed');
  return { statuses, next: isDone ? null : Math.max(...rows.map(({ last }) => last)) };
}

function toBadge(row: BadgeRow): Badge {
  const { id, token, name, public_name: publicName, tag, label } = row;
  const subject: BadgeSubject =
    tag === null
      ? { kind: 'snitch', token: token ?? '', name: name ?? '', publicName }
      : { kind: 'tag', tag };
  return { id, caseId: row.case_id, subject, label, createdAt: row.created_at };
}
