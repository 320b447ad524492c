import type { Act } from '../../core/activity/activity.ts';
import type { CaseChannel, ChannelFields, ChannelKind } from '../../core/channel.ts';
import { Invalid } from '../../core/errors.ts';
import { assertRoom } from '../../core/resource-limits.ts';
import type { RoutedChannel } from '../../core/routing.ts';
import { NAME_TAKEN } from '../../core/validation.ts';
import type { NewChannel } from '../channels.ts';
import { newId } from '../identifiers.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { recordChannel, recordChannelEdit } from './activity/of-targets.ts';
import { requireCase } from './cases.ts';
import { forgetPace } from './pace/paces.ts';
import { lookAnew } from './routes/look-anew.ts';
import { hoursColumn, type RuleRow, toRule } from './routes/rules.ts';

interface ChannelRow {
  id: string;
  case_id: string;
  kind: ChannelKind;
  name: string;
  settings: string;
  events: string;
  tags: string;
  delay: number;
  hours: string | null;
  refused_at: number | null;
  refusal: string | null;
  created_at: number;
}

const COLUMNS =
  'id, case_id, kind, name, settings, events, tags, delay, hours, refused_at, refusal, created_at';

export async function createChannel(
  tx: Transaction,
  act: Act,
  caseId: string,
  { kind, name, fields, known = null }: NewChannel,
  now: number,
  most = Number.POSITIVE_INFINITY,
): Promise<CaseChannel> {
  await requireCase(tx, caseId);
  const named = await nameFor(tx, caseId, { kind, name, known });
  assertRoom('channels', await countTargets(tx, caseId), most);
  const { after = 0, hours = null } = fields;
  const id = newId('chan');
  await tx.run(
    `INSERT INTO channels (id, case_id, kind, name, settings, events, tags, delay, hours, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    caseId,
    kind,
    named,
    JSON.stringify(fields.settings),
    JSON.stringify(fields.events),
    JSON.stringify(fields.tags),
    after,
    hoursColumn(hours),
    now,
  );
  const made: CaseChannel = {
    id,
    caseId,
    kind,
    name: named,
    ...fields,
    after,
    hours,
    refused: null,
    createdAt: now,
  };
  tx.forget();
  await recordChannel(tx, act, 'channel.created', made);
  return made;
}

/** @throws Invalid if another channel of the kind has the name and its id is not in `known` */
async function nameFor(
  tx: Transaction,
  caseId: string,
  { kind, name, known }: { kind: ChannelKind; name: string | null; known: readonly string[] | null },
): Promise<string> {
  if (name !== null && known === null) return name;
  const present = await listChannels(tx, caseId);
  if (name === null) {
    return freeName(
      kind,
      present.map((one) => one.name),
    );
  }
  const isNew = present.some((one) => one.kind === kind && one.name === name && !known?.includes(one.id));
  if (isNew) throw new Invalid([{ attribute: 'name', message: NAME_TAKEN }]);
  return name;
}

/** How many webhooks and channels a case has together (`decisions: Limits on resources`). */
export async function countTargets(tx: Reading, caseId: string): Promise<number> {
  const webhooks = await tx.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM webhooks WHERE case_id = ?',
    caseId,
  );
  const channels = await tx.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM channels WHERE case_id = ?',
    caseId,
  );
  return (webhooks?.count ?? 0) + (channels?.count ?? 0);
}

/** `ntfy`, or `ntfy-2` if that name is taken. */
function freeName(kind: ChannelKind, taken: readonly string[]): string {
  for (let number = 2, name: string = kind; ; number += 1) {
    if (!taken.includes(name)) return name;
    name = `${kind}-${number}`;
  }
}

export async function getChannel(tx: Reading, caseId: string, id: string): Promise<CaseChannel | null> {
  const row = await tx.get<ChannelRow>(
    `SELECT ${COLUMNS} FROM channels WHERE id = ? AND case_id = ?`,
    id,
    caseId,
  );
  return row ? toChannel(row) : null;
}

export async function listChannels(tx: Reading, caseId: string): Promise<CaseChannel[]> {
  const rows = await tx.all<ChannelRow>(
    `SELECT ${COLUMNS} FROM channels WHERE case_id = +? ORDER BY created_at DESC, id`,
    caseId,
  );
  return rows.map(toChannel);
}

/**
 * The rules that decide which alerts each of the case's channels gets, in the order in which the channels were created.
 */
export async function listRoutedChannels(tx: Reading, caseId: string): Promise<RoutedChannel[]> {
  const rows = await tx.all<Pick<ChannelRow, 'id' | 'kind' | keyof RuleRow>>(
    'SELECT id, kind, events, tags, delay, hours FROM channels WHERE case_id = +? ORDER BY created_at, id',
    caseId,
  );
  return rows.map((row) => ({ id: row.id, kind: row.kind, ...toRule(row) }));
}

export async function updateChannel(
  tx: Transaction,
  act: Act,
  caseId: string,
  id: string,
  changes: Partial<ChannelFields>,
): Promise<CaseChannel | null> {
  const changed = await changeChannel(tx, caseId, id, changes);
  if (!changed) return null;
  await recordChannelEdit(tx, act, changed.before, changed.after);
  return changed.after;
}

/** What decides which alerts the channel gets, and when: whatever waits there is judged again. */
const ROUTE = ['events', 'tags', 'after', 'hours'] as const;

/** New settings may have fixed what the service refused, so the refusal is forgotten. */
export async function changeChannel(
  tx: Transaction,
  caseId: string,
  id: string,
  changes: Partial<ChannelFields>,
): Promise<{ before: CaseChannel; after: CaseChannel } | null> {
  await tx.getHeld('SELECT id FROM channels WHERE id = ?', id);
  const before = await getChannel(tx, caseId, id);
  if (!before) return null;
  const refused = changes.settings ? null : before.refused;
  const after: CaseChannel = { ...before, ...changes, refused };
  await tx.run(
    `UPDATE channels SET name = ?, settings = ?, events = ?, tags = ?, delay = ?, hours = ?, refused_at = ?,
       refusal = ? WHERE id = ?`,
    after.name,
    JSON.stringify(after.settings),
    JSON.stringify(after.events),
    JSON.stringify(after.tags),
    after.after,
    hoursColumn(after.hours),
    refused?.at ?? null,
    refused?.error ?? null,
    id,
  );
  tx.forget();
  if (ROUTE.some((field) => field in changes)) await lookAnew(tx, { channel: after.kind, target: id });
  return { before, after };
}

/**
 * Pending deliveries to the channel die at their next attempt, with the reason; those that wait for their time are
 * dropped then.
 */
export async function deleteChannel(tx: Transaction, act: Act, caseId: string, id: string): Promise<boolean> {
  const channel = await getChannel(tx, caseId, id);
  if (!channel) return false;
  await tx.run('DELETE FROM channels WHERE id = ?', id);
  tx.forget();
  await tx.run('DELETE FROM repeats WHERE channel_id = ?', id);
  await forgetPace(tx, channel.kind, id);
  await lookAnew(tx, { channel: channel.kind, target: id });
  await recordChannel(tx, act, 'channel.deleted', channel);
  return true;
}

function toChannel(row: ChannelRow): CaseChannel {
  return {
    id: row.id,
    caseId: row.case_id,
    kind: row.kind,
    name: row.name,
    settings: JSON.parse(row.settings) as CaseChannel['settings'],
    ...toRule(row),
    refused: row.refused_at === null ? null : { at: row.refused_at, error: row.refusal ?? '' },
    createdAt: row.created_at,
  };
}
