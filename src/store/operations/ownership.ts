/** Snitches that are created with a given token, and the files that own snitches. */
import type { Act } from '../../core/activity/activity.ts';
import { Invalid, NotFound, PlanLimitReached, type Validation } from '../../core/errors.ts';
import { importedAttribute, TOKEN_TAKEN } from '../../core/imported-snitch.ts';
import type { Snitch } from '../../core/snitch.ts';
import { NAME_TAKEN } from '../../core/validation.ts';
import type { ImportBatch, Owned, SnitchChange } from '../ownership.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { type Named, recordMany } from './activity/of-snitches.ts';
import { refuseCircleOf } from './needs/written.ts';
import { changeSnitch, deleteSnitch, insertSnitch, updateSnitch } from './snitches.ts';
import { countSnitches } from './status-counts.ts';

/**
 * Creates all of `imported`, or none.
 *
 * @throws Invalid for names and tokens that are taken, and PlanLimitReached
 */
export async function importSnitches(
  tx: Transaction,
  act: Act,
  caseId: string,
  { imported, owner, known = null }: ImportBatch,
  now: number,
): Promise<Snitch[]> {
  const made: Snitch[] = [];
  const taken: number[] = [];
  // Before the limit is checked: what was created meanwhile must be reported by its name first.
  if (known !== null) await refuseNamesBeside(tx, caseId, { imported, owner, known });
  // Counted once: counting a large case again for each snitch would take longer than creating them.
  const room = await roomForSnitches(tx, caseId);
  if (room !== null && imported.length > room) throw new PlanLimitReached();
  for (const [index, { token, ...fields }] of imported.entries()) {
    if (token !== null && (await ownerOfToken(tx, token)) !== null) taken.push(index);
    else made.push(await insertSnitch(tx, caseId, { ...fields, needs: [] }, now, token ?? undefined));
  }
  if (taken.length > 0) throw new Invalid(taken.map(validationOfTaken));
  if (owner !== null) for (const { token } of made) await writeOwner(tx, token, owner);
  // They may need one another, in any order.
  for (const [index, { needs = [] }] of imported.entries()) {
    const { token } = made[index] ?? {};
    if (needs.length === 0 || token === undefined) continue;
    const after = await naming(index, () => updateSnitch(tx, act, caseId, token, { needs }, now));
    if (after) made[index] = after;
  }
  const kinds = { one: 'snitch.created', several: 'snitches.imported' } as const;
  await recordMany(tx, act, caseId, kinds, made, owner === null ? {} : { owner });
  return made;
}

/** @throws Invalid for names of snitches that have this owner or none, and whose tokens are not in `known` */
async function refuseNamesBeside(
  tx: Transaction,
  caseId: string,
  {
    imported,
    owner,
    known,
  }: { imported: ImportBatch['imported']; owner: string | null; known: readonly string[] },
): Promise<void> {
  const faults: Validation[] = [];
  for (const [index, { token, name }] of imported.entries()) {
    if (token !== null) continue;
    const same = await tx.all<{ token: string; owner: string | null }>(
      'SELECT token, owner FROM snitches WHERE case_id = +? AND name = +?',
      caseId,
      name,
    );
    const isNew = same.some((one) => (one.owner ?? owner) === owner && !known.includes(one.token));
    if (isNew) faults.push({ attribute: importedAttribute(index, 'name'), message: NAME_TAKEN });
  }
  if (faults.length > 0) throw new Invalid(faults);
}

/** Adds to a refusal of needs which of several snitches it concerns. */
async function naming<T>(index: number, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const [fault] = error instanceof Invalid ? error.validations : [];
    if (fault?.attribute !== 'needs') throw error;
    throw new Invalid([{ ...fault, attribute: importedAttribute(index, 'needs') }]);
  }
}

/**
 * Circles in what they need are looked for once all are written: turning a need round would be a circle halfway.
 *
 * @throws NotFound if one is gone, Invalid for changes that contradict each other
 */
export async function updateSnitches(
  tx: Transaction,
  act: Act,
  caseId: string,
  wanted: readonly SnitchChange[],
  now: number,
): Promise<Snitch[]> {
  const changed: Snitch[] = [];
  for (const [index, { token, changes }] of wanted.entries()) {
    const snitch = await naming(index, () => changeSnitch(tx, act, caseId, token, changes, now));
    if (!snitch) throw new NotFound();
    changed.push(snitch);
  }
  for (const [index, { changes }] of wanted.entries()) {
    const snitch = changed[index];
    if (snitch) await naming(index, () => refuseCircleOf(tx, caseId, snitch, changes));
  }
  return changed;
}

export async function deleteSnitches(
  tx: Transaction,
  act: Act,
  caseId: string,
  tokens: readonly string[],
): Promise<void> {
  for (const token of tokens) await deleteSnitch(tx, act, caseId, token);
}

function validationOfTaken(index: number) {
  return { attribute: importedAttribute(index, 'token'), message: TOKEN_TAKEN };
}

/** The id of the case that has this token, or null if it is free. */
export async function ownerOfToken(tx: Reading, token: string): Promise<string | null> {
  const row = await tx.get<{ case_id: string }>('SELECT case_id FROM snitches WHERE token = ?', token);
  return row?.case_id ?? null;
}

/** How many more snitches the case can have; null for no limit. */
export async function roomForSnitches(tx: Reading, caseId: string): Promise<number | null> {
  const row = await tx.get<{ max_snitches: number | null }>(
    'SELECT max_snitches FROM cases WHERE id = ?',
    caseId,
  );
  if (row?.max_snitches == null) return null;
  return Math.max(0, row.max_snitches - (await countSnitches(tx, caseId)));
}

/** The snitches with an owner, in order of creation; `after` and `next` are positions in that order. */
export async function listOwnership(
  tx: Reading,
  caseId: string,
  { after, limit }: { after: number; limit: number },
): Promise<{ owned: Owned[]; next: number | null }> {
  const rows = await tx.all<{ id: number; token: string; owner: string | null }>(
    'SELECT id, token, owner FROM snitches WHERE case_id = +? AND id > +? ORDER BY id LIMIT +?',
    caseId,
    after,
    limit,
  );
  const owned = rows.flatMap(({ token, owner }) => (owner === null ? [] : [{ token, owner }]));
  const last = rows.at(-1);
  return { owned, next: last && rows.length === limit ? last.id : null };
}

/**
 * Gives all of `tokens` to `owner`, or frees them if it is null.
 *
 * @throws NotFound if one is not in the case, Invalid if one belongs to another owner
 */
export async function setOwnership(
  tx: Transaction,
  act: Act,
  caseId: string,
  tokens: readonly string[],
  owner: string | null,
): Promise<void> {
  const changed: Named[] = [];
  for (const token of tokens) {
    const row = await tx.get<{ owner: string | null; name: string }>(
      'SELECT owner, name FROM snitches WHERE token = +? AND case_id = +?',
      token,
      caseId,
    );
    if (!row) throw new NotFound();
    if (owner !== null && row.owner !== null && row.owner !== owner) {
      throw new Invalid([{ attribute: 'owner', message: `${token} belongs to another owner` }]);
    }
    if (row.owner !== owner) changed.push({ token, name: row.name });
  }
  for (const token of tokens) await writeOwner(tx, token, owner);
  await recordMany(tx, act, caseId, { one: 'snitches.owned', several: 'snitches.owned' }, changed, { owner });
}

async function writeOwner(tx: Transaction, token: string, owner: string | null): Promise<void> {
  await tx.run('UPDATE snitches SET owner = ? WHERE token = ?', owner, token);
}
