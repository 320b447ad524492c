import type { Act } from '../../../core/activity/activity.ts';
import { isAlike } from '../../../core/activity/changes.ts';
import { Invalid } from '../../../core/errors.ts';
import { assertRoom } from '../../../core/resource-limits.ts';
import { MOST_SILENCES, type SilenceChanges } from '../../../core/silences/input.ts';
import { type NewSilence, overAt, type Silence, type SilenceScope } from '../../../core/silences/silence.ts';
import { newId } from '../../identifiers.ts';
import type { Reading, Transaction } from '../../transaction.ts';
import { recordSilence } from '../activity/of-silences.ts';
import { requireCase } from '../cases.ts';
import { lookAnewInCase } from '../routes/look-anew.ts';
import { SILENCE_COLUMNS, type SilenceRow, toSilence } from '../silences/rows.ts';
import { getRules } from '../states.ts';
import { endsNext } from './ends.ts';
import { release } from './release.ts';

/** Later than any time for which a recurring silence could be asked. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** @throws Invalid if the case has too many that are not over, or if no snitch has one of the tokens */
export async function createSilence(
  tx: Transaction,
  act: Act,
  caseId: string,
  given: NewSilence & { by: string },
  now: number,
  most = MOST_SILENCES,
): Promise<Silence> {
  await requireCase(tx, caseId);
  assertRoom('silences', (await listSilences(tx, caseId, now)).length, most);
  await assertKnown(tx, caseId, given.scope);
  const silence: Silence = { ...given, id: newId('sil'), caseId, createdAt: now, endedAt: null };
  const { time } = silence;
  await tx.run(
    `INSERT INTO silences (${SILENCE_COLUMNS}, over_at, ends_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)`,
    silence.id,
    caseId,
    JSON.stringify(silence.scope),
    time.kind === 'once' ? time.from : null,
    time.kind === 'once' ? time.to : null,
    time.kind === 'recurring' ? JSON.stringify(time.schedule) : null,
    time.kind === 'recurring' ? time.duration : null,
    time.kind === 'recurring' ? time.timezone : null,
    silence.note,
    silence.by,
    now,
    overAt(silence) ?? NEVER,
    endsNext(silence, now, await zoneOf(tx, caseId)),
  );
  await changed(tx, caseId);
  await recordSilence(tx, act, 'silence.created', silence);
  return silence;
}

async function assertKnown(tx: Transaction, caseId: string, scope: SilenceScope): Promise<void> {
  if (scope.kind !== 'tokens') return;
  const unknown: string[] = [];
  for (const token of scope.tokens) {
    const found = await tx.get('SELECT id FROM snitches WHERE token = +? AND case_id = +?', token, caseId);
    if (!found) unknown.push(token);
  }
  if (unknown.length === 0) return;
  const named = unknown.slice(0, 3).map((token) => token.slice(0, 40));
  const more = unknown.length > named.length ? ` and ${unknown.length - named.length} more` : '';
  throw new Invalid([{ attribute: 'tokens', message: `name no snitch: ${named.join(', ')}${more}` }]);
}

export async function unknownTags(tx: Reading, caseId: string, tags: readonly string[]): Promise<string[]> {
  const unknown: string[] = [];
  for (const tag of tags) {
    const found = await tx.get(
      'SELECT 1 FROM snitch_tags WHERE case_id = +? AND tag = +? LIMIT 1',
      caseId,
      tag,
    );
    if (!found) unknown.push(tag);
  }
  return unknown;
}

/** Also finds silences that are over, for as long as they are kept. */
export async function getSilence(tx: Reading, caseId: string, id: string): Promise<Silence | null> {
  const row = await tx.get<SilenceRow>(
    `SELECT ${SILENCE_COLUMNS} FROM silences WHERE id = +? AND case_id = +?`,
    id,
    caseId,
  );
  return row ? toSilence(row) : null;
}

/** Silences that are not over, newest first. */
export async function listSilences(tx: Reading, caseId: string, now: number): Promise<Silence[]> {
  const rows = await tx.all<SilenceRow>(
    `SELECT ${SILENCE_COLUMNS} FROM silences WHERE case_id = +? AND over_at > +? ORDER BY created_at DESC, id`,
    caseId,
    now,
  );
  return rows.map(toSilence);
}

/** Null if the case has no such silence, or if it is over. */
export async function updateSilence(
  tx: Transaction,
  act: Act,
  caseId: string,
  id: string,
  changes: SilenceChanges,
  now: number,
): Promise<Silence | null> {
  const before = await getSilence(tx, caseId, id);
  if (!before || isOver(before, now)) return null;
  const { time } = before;
  const to = changes.to ?? null;
  const after: Silence = {
    ...before,
    time: time.kind === 'once' && to !== null ? { ...time, to } : time,
    note: changes.note ?? before.note,
  };
  await tx.run(
    'UPDATE silences SET to_at = ?, note = ?, over_at = ?, ends_at = ? WHERE id = ?',
    after.time.kind === 'once' ? after.time.to : null,
    after.note,
    overAt(after) ?? NEVER,
    endsNext(after, now, await zoneOf(tx, caseId)),
    id,
  );
  // What waits for the old end must not do so if the silence is then ended before it, so this also holds for a later end.
  if (overAt(after) !== overAt(before)) await release(tx, before, await zoneOf(tx, caseId), now);
  await changed(tx, caseId);
  if (!isAlike(before, after)) await recordSilence(tx, act, 'silence.changed', after);
  return after;
}

/** Ends it now: what it covered can alert again at once. False if the case has no such silence. */
export async function deleteSilence(
  tx: Transaction,
  act: Act,
  caseId: string,
  id: string,
  now: number,
): Promise<boolean> {
  const before = await getSilence(tx, caseId, id);
  if (!before) return false;
  if (isOver(before, now)) return true;
  await tx.run('UPDATE silences SET ended_at = ?, over_at = ?, ends_at = ? WHERE id = ?', now, now, now, id);
  await release(tx, before, await zoneOf(tx, caseId), now);
  await changed(tx, caseId);
  await recordSilence(tx, act, 'silence.deleted', before);
  return true;
}

async function changed(tx: Transaction, caseId: string): Promise<void> {
  tx.forget();
  await lookAnewInCase(tx, caseId);
  tx.announce({ kind: 'silences', caseId });
}

function isOver(silence: Silence, now: number): boolean {
  return (overAt(silence) ?? NEVER) <= now;
}

async function zoneOf(tx: Reading, caseId: string): Promise<string> {
  return (await getRules(tx, caseId)).timezone;
}
