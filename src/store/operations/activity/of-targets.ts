/** Activity entries about webhooks and channels: never a whole address, and no setting of a channel. */
import type { Act, Action } from '../../../core/activity/activity.ts';
import { changesBetween, type FieldChange, isAlike } from '../../../core/activity/changes.ts';
import type { CaseChannel } from '../../../core/channel.ts';
import type { Channel, Route } from '../../../core/routing.ts';
import type { Webhook } from '../../../core/webhook.ts';
import type { Transaction } from '../../transaction.ts';
import { record } from './record.ts';

/** The host alone, because a webhook's path and query may be as good as a password. */
export function hostOf({ url }: Pick<Webhook, 'url'>): string {
  return URL.canParse(url) ? new URL(url).host : 'webhook';
}

/** Anything that alerts can be sent to. */
export interface Target {
  id: string;
  name: string;
  channel: Channel;
}

/** Everybody who gets alerts sees a test, and wants to know who sent it. */
export function recordTest(
  tx: Transaction,
  act: Act,
  caseId: string,
  { channel, ...subject }: Target,
): Promise<void> {
  const action = channel === 'webhook' ? 'webhook.tested' : 'channel.tested';
  return record(tx, act, { caseId, action, subject, details: { channel } });
}

/** Which alerts go to a webhook or a member, and when. */
export async function recordRouteEdit(
  tx: Transaction,
  act: Act,
  caseId: string,
  { channel, target }: Route,
  [before, after]: readonly [before: object, after: object],
): Promise<void> {
  const names = Object.fromEntries(Object.keys({ ...before, ...after }).map((field) => [field, field]));
  const changes = changesBetween({ ...before }, { ...after }, names);
  if (Object.keys(changes).length === 0) return;
  const webhook = await tx.get<{ url: string }>('SELECT url FROM webhooks WHERE id = +?', target);
  const subject = { id: target, name: webhook ? hostOf(webhook) : target };
  await record(tx, act, { caseId, action: 'channel.changed', subject, details: { changes, channel } });
}

export function recordWebhook(
  tx: Transaction,
  act: Act,
  action: Action,
  webhook: Pick<Webhook, 'id' | 'caseId' | 'url'>,
): Promise<void> {
  const { id, caseId } = webhook;
  return record(tx, act, { caseId, action, subject: { id, name: hostOf(webhook) } });
}

export function recordChannel(
  tx: Transaction,
  act: Act,
  action: Action,
  { id, caseId, name, kind }: Pick<CaseChannel, 'id' | 'caseId' | 'name' | 'kind'>,
): Promise<void> {
  return record(tx, act, { caseId, action, subject: { id, name }, details: { channel: kind } });
}

/** Fields of a channel that people do not set, and its settings. */
const UNSAID = new Set(['id', 'caseId', 'kind', 'createdAt', 'refused', 'settings']);

/** Only the names of its settings are recorded, because some of them are secret. */
export async function recordChannelEdit(
  tx: Transaction,
  act: Act,
  before: CaseChannel,
  after: CaseChannel,
): Promise<void> {
  const fields = Object.keys({ ...before, ...after }).filter((field) => !UNSAID.has(field));
  const names = Object.fromEntries(fields.map((field) => [field, field]));
  const changes = {
    ...changesBetween({ ...before }, { ...after }, names),
    ...settingsChanged(before.settings, after.settings),
  };
  if (Object.keys(changes).length === 0) return;
  const { id, caseId, name } = after;
  await record(tx, act, { caseId, action: 'channel.changed', subject: { id, name }, details: { changes } });
}

function settingsChanged(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, FieldChange> {
  const names = Object.keys({ ...before, ...after }).filter((name) => !isAlike(before[name], after[name]));
  return Object.fromEntries(names.map((name) => [`settings.${name}`, {}]));
}
