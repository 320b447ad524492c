/** `snitch __complete -- WORD…`: what could complete the last word. It stays silent, whatever goes wrong. */
import type { Command, Option } from 'commander';
import type { Client } from '../api/client.ts';
import { INTERVALS } from '../api/intervals.ts';
import type { WireSnitch } from '../api/wire.ts';
import { ACTIONS } from '../core/activity/activity.ts';
import { CHANNEL_EVENTS } from '../core/channel.ts';
import { ENTRIES, findEntry } from './catalogue.ts';
import { type ConnectionFlags, connect } from './command/connection.ts';
import { serversOf } from './command/servers.ts';
import { readCli } from './command/settings-files.ts';
import { STATUSES } from './output/snitch-view.ts';

export interface Candidate {
  value: string;
  description: string;
}

type ProgramOf = (name: string) => Promise<Command | null>;

/** Nobody waits longer than this for a completion. */
const PATIENCE = '2s';

const TIMES = ['1h', '2h', '1d', 'tomorrow', 'monday'];

/** Characters that would break the protocol of one candidate per line, or the terminal. */
const UNFIT = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** @param words what follows the program's name; the last word is being typed and may be empty */
export async function complete(words: readonly string[], programOf: ProgramOf): Promise<string[]> {
  try {
    const typed = words.at(-1) ?? '';
    const candidates = await candidatesFor(words.slice(0, -1), typed, programOf);
    return candidates
      .filter(({ value }) => value.startsWith(typed) && value !== '' && !UNFIT.test(value))
      .map(({ value, description }) =>
        description ? `${value}\t${description.replace(/\s+/g, ' ')}` : value,
      );
  } catch {
    return [];
  }
}

async function candidatesFor(
  before: readonly string[],
  typed: string,
  programOf: ProgramOf,
): Promise<Candidate[]> {
  if (before[0] === '--server' && before.length === 1) return serverNames();
  const isAt = before[0] === '--server' && before[1] !== undefined;
  const [name, ...rest] = isAt ? before.slice(2) : before;
  if (name === undefined) return typed.startsWith('--') && !isAt ? LEADING : commandNames();
  if (name === 'help') return rest.length === 0 ? commandNames() : [];
  const entry = findEntry(name);
  const program = entry ? await programOf(name) : null;
  const command = program?.commands.find((one) => one.name() === entry?.name);
  const flags = isAt ? { timeout: PATIENCE, server: before[1] ?? '' } : { timeout: PATIENCE };
  return command ? within(command, { words: rest, typed, flags }) : [];
}

const LEADING = [{ value: '--server', description: 'ask the server of that name' }];

/** The servers that `cli.yaml` names; no server has to be asked. */
function serverNames(): Candidate[] {
  return serversOf(readCli(process.env)).map(({ name, url }) => ({ value: name, description: url }));
}

function commandNames(): Candidate[] {
  const help = { value: 'help', description: 'explain a command' };
  return [...ENTRIES.map(({ name, summary }) => ({ value: name, description: summary })), help];
}

/** Follows the words through subcommands and options to the word that is being typed. */
async function within(
  command: Command,
  { words, typed, flags }: { words: readonly string[]; typed: string; flags: ConnectionFlags },
): Promise<Candidate[]> {
  let place = command;
  let given: string[] = [];
  let awaiting: Option | null = null;
  for (const word of words) {
    if (awaiting) {
      if (awaiting.long === '--url') flags.url = word;
      if (awaiting.long === '--server') flags.server = word;
      if (awaiting.long === '--api-key-file') flags.apiKeyFile = word;
      awaiting = null;
    } else if (word.startsWith('-') && word !== '-') {
      const option = place.options.find(({ short, long }) => word === short || word === long);
      awaiting = option?.required ? option : null;
    } else {
      const inner: Command | undefined = place.commands.find((one) => one.name() === word);
      if (inner) [place, given] = [inner, []];
      else given.push(word);
    }
  }
  if (awaiting) return valuesOf(awaiting, { flags, typed, command: place.name() });
  if (typed.startsWith('-')) return optionNames(place);
  if (place.commands.length > 0 && given.length === 0) {
    return place.commands.map((one) => ({ value: one.name(), description: one.description() }));
  }
  if (place.name() === 'silence' && words.includes('--end')) return silenced(connect(flags), given);
  return argumentValues(place, given, flags);
}

function optionNames(command: Command): Candidate[] {
  const options = command.options.flatMap(({ long, description, hidden }) =>
    long && !hidden ? [{ value: long, description }] : [],
  );
  return [...options, { value: '--help', description: 'print this help' }];
}

interface Asked {
  flags: ConnectionFlags;
  typed: string;
  /** The name of the command that has the option. */
  command: string;
}

