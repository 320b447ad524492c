/** The needs of a snitch as people write them, and what is not allowed among them. */
import { Invalid } from '../../../core/errors.ts';
import { circleInWords, type NeedStep, needOf } from '../../../core/needs/needs.ts';
import type { Snitch, SnitchFields } from '../../../core/snitch.ts';
import type { Reading, Transaction } from '../../transaction.ts';
import { NOTHING_HELD } from './held-text.ts';

/** A snitch of a case. */
interface Of {
  id: number;
  caseId: string;
}

/**
 * JSON of the needs of the snitch `n`, without those deleted meanwhile. The rows are read in the order of their key,
 * which is the order in which they were named.
 */
export const NEEDS_OF_N = `SELECT json_group_array(coalesce('tag:' || d.tag, m.token))
  FROM needs AS d LEFT JOIN snitches AS m ON m.id = d.needed_id
  WHERE d.snitch_id = n.id AND (d.tag IS NOT NULL OR m.id IS NOT NULL)`;

export async function listNeeds(tx: Reading, id: number): Promise<string[]> {
  const row = await tx.get<{ needs: string }>(
    `SELECT (${NEEDS_OF_N}) AS needs FROM snitches AS n WHERE n.id = +?`,
    id,
  );
  return row === undefined ? [] : (JSON.parse(row.needs) as string[]);
}

/**
 * Replaces the needs of the snitch. Circles are looked for when everything that changes together is written
 * (`refuseCircle`).
 *
 * @throws Invalid for a token that belongs to no snitch of the case
 */
export async function writeNeeds(tx: Transaction, of: Of, needs: readonly string[]): Promise<void> {
  await forgetNeeds(tx, of.id);
  for (const [position, text] of needs.entries()) {
    const need = needOf(text);
    const neededId = 'token' in need ? await idOf(tx, of, need.token) : null;
    await tx.run(
      'INSERT INTO needs (snitch_id, position, case_id, needed_id, tag) VALUES (?, ?, ?, ?, ?)',
      of.id,
      position,
      of.caseId,
      neededId,
      'tag' in need ? need.tag : null,
    );
  }
  await tx.run(
    `UPDATE snitch_states SET needs = CASE WHEN needs IS NULL OR needs = '${NOTHING_HELD}' THEN ? ELSE needs END
     WHERE id = ?`,
    needs.length === 0 ? null : NOTHING_HELD,
    of.id,
  );
  tx.forget();
}

export async function forgetNeeds(tx: Transaction, id: number): Promise<void> {
  await tx.run('DELETE FROM needs WHERE snitch_id = ?', id);
}

async function idOf(tx: Reading, { caseId }: Of, token: string): Promise<number> {
  const row = await tx.get<{ id: number }>(
    'SELECT id FROM snitches WHERE token = +? AND case_id = +?',
    token,
    caseId,
  );
  if (row) return row.id;
  throw refused(`names ${token}, which is the token of no snitch of this case (write tag:<tag> for a tag)`);
}

/** A snitch on the way from one to what it needs, and the step before it. */
interface Step extends NeedStep {
  id: number;
  from: Step | null;
}

/**
 * Only a snitch that needs something can be part of a circle, so this is checked when its needs or its tags change.
 *
 * @throws Invalid, with the way in words, if it needs itself by way of others
 */
export async function refuseCircle(tx: Reading, { id, caseId }: Of): Promise<void> {
  const seen = new Set<number>();
  const tags = new Set<string>();
  const open: Step[] = await neededDirectly(tx, { id, caseId }, { id, from: null, tags });
  // Those that are added to the list meanwhile are visited too.
  for (const step of open) {
    if (step.id === id) throw refused(await wayInWords(tx, id, step));
    if (seen.has(step.id)) continue;
    seen.add(step.id);
    for (const next of await neededDirectly(tx, { id: step.id, caseId }, { id, from: step, tags }))
      open.push(next);
  }
}

/**
 * As `refuseCircle`, for a snitch whose fields were changed by `changes`.
 *
 * @throws Invalid if it needs itself by way of others
 */
export async function refuseCircleOf(
  tx: Reading,
  caseId: string,
  { token, needs }: Pick<Snitch, 'token' | 'needs'>,
  changes: Partial<SnitchFields>,
): Promise<void> {
  if (needs.length === 0 || !(changes.needs || changes.tags)) return;
  const row = await tx.get<{ id: number }>('SELECT id FROM snitches WHERE token = +?', token);
  if (row) await refuseCircle(tx, { id: row.id, caseId });
}

/**
 * Of the snitches with a tag, only those that need something themselves can lead back, and the one searched for. They
 * are listed where the tag is met first, because each of thousands may need the thousands of another tag.
 *
 * @param tags those that were met, to which this adds
 */
async function neededDirectly(
  tx: Reading,
  of: Of,
  { id, from, tags }: { id: number; from: Step | null; tags: Set<string> },
): Promise<Step[]> {
  const direct = await tx.all<{ id: number | null; name: string; tag: string | null }>(
    `SELECT m.id, m.name, d.tag FROM needs AS d LEFT JOIN snitches AS m ON m.id = d.needed_id
     WHERE d.snitch_id = +?`,
    of.id,
  );
  const steps: Step[] = [];
  for (const row of direct) if (row.id !== null) steps.push({ id: row.id, name: row.name, tag: null, from });
  for (const { tag } of direct) {
    if (tag === null || tags.has(tag)) continue;
    tags.add(tag);
    for (const row of await needyWithTag(tx, of, { id, tag })) steps.push({ ...row, tag, from });
  }
  return steps;
}

async function needyWithTag(
  tx: Reading,
  { caseId }: Of,
  { id, tag }: { id: number; tag: string },
): Promise<{ id: number; name: string }[]> {
  return tx.all<{ id: number; name: string }>(
    `SELECT m.id, m.name FROM snitch_tags AS t CROSS JOIN snitches AS m ON m.id = t.snitch_id
     WHERE t.case_id = +? AND t.tag = +? AND (m.id = +? OR EXISTS (SELECT 1 FROM needs AS e WHERE e.snitch_id = m.id))`,
    caseId,
    tag,
    id,
  );
}

async function wayInWords(tx: Reading, id: number, last: Step): Promise<string> {
  const path: Step[] = [];
  for (let step: Step | null = last; step; step = step.from) path.unshift(step);
  const own = await tx.get<{ name: string }>('SELECT name FROM snitches WHERE id = +?', id);
  return `would go in a circle: ${circleInWords(own?.name ?? '', path)}`;
}

function refused(message: string): Invalid {
  return new Invalid([{ attribute: 'needs', message }]);
}
