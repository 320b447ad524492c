/**
 * Channels in a snitch file. Their secrets are in files of their own, which `secret_file` names: one file, or a map of
 * settings to files. If it names none, the server keeps the secrets that it has.
 */
import { dirname, resolve } from 'node:path';
import type { WireChannel } from '../../api/wire.ts';
import { CHANNEL_KINDS, DEFAULT_EVENTS, isChannelKind } from '../../core/channel.ts';
import { CHANNEL_SETTINGS, HIDDEN, type SettingRule } from '../../core/channels/settings.ts';
import { isObject } from '../../core/input.ts';
import { didYouMean } from '../../text/similar.ts';
import { secretIn } from '../command/secret.ts';
import { lengthText, secondsIn } from './due-fields.ts';
import type { MapOfFile } from './snitch-entry.ts';

/** An entry of the file as far as it can be understood without the server. */
export interface WantedChannel {
  kind: string;
  name: string;
  entry: MapOfFile;
  /** What the file says, in the form of the API, without secrets. */
  fields: Readonly<Record<string, unknown>>;
  settings: Readonly<Record<string, unknown>>;
  /** Secrets by the name of their setting, and the files that they came from, as the file names them. */
  secrets: Readonly<Record<string, string>>;
  secretFiles: Readonly<Record<string, string>>;
}

/** What is wrong with a field of an entry. */
export type FieldFault = readonly [field: string, message: string];

/** @param path of the file; relative names of secret files start from its folder @returns it, or all that is wrong */
export function channelOf(path: string, entry: MapOfFile): WantedChannel | FieldFault[] {
  const { kind, name = kind, settings = null, secret_file = null, ...others } = entry.input;
  if (typeof kind !== 'string' || !isChannelKind(kind)) return [['kind', otherKind(kind)]];
  if (typeof name !== 'string' || name.trim() === '') return [['name', 'must be text']];
  if (settings !== null && !isObject(settings)) return [['settings', 'must hold "name: value" lines']];
  const rules = CHANNEL_SETTINGS[kind];
  const said = Object.entries(settings ?? {}).filter(
    ([setting, value]) => !(rules[setting]?.secret && isAbsent(value)),
  );
  const open: FieldFault[] = said
    .filter(([setting]) => rules[setting]?.secret)
    .map(([setting]) => ['settings', `${setting} is a secret: name a file that holds it as \`secret_file\``]);
  const read = secretsOf(path, kind, rules, secret_file);
  if (open.length + read.faults.length > 0) return [...open, ...read.faults];
  const { secrets, secretFiles } = read;
  return {
    kind,
    name,
    entry,
    fields: fieldsOf(others),
    settings: Object.fromEntries(said),
    secrets,
    secretFiles,
  };
}

function otherKind(kind: unknown): string {
  if (kind === undefined || kind === null) return `is missing: it is one of ${CHANNEL_KINDS.join(', ')}`;
  if (kind === 'email') return 'email goes to the members: list them under `case:`';
  if (kind === 'webhook') return 'webhooks are not kept in a file: use `snitch webhook add`';
  return `there is no ${JSON.stringify(kind)}.${didYouMean(String(kind), CHANNEL_KINDS)}`;
}

/** An entry describes the whole channel, so whatever it leaves out has its default. */
function fieldsOf({ events, tags, after, hours }: MapOfFile['input']): Record<string, unknown> {
  return {
    events: events ?? DEFAULT_EVENTS,
    tags: tags ?? [],
    after: typeof after === 'string' ? secondsIn(after) : (after ?? 0),
    hours: hours ?? null,
  };
}

interface ReadSecrets {
  secrets: Record<string, string>;
  secretFiles: Record<string, string>;
  faults: FieldFault[];
}

type Rules = Readonly<Record<string, SettingRule>>;

function secretsOf(path: string, kind: string, rules: Rules, given: unknown): ReadSecrets {
  const read: ReadSecrets = { secrets: {}, secretFiles: {}, faults: [] };
  const fault = (message: string) => read.faults.push(['secret_file', message]);
  const names = Object.keys(rules).filter((name) => rules[name]?.secret || rules[name]?.server);
  const [only, another] = names.filter((name) => rules[name]?.secret);
  if (typeof given === 'string' && (only === undefined || another !== undefined)) {
    fault(
      `say which setting of ${kind} is in the file: \`secret_file: {${only ?? names[0] ?? 'NAME'}: FILE}\``,
    );
    return read;
  }
  const files = typeof given === 'string' ? { [only ?? '']: given } : (given ?? {});
  if (!isObject(files)) fault('must be the name of a file, or a map of settings to files');
  for (const [name, file] of Object.entries(files)) {
    if (isAbsent(file)) continue;
    if (!names.includes(name)) fault(`${kind} has no secret ${JSON.stringify(name)}: ${listed(names)}`);
    else if (typeof file !== 'string') fault(`${name}: must be the name of a file`);
    else readInto(read, path, name, file);
  }
  return read;
}

function readInto(read: ReadSecrets, path: string, name: string, file: string): void {
  try {
    read.secrets[name] = secretIn(resolve(dirname(path), file));
    read.secretFiles[name] = file;
  } catch (error) {
    read.faults.push(['secret_file', error instanceof Error ? error.message : String(error)]);
  }
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'it has none' : `there is ${names.join(', ')}`;
}

/** An answer shows a secret as `***`, so this stands for the one that the server keeps. */
function isAbsent(value: unknown): boolean {
  return value === null || value === '' || value === HIDDEN;
}

/** The entry of a channel, without defaults. For each secret there is only its place. */
export function channelEntry({ kind, name, settings, events, tags, after, hours }: WireChannel) {
  const secrets = Object.keys(settings).filter((setting) => settings[setting] === HIDDEN);
  const open = Object.entries(settings).filter(([, value]) => value !== HIDDEN);
  const severalSecrets = isChannelKind(kind) && secretNames(CHANNEL_SETTINGS[kind]).length > 1;
  const place = severalSecrets ? Object.fromEntries(secrets.map((secret) => [secret, null])) : null;
  return {
    kind,
    name,
    ...(open.length > 0 ? { settings: Object.fromEntries(open) } : {}),
    ...(secrets.length > 0 ? { secret_file: place } : {}),
    ...(events.join() === DEFAULT_EVENTS.join() ? {} : { events }),
    ...(tags.length > 0 ? { tags } : {}),
    ...(after > 0 ? { after: lengthText(after) } : {}),
    ...(hours ? { hours } : {}),
  };
}

function secretNames(rules: Rules): string[] {
  return Object.keys(rules).filter((name) => rules[name]?.secret);
}

/** Always in the same order, whichever server they come from. Without webhooks and members. */
export function inFileOrder(channels: readonly WireChannel[]): WireChannel[] {
  const key = (channel: WireChannel) =>
    JSON.stringify([channel.name, channel.kind, channelEntry(channel), channel.created_at, channel.id]);
  return channels
    .filter(({ kind }) => kind !== 'webhook' && kind !== 'email')
    .map((channel) => ({ channel, key: key(channel) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ channel }) => channel);
}