async function valuesOf(option: Option, { flags, typed, command }: Asked): Promise<Candidate[]> {
  const words = (values: readonly string[]) => values.map((value) => ({ value, description: '' }));
  if (option.argChoices) return words(option.argChoices);
  switch (option.long) {
    case '--interval':
      return words(INTERVALS);
    case '--server':
      return serverNames();
    case '--status':
      return words(STATUSES);
    case '--until':
      return words([...(command === 'pause' ? ['healthy', 'unpaused'] : []), ...TIMES]);
    case '--from':
    case '--to':
      return words(TIMES);
    case '--for':
      return words(['30m', '1h', '2h', '1d']);
    case '--tag':
      return tags(connect(flags));
    case '--needs':
      return needed(connect(flags));
    case '--events':
      return words(listed(CHANNEL_EVENTS, typed));
    case '--action':
      return words(ACTIONS);
    case '--timezone':
      return words(Intl.supportedValuesOf('timeZone'));
    case '--case':
      return (await connect(flags, 'admin').listCases()).map(({ name, id }) => ({
        value: name,
        description: id,
      }));
    default:
      return [];
  }
}

async function argumentValues(
  command: Command,
  given: readonly string[],
  flags: ConnectionFlags,
): Promise<Candidate[]> {
  const known = command.registeredArguments;
  const last = known.at(-1);
  const argument = known[given.length] ?? (last?.variadic ? last : undefined);
  if (argument?.argChoices) return argument.argChoices.map((value) => ({ value, description: '' }));
  switch (argument?.name()) {
    case 'snitch':
    case 'what':
      if (command.name() === 'acknowledge') return snitches(connect(flags), given, ['failed', 'errored']);
      return snitches(connect(flags), given);
    case 'tag':
      return tags(connect(flags));
    case 'badge':
      return (await connect(flags).listBadges()).map((badge) => ({
        value: badge.id,
        description: badge.tag ?? badge.name ?? '',
      }));
    case 'server':
      return serverNames();
    case 'webhook':
      return (await connect(flags).listWebhooks()).map(({ id, url }) => ({ value: id, description: url }));
    case 'channel':
      return (await connect(flags).listChannels()).map(({ name, id, kind }) => ({
        value: UNFIT.test(name) ? id : name,
        description: kind,
      }));
    case 'key':
      return (await connect(flags).listApiKeys()).map(({ name, id }) => ({ value: name, description: id }));
    case 'case':
      return (await connect(flags, 'admin').listCases()).map(({ name, id }) => ({
        value: name,
        description: id,
      }));
    case 'delivery':
      return deliveries(connect(flags));
    default:
      return [];
  }
}

/** Of so many snitches at most, values are offered: whoever presses Tab does not wait for a million. */
const MOST_OFFERED = 10_000;

function firstSnitches(client: Client): Promise<WireSnitch[]> {
  return client.listSnitches([], undefined, { most: MOST_OFFERED });
}

/** A name that several snitches have identifies none of them, so their tokens are offered instead. */
async function snitches(
  client: Client,
  given: readonly string[],
  only: readonly string[] = STATUSES,
): Promise<Candidate[]> {
  const all = await firstSnitches(client);
  const names = Map.groupBy(all, ({ name }) => name);
  return all
    .filter(({ status }) => only.includes(status))
    .map(({ name, token, status }) =>
      names.get(name)?.length === 1 && !UNFIT.test(name)
        ? { value: name, description: status }
        : { value: token, description: `${name}, ${status}`.replace(new RegExp(UNFIT, 'gu'), '') },
    )
    .filter(({ value }) => !given.includes(value));
}

async function tags(client: Client): Promise<Candidate[]> {
  const used = (await firstSnitches(client)).flatMap((snitch) => snitch.tags);
  return [...new Set(used)].sort().map((value) => ({ value, description: '' }));
}

/** Other snitches, and all that have a tag. */
async function needed(client: Client): Promise<Candidate[]> {
  const byTag = (await tags(client)).map(({ value }) => ({ value: `tag:${value}`, description: '' }));
  return [...(await snitches(client, [])), ...byTag];
}

/** The values that are left for the last part of a list with commas. */
function listed(values: readonly string[], typed: string): string[] {
  const before = typed.slice(0, typed.lastIndexOf(',') + 1);
  return values.filter((value) => !before.split(',').includes(value)).map((value) => before + value);
}

/** What `--end` accepts: silences by their ids, and snitches by their names. */
async function silenced(client: Client, given: readonly string[]): Promise<Candidate[]> {
  const silences = await client.listSilences();
  const ids = silences.map(({ id, note, tags: of }) => ({
    value: id,
    description: [of?.join(' or ') ?? '', note].filter((part) => part !== '').join(': '),
  }));
  return [...ids.filter(({ value }) => !given.includes(value)), ...(await snitches(client, given))];
}

async function deliveries(client: Client): Promise<Candidate[]> {
  const dead = await client.listDeliveries({ state: 'dead', limit: 100 });
  return dead.map(({ id, target }) => ({ value: id, description: target }));
}
