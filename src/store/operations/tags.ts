/** The tags of a snitch and their index. The tags themselves are in the snitch's row, in the order given. */
import type { Act } from '../../core/activity/activity.ts';
import { changesBetween } from '../../core/activity/changes.ts';
import { Invalid } from '../../core/errors.ts';
import { tooManyTags } from '../../core/validation.ts';
import type { Awaitable, Transaction } from '../transaction.ts';
import { recordChanges } from './activity/of-snitches.ts';
import { noteLostTags } from './needs/reliefs.ts';
import { refuseCircle } from './needs/written.ts';
import { lookAnewOf } from './routes/look-anew.ts';
import { lookAnew } from './silences/alarms.ts';
import { type SnitchRow, tagsIn } from './snitch-rows.ts';
import { getRules, getStateById, type StateRow } from './states.ts';

/** A snitch of a case. */
interface Tagged {
  id: number;
  caseId: string;
}

/** Changes the index from the tags `before` to the tags `after`. */
export function indexTags(
  tx: Transaction,
  { id, caseId }: Tagged,
  before: readonly string[],
  after: readonly string[],
): void {
  for (const tag of new Set(before).difference(new Set(after))) {
    tx.put('DELETE FROM snitch_tags WHERE case_id = ? AND tag = ? AND snitch_id = ?', caseId, tag, id);
  }
  for (const tag of new Set(after).difference(new Set(before))) {
    tx.put('INSERT INTO snitch_tags (case_id, tag, snitch_id) VALUES (?, ?, ?)', caseId, tag, id);
  }
}

/** Changes the index to the tags `after`. Snitches that needed this one by a tag it lost no longer need it. */
export async function changeTags(
  tx: Transaction,
  state: StateRow,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const { id, case_id: caseId, token } = state;
  indexTags(tx, { id, caseId }, before, after);
  // Silences cover snitches by the tags that they have now.
  if ((await getRules(tx, caseId)).hasSilences) {
    await lookAnew(tx, id);
    await lookAnewOf(tx, token);
  }
  await noteLostTags(
    tx,
    state,
    before.filter((tag) => !after.includes(tag)),
  );
}

export async function addTags(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  tags: readonly string[],
): Promise<string[] | null> {
  const row = await taggedOf(tx, caseId, token);
  if (!row) return null;
  const all = [...new Set([...tagsIn(row), ...tags])];
  const refused = tooManyTags(all);
  if (refused) throw new Invalid([refused]);
  return writeTags(tx, act, caseId, row, all);
}

/** Removes the first of `spellings` that the snitch has. */
export async function removeTag(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  spellings: readonly string[],
): Promise<string[] | null> {
  const row = await taggedOf(tx, caseId, token);
  if (!row) return null;
  const own = tagsIn(row);
  const tag = spellings.find((spelling) => own.includes(spelling));
  if (tag === undefined) return own;
  return writeTags(
    tx,
    act,
    caseId,
    row,
    own.filter((one) => one !== tag),
  );
}

type TaggedRow = Pick<SnitchRow, 'id' | 'token' | 'name' | 'tags'>;

function taggedOf(tx: Transaction, caseId: string, token: string): Awaitable<TaggedRow | undefined> {
  return tx.get<TaggedRow>(
    'SELECT id, token, name, tags FROM snitches WHERE token = +? AND case_id = +?',
    token,
    caseId,
  );
}

async function writeTags(
  tx: Transaction,
  act: Act,
  caseId: string,
  row: TaggedRow,
  tags: string[],
): Promise<string[]> {
  tx.put('UPDATE snitches SET tags = ? WHERE id = ?', JSON.stringify(tags), row.id);
  // The rules are remembered for the tags that change.
  const [state] = await Promise.all([getStateById(tx, row.id), getRules(tx, caseId)]);
  if (state) await changeTags(tx, state, tagsIn(row), tags);
  if (state && state.needs !== null) await refuseCircle(tx, { id: row.id, caseId });
  tx.announce({ kind: 'snitch', caseId, token: row.token });
  tx.announce({ kind: 'shown', caseId });
  await recordChanges(
    tx,
    act,
    caseId,
    row,
    changesBetween({ tags: tagsIn(row) }, { tags }, { tags: 'tags' }),
  );
  return tags;
}
