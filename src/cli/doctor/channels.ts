/** How `snitch doctor` checks the channels of a case. */
import { ApiError, type Client } from '../../api/client.ts';
import type { WireChannel } from '../../api/wire.ts';
import { awaitDelivery } from '../alerts/webhook.ts';
import { exactTime } from '../output/output.ts';
import { styleOf } from '../output/style.ts';
import { type Finding, failure, ok } from './findings.ts';

/** Without webhooks and members, which have their own checks; none if the server is too old to have any. */
export async function channelsOf(client: Client): Promise<WireChannel[]> {
  try {
    return (await client.listChannels()).filter(({ kind }) => kind !== 'webhook' && kind !== 'email');
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

const REMEDY =
  'fix its settings with `snitch channel edit`, test it with `snitch channel test`, then run `snitch deliveries retry --dead`';

/** @param send whether to send a test alert, which people see */
export async function checkChannel(
  client: Client,
  { id, kind, name, refused }: WireChannel,
  send: boolean,
): Promise<Finding> {
  if (send) {
    const { state, last_error } = await awaitDelivery(client, await client.testChannel(id));
    if (state === 'delivered') return ok('channel', `${name} (${kind}) accepted a test alert`);
    return failure('channel', `${name} (${kind}): ${last_error ?? 'no attempt was made'}`, REMEDY);
  }
  if (refused === null) return ok('channel', `${name} (${kind}) has refused nothing`);
  const since = exactTime(refused.at, styleOf(process.stdout, process.env, Date.now()));
  return failure('channel', `${name} (${kind}) has refused alerts since ${since}: ${refused.error}`, REMEDY);
}
