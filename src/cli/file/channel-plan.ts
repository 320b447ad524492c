/** Works out what has to be done to make the channels of the case match a file that has any. */
import type { WireChannel, WireCheckedChannel } from '../../api/wire.ts';
import { isChannelKind } from '../../core/channel.ts';
import { CHANNEL_SETTINGS, HIDDEN } from '../../core/channels/settings.ts';
import { type FieldFault, inFileOrder, type WantedChannel } from './channel-entries.ts';
import type { FieldChange } from './field-change.ts';

export interface ChannelPlan {
  create: ChannelCreation[];
  /** Channels with fields that change, or with secrets that may or may not change: nobody can know. */
  change: ChannelChange[];
  /** What the case has and the file does not name. */
  gone: WireChannel[];
  unchanged: number;
}

export interface ChannelCreation {
  kind: string;
  name: string;
  secretFiles: Readonly<Record<string, string>>;
  /** What is sent, including secrets: never show it. */
  body: Readonly<Record<string, unknown>>;
}

export interface ChannelChange extends ChannelCreation {
  id: string;
  fields: FieldChange[];
}

/** An entry with the channel that it means; null for one that has to be made. */
export interface Pair {
  wanted: WantedChannel;
  present: WireChannel | null;
}

/** A fault of an entry of the file. */
export interface ChannelFault {
  wanted: WantedChannel;
  fault: FieldFault;
}

/**
 * A channel is identified by its kind and its name. Several that share both are paired in their order, provided that
 * the file and the case have equally many.
 */
export function pairsOf(
  wanted: readonly WantedChannel[],
  present: readonly WireChannel[],
): { pairs: Pair[]; gone: WireChannel[]; faults: ChannelFault[] } {
  const key = ({ kind, name }: { kind: string; name: string }) => JSON.stringify([kind, name]);
  const known = Map.groupBy(inFileOrder(present), key);
  const pairs: Pair[] = [];
  const faults: ChannelFault[] = [];
  for (const [same, entries] of Map.groupBy(wanted, key)) {
    const found = known.get(same) ?? [];
    known.delete(same);
    const [first] = entries;
    if (first && found.length > 0 && found.length !== entries.length) {
      const message = `the case has ${found.length} of this kind and name, and the file ${entries.length}: give each its own name (\`snitch channel edit ID --name NAME\`)`;
      faults.push({ wanted: first, fault: ['name', message] });
    } else
      for (const [index, entry] of entries.entries())
        pairs.push({ wanted: entry, present: found[index] ?? null });
  }
  return { pairs, gone: [...known.values()].flat(), faults };
}

/** What the server cannot know: which secrets are missing, and which are only shown as `***`. */
export function faultsOf({ wanted, present }: Pair): FieldFault[] {
  const { kind, settings, secrets } = wanted;
  if (!isChannelKind(kind)) return [];
  const faults: FieldFault[] = [];
  for (const [name, { secret, server, optional }] of Object.entries(CHANNEL_SETTINGS[kind])) {
    if (secrets[name] !== undefined) continue;
    if (secret && !optional && !present) {
      const place = severalSecrets(kind) ? `secret_file: {${name}: FILE}` : 'secret_file: FILE';
      const message = `its ${name} is missing, and the server has none to keep, because the channel is new: write \`${place}\`, with a file that holds it`;
      faults.push(['secret_file', message]);
    }
    const value = settings[name];
    const isMasked = server && typeof value === 'string' && value.includes(`${HIDDEN}@`);
    if (isMasked && value !== present?.settings[name]) {
      const message = `${name} has ${HIDDEN} in place of its password: write \`secret_file: {${name}: FILE}\`, with a file that holds the whole address`;
      faults.push(['settings', message]);
    }
  }
  return faults;
}

function severalSecrets(kind: WantedChannel['kind']): boolean {
  if (!isChannelKind(kind)) return false;
  return Object.values(CHANNEL_SETTINGS[kind]).filter(({ secret }) => secret).length > 1;
}

/** The whole channel as the API accepts it. Optional settings that the file leaves out are removed. */
export function bodyOf({ wanted, present }: Pair): Record<string, unknown> {
  const { kind, name, fields, settings, secrets } = wanted;
  const rules = isChannelKind(kind) ? CHANNEL_SETTINGS[kind] : {};
  const removed = Object.keys(present?.settings ?? {}).filter(
    (one) => !rules[one]?.secret && rules[one]?.optional && settings[one] === undefined,
  );
  return {
    ...(present ? { id: present.id } : {}),
    kind,
    name,
    settings: { ...Object.fromEntries(removed.map((one) => [one, null])), ...settings, ...secrets },
    ...fields,
  };
}

/** @param checked the pairs in the form in which the server would keep them */
export function channelPlanOf(
  pairs: readonly Pair[],
  checked: readonly WireCheckedChannel[],
  gone: readonly WireChannel[],
): ChannelPlan {
  const plan: ChannelPlan = { create: [], change: [], gone: [...gone], unchanged: 0 };
  for (const [index, pair] of pairs.entries()) {
    const { kind, name, secretFiles } = pair.wanted;
    const { id: _, ...body } = bodyOf(pair);
    const { present } = pair;
    const after = checked[index];
    if (!present || !after) plan.create.push({ kind, name, secretFiles, body });
    else {
      const fields = differences(present, after);
      if (fields.length === 0 && Object.keys(secretFiles).length === 0) plan.unchanged += 1;
      else plan.change.push({ id: present.id, kind, name, fields, secretFiles, body });
    }
  }
  return plan;
}

const FIELDS = ['events', 'tags', 'after', 'hours'] as const;

function differences(from: WireChannel, to: WireCheckedChannel): FieldChange[] {
  const settings = [...new Set([...Object.keys(from.settings), ...Object.keys(to.settings)])];
  return [
    ...settings.map((name) => ({
      field: name,
      from: from.settings[name] ?? null,
      to: to.settings[name] ?? null,
    })),
    ...FIELDS.map((field) => ({ field, from: from[field] ?? null, to: to[field] ?? null })),
  ].filter((change) => JSON.stringify(change.from) !== JSON.stringify(change.to));
}

/** Whether anything changes for certain. */
export function channelsDiffer({ create, change, gone }: ChannelPlan, prune: boolean): boolean {
  return create.length > 0 || change.some(({ fields }) => fields.length > 0) || (prune && gone.length > 0);
}
