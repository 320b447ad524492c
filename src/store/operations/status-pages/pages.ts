/** The rows of status pages. */
import type { Act } from '../../../core/activity/activity.ts';
import { Invalid, NotFound, type Validation } from '../../../core/errors.ts';
import {
  type Announcement,
  type StatusPage,
  type StatusPageChanges,
  TITLE,
} from '../../../core/status-page/page.ts';
import { BLANK } from '../../../core/validation.ts';
import type { PublicPage } from '../../status-pages.ts';
import type { Reading, Transaction } from '../../transaction.ts';
import { recordPage, recordPageEdit } from '../activity/of-status-pages.ts';

interface PageRow {
  id: number;
  case_id: string;
  slug: string;
  title: string;
  tags: string;
  tag_groups: string;
  password_hash: string | null;
  announcement: string | null;
  announced_at: number | null;
  since: number;
}

const COLUMNS =
  'p.id, p.case_id, p.slug, p.title, p.tags, p.tag_groups, p.password_hash, p.announcement, p.announced_at, p.since';

export async function getStatusPage(tx: Reading, caseId: string): Promise<StatusPage | null> {
  const row = await tx.get<PageRow>(`SELECT ${COLUMNS} FROM status_pages AS p WHERE p.case_id = ?`, caseId);
  return row ? toPage(row) : null;
}

/** Null also if its case is on hold: the page is then as if it had never existed. */
export async function findStatusPage(tx: Reading, slug: string): Promise<PublicPage | null> {
  const row = await tx.get<PageRow & { timezone: string }>(
    `SELECT ${COLUMNS}, c.timezone FROM status_pages AS p CROSS JOIN cases AS c ON c.id = p.case_id
     WHERE p.slug = ? AND c.on_hold = 0`,
    slug,
  );
  return row ? { page: toPage(row), timezone: row.timezone } : null;
}

/**
 * @throws Invalid if another page has the slug, if the first call leaves out a field without a default, or if a password
 *   is to be kept that the page does not have
 */
export async function putStatusPage(
  tx: Transaction,
  act: Act,
  caseId: string,
  changes: StatusPageChanges,
  now: number,
): Promise<StatusPage> {
  if (!(await tx.get('SELECT 1 FROM cases WHERE id = ?', caseId))) throw new NotFound();
  const before = await getStatusPage(tx, caseId);
  if (before?.passwordHash === null && changes.keepsPassword) throw new Invalid([NO_PASSWORD]);
  const after = withChanges(before ?? (await newPage(caseId, changes, now)), changes, now);
  await refuseTaken(tx, after);
  const id = before === null ? await insertPage(tx, after) : await updatePage(tx, after);
  const page = { ...after, id };
  tx.forget();
  tx.announce({ kind: 'statusPage', caseId });
  if (before === null) await recordPage(tx, act, 'status_page.created', page);
  else await recordPageEdit(tx, act, before, page);
  return page;
}

/** Otherwise whoever sends back a page that was removed meanwhile would publish it without a password. */
const NO_PASSWORD: Validation = {
  attribute: 'password',
  message: 'is only how a password is shown, and there is none to keep: give one, or null for none',
};

async function newPage(
  caseId: string,
  { slug, tags, keepsPassword }: StatusPageChanges,
  now: number,
): Promise<StatusPage> {
  const missing: Validation[] = [];
  if (slug === undefined) missing.push({ attribute: 'slug', message: BLANK });
  if (tags === undefined) missing.push({ attribute: 'tags', message: BLANK });
  if (keepsPassword) missing.push(NO_PASSWORD);
  if (missing.length > 0) throw new Invalid(missing);
  const empty = { groups: [], passwordHash: null, announcement: null };
  return { id: 0, caseId, slug: slug ?? '', title: TITLE, tags: tags ?? [], ...empty, since: now };
}

function withChanges(page: StatusPage, changes: StatusPageChanges, now: number): StatusPage {
  const { slug, title, tags, groups, passwordHash, announcement } = changes;
  return {
    ...page,
    slug: slug ?? page.slug,
    title: title ?? page.title,
    tags: tags ?? page.tags,
    groups: groups ?? page.groups,
    passwordHash: passwordHash === undefined ? page.passwordHash : passwordHash,
    announcement: announcementAfter(page.announcement, announcement, now),
  };
}

function announcementAfter(
  before: Announcement | null,
  text: string | null | undefined,
  now: number,
): Announcement | null {
  if (text === undefined || text === before?.text) return before;
  return text === null ? null : { text, at: now };
}

async function refuseTaken(tx: Transaction, { caseId, slug }: StatusPage): Promise<void> {
  const row = await tx.get('SELECT 1 FROM status_pages WHERE slug = +? AND case_id <> +?', slug, caseId);
  if (row) throw new Invalid([{ attribute: 'slug', message: 'is taken: another page has this address' }]);
}

function insertPage(tx: Transaction, page: StatusPage) {
  return tx.insert(
    `INSERT INTO status_pages
       (slug, title, tags, tag_groups, password_hash, announcement, announced_at, case_id, since)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...valuesOf(page),
    page.caseId,
    page.since,
  );
}

async function updatePage(tx: Transaction, page: StatusPage): Promise<number> {
  await tx.run(
    `UPDATE status_pages SET slug = ?, title = ?, tags = ?, tag_groups = ?, password_hash = ?, announcement = ?,
       announced_at = ? WHERE id = ?`,
    ...valuesOf(page),
    page.id,
  );
  return page.id;
}

function valuesOf({ slug, title, tags, groups, passwordHash, announcement }: StatusPage) {
  const lists = [JSON.stringify(tags), JSON.stringify(groups)] as const;
  const said = [announcement?.text ?? null, announcement?.at ?? null] as const;
  return [slug, title, ...lists, passwordHash, ...said] as const;
}

export async function deleteStatusPage(tx: Transaction, act: Act, caseId: string): Promise<boolean> {
  const page = await getStatusPage(tx, caseId);
  if (!page) return false;
  await forgetPage(tx, caseId);
  await recordPage(tx, act, 'status_page.deleted', page);
  return true;
}

/** The changes stored for its strips are deleted a little later. */
export async function forgetPage(tx: Transaction, caseId: string): Promise<void> {
  await tx.run('DELETE FROM status_pages WHERE case_id = ?', caseId);
  tx.forget();
  tx.announce({ kind: 'statusPage', caseId });
}

function toPage(row: PageRow): StatusPage {
  return {
    id: row.id,
    caseId: row.case_id,
    slug: row.slug,
    title: row.title,
    tags: JSON.parse(row.tags) as string[],
    groups: JSON.parse(row.tag_groups) as string[],
    passwordHash: row.password_hash,
    announcement: row.announcement === null ? null : { text: row.announcement, at: row.announced_at ?? 0 },
    since: row.since,
  };
}
