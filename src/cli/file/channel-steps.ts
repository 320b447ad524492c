/** Asks the server how it understands the channels of a file, and makes the case have them. */
import type { ChannelInput } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { WireCheckedChannel } from '../../api/wire.ts';
import { channelsOf } from '../doctor/channels.ts';
import { Failure } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { patiently, unlessGone } from './apply-steps.ts';
import { batchesOf } from './batches.ts';
import { channelOf, type FieldFault, type WantedChannel } from './channel-entries.ts';
import { bodyOf, type ChannelPlan, channelPlanOf, faultsOf, type Pair, pairsOf } from './channel-plan.ts';
import type { MapOfFile } from './snitch-entry.ts';
import { problemAt } from './snitch-file.ts';

interface Found {
  plan: ChannelPlan;
  /** Lines for the user. With any of them, nothing may be changed. */
  problems: string[];
}

/**
 * @param prune whether what is gone from the file makes room
 * @throws Failure if the server knows no channels, or the case has no room for those that are new
 */
export async function planChannels(
  client: Client,
  path: string,
  entries: readonly MapOfFile[],
  prune: boolean,
): Promise<Found> {
  const problems: string[] = [];
  const tell = (entry: MapOfFile, [field, message]: FieldFault) => {
    const { kind = '?', name = kind } = entry.input;
    const line = entry.lines[field] ?? entry.line;
    problems.push(problemAt(path, line, `channel ${name} (${kind}): ${field}: ${message}`));
  };
  const wanted: WantedChannel[] = [];
  for (const entry of entries) {
    const understood = channelOf(path, entry);
    if (Array.isArray(understood)) for (const fault of understood) tell(entry, fault);
    else wanted.push(understood);
  }
  const { pairs, gone, faults } = pairsOf(wanted, await channelsOf(client));
  for (const one of faults) tell(one.wanted.entry, one.fault);
  for (const pair of pairs) for (const fault of faultsOf(pair)) tell(pair.wanted.entry, fault);
  const empty = channelPlanOf([], [], gone);
  if (problems.length > 0) return { plan: empty, problems };
  const { checked, room } = await check(client, pairs, tell);
  if (problems.length > 0) return { plan: empty, problems };
  const plan = channelPlanOf(pairs, checked, gone);
  const space = room + (prune ? plan.gone.length : 0);
  if (plan.create.length > space) {
    throw new Failure(
      `the file has ${countOf(plan.create.length, 'new channel', 'new channels')}, and the case has room for ${space}`,
    );
  }
  return { plan, problems };
}

async function check(
  client: Client,
  pairs: readonly Pair[],
  tell: (entry: MapOfFile, fault: FieldFault) => void,
): Promise<{ checked: WireCheckedChannel[]; room: number }> {
  const checked: WireCheckedChannel[] = [];
  const batches = batchesOf(pairs.map(bodyOf));
  let room = 0;
  let index = 0;
  for (const batch of batches.length > 0 ? batches : [[]]) {
    const answer = await patiently(() => client.checkImport({ snitches: [], channels: batch }));
    if (!answer.channels) {
      throw new Failure(
        'nothing was changed: the server knows no channels in a file, and must be updated first',
      );
    }
    for (const { attribute, message } of answer.problems) {
      const [, position = '', field = ''] = /^channels\[(\d+)\]\.(.+)$/s.exec(attribute) ?? [];
      const entry = pairs[index + Number(position)]?.wanted.entry;
      if (!entry) throw new Failure(`nothing was changed: ${attribute}: ${message}`);
      tell(entry, placed(field, message));
    }
    checked.push(...answer.channels);
    room = answer.channel_room ?? 0;
    index += batch.length;
  }
  return { checked, room };
}

/** `settings.token` is in the field `settings` of the file, or in that of the secrets. */
function placed(attribute: string, message: string): FieldFault {
  const [field = '', setting] = attribute.split('.');
  return setting === undefined ? [field, message] : [field, `${setting} ${message}`];
}

export async function carryOutChannels(client: Client, plan: ChannelPlan, prune: boolean): Promise<void> {
  for (const { id } of prune ? plan.gone : []) await patiently(() => unlessGone(client.deleteChannel(id)));
  for (const { id, fields, secretFiles, body } of plan.change) {
    const { settings, kind: _, name: _name, ...others } = body as ChannelInput;
    const keepsSettings =
      Object.keys(secretFiles).length === 0 && fields.every(({ field }) => field in others);
    await patiently(() =>
      client.updateChannel(id, keepsSettings ? others : { ...others, ...(settings ? { settings } : {}) }),
    );
  }
  const made: { key: string; id: string }[] = [];
  for (const { kind, name, body } of plan.create) {
    const key = JSON.stringify([kind, name]);
    // These are new like this one. Any other of the name was made since the plan, by another apply of the same file.
    const known = made.filter((one) => one.key === key).map(({ id }) => id);
    const { id } = await patiently(() => client.createChannel(body, known));
    made.push({ key, id });
  }
}
