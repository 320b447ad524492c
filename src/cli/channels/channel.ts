/** `snitch channel`: the services that alerts are sent to. */
import { Argument, type Command } from 'commander';
import type { Client } from '../../api/client.ts';
import type { WireChannel } from '../../api/wire.ts';
import { CHANNEL_KINDS, type ChannelKind, isChannelKind } from '../../core/channel.ts';
import { awaitDelivery } from '../alerts/webhook.ts';
import {
  addClientOptions,
  type ClientFlags,
  collect,
  type Register,
  withExamples,
} from '../command/command.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { Failure, NotFoundError, UsageError } from '../failure/failure.ts';
import { exactTime, Output, type View } from '../output/output.ts';
import { addRouteFlags, type RouteFlags, routeLines, routeOf, whenText } from './route-flags.ts';
import { givenSettings, newSettings, type SettingFlags } from './settings.ts';

export const register: Register = (program) => {
  const channel = program
    .command('channel')
    .description('the services that alerts are sent to, and who gets them when');
  withExamples(
    channel,
    'snitch channel add ntfy https://ntfy.example.com/ops --tag db',
    'snitch channel add slack                      asks for the address of the webhook',
    'snitch channel test CHANNEL',
  );
  const list = channel
    .command('list', { isDefault: true })
    .description('list the channels, webhooks and members that alerts go to')
    .action((flags: ClientFlags) => listChannels(flags));
  withExamples(addClientOptions(list), 'snitch channel list');
  addAdd(channel);
  addEdit(channel);
  const test = channel
    .command('test')
    .description('send a test alert, and say whether it arrived')
    .argument('<channel>', 'its name or id')
    .action((given: string, flags: ClientFlags) => testChannel(given, flags));
  withExamples(addClientOptions(test), 'snitch channel test ntfy');
  const remove = channel
    .command('delete')
    .description('delete a channel; deliveries that wait for it are not sent')
    .argument('<channel>', 'its name or id')
    .option('-f, --force', 'do not ask; needed without a terminal')
    .action((given: string, flags: ClientFlags & { force?: boolean }) => deleteChannel(given, flags));
  withExamples(addClientOptions(remove), 'snitch channel delete ntfy');
};

function addAdd(channel: Command): void {
  const add = channel
    .command('add')
    .description('add a channel; secrets are asked for, or read from a file')
    .addArgument(new Argument('<kind>', 'the kind of service').choices(CHANNEL_KINDS))
    .argument('[address]', 'of the server, where that is no secret; "-" reads it from the input')
    .action((kind: ChannelKind, address: string | undefined, flags: AddFlags) =>
      addChannel(kind, address, flags),
    );
  withExamples(
    addClientOptions(addFields(add)),
    'snitch channel add ntfy https://ntfy.example.com/ops --tag db',
    'snitch channel add telegram --set chat=-1001234567890 --secret-file /etc/snitch/bot-token',
    'snitch channel add pushover --secret-file token=./app --secret-file user=./user',
    'snitch channel add alertmanager http://127.0.0.1:9093 --events missing',
    'snitch channel add pagerduty --name ops-pager --after 30m --hours "mon-fri 18:00-08:00 Europe/Berlin"',
  );
}

function addEdit(channel: Command): void {
  const edit = channel
    .command('edit')
    .description(
      'change a channel, or when a webhook or a member is alerted; what you do not name stays as it is',
    )
    .argument('<channel>', 'its name or id')
    .option('--all-tags', 'alerts of all snitches, whatever their tags')
    .action((given: string, flags: AddFlags) => editChannel(given, flags));
  withExamples(
    addClientOptions(addFields(edit)),
    'snitch channel edit ntfy --name night --tag db --tag web',
    'snitch channel edit slack --secret-file ./new-address',
    'snitch channel edit ops@example.com --hours "mon-fri 08:00-18:00" --events missing,errored',
    'snitch channel edit ops-pager --after 0 --hours always',
  );
}

function addFields(command: Command): Command {
  command.option('--name <name>', 'what it is called (default: its kind)');
  return addRouteFlags(command)
    .option('--set <name=value>', 'a setting that is not secret', collect)
    .option('--secret-file <[name=]file>', 'a file with a secret; "-" reads the input', collect);
}

interface AddFlags extends ClientFlags, SettingFlags, RouteFlags {
  name?: string;
}

const CHANNEL_VIEW: View<WireChannel> = {
  name: ({ name }) => name,
  id: ({ id }) => id,
  empty: 'nobody gets any alerts: use `snitch channel add`, `snitch member add` or `snitch webhook add`',
  columns: [
    { header: 'NAME', cell: ({ name }) => name, shrinkTo: 12 },
    { header: 'KIND', cell: ({ kind }) => kind },
    { header: 'EVENTS', cell: ({ events }) => events.join(', '), shrinkTo: 10, optional: true },
    { header: 'TAGS', cell: ({ tags }) => tags.join(', '), shrinkTo: 8, optional: true },
    { header: 'WHEN', cell: whenText, shrinkTo: 9 },
    {
      header: 'REFUSED',
      cell: ({ refused }) => refused?.error ?? '',
      paint: ({ refused }) => (refused ? 'red' : null),
      shrinkTo: 12,
    },
    { header: 'ID', cell: ({ id }) => id, wide: true },
  ],
};

async function listChannels(flags: ClientFlags): Promise<void> {
  new Output(flags).list(await connect(flags).listChannels(), CHANNEL_VIEW);
}

async function addChannel(kind: ChannelKind, address: string | undefined, flags: AddFlags): Promise<void> {
  const client = connect(flags);
  const settings = await newSettings(kind, address, flags);
  const { name } = flags;
  const made = await client.createChannel({
    kind,
    settings,
    ...(name === undefined ? {} : { name }),
    ...(await routeOf(flags, client)),
  });
  const output = new Output(flags);
  show(made, output);
  output.hint(`test it: snitch channel test ${made.id}`);
}

async function editChannel(given: string, flags: AddFlags): Promise<void> {
  const { name } = flags;
  const client = connect(flags);
  const { id, kind } = await resolveChannel(client, given);
  if (!isChannelKind(kind) && (name ?? flags.set ?? flags.secretFile) !== undefined) {
    const other = `\`snitch ${OTHER[kind] ?? kind} add\` and \`remove\``;
    throw new UsageError(`of ${kind}, only the route can be changed here: for the rest use ${other}`);
  }
  const settings = isChannelKind(kind) ? givenSettings(kind, flags) : {};
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(await routeOf(flags, client)),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  };
  if (Object.keys(changes).length === 0) throw new UsageError('say what to change, such as --tag db');
  show(await client.updateChannel(id, changes), new Output(flags));
}

const OTHER: Record<string, string> = { webhook: 'webhook', email: 'member' };

function show(channel: WireChannel, output: Output): void {
  const { id, kind, name, settings, refused } = channel;
  output.record(
    channel,
    [
      { label: 'Channel', text: name },
      { label: 'Id', text: id },
      { label: 'Kind', text: kind },
      ...Object.entries(settings).map(([label, text]) => ({ label: `  ${label}`, text })),
      ...routeLines(channel),
      ...(refused
        ? [
            {
              label: 'Refused',
              text: `${exactTime(refused.at, output.style, '')}: ${refused.error}`,
              paint: 'red' as const,
            },
          ]
        : []),
    ],
    CHANNEL_VIEW,
  );
}

/** Finds a channel by its id, or by its name if no other channel has the same. */
async function resolveChannel(client: Client, given: string): Promise<WireChannel> {
  const all = await client.listChannels();
  const byId = all.find(({ id }) => id === given);
  const named = all.filter(({ name }) => name === given);
  const [only] = byId ? [byId] : named;
  if (only && (byId || named.length === 1)) return only;
  if (named.length > 1) {
    const ids = named.map(({ id, kind }) => `${id} (${kind})`).join(', ');
    throw new UsageError(`${named.length} channels have the name "${given}": name one by its id: ${ids}`);
  }
  throw new NotFoundError(`no channel has the name or the id "${given}"\n\`snitch channel list\` lists them`);
}

async function testChannel(given: string, flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const { id, name } = await resolveChannel(client, given);
  const output = new Output(flags);
  const delivery = await awaitDelivery(client, await client.testChannel(id));
  if (output.format === 'json') output.json(delivery);
  const { state, attempts, last_error } = delivery;
  if (state === 'delivered') output.done(`${name}: delivered`);
  else if (attempts === 0)
    throw new Failure(`${name}: no attempt was made yet; other alerts may wait before it`);
  else throw new Failure(`${name}: ${last_error ?? 'not delivered'}`);
}

async function deleteChannel(given: string, flags: ClientFlags & { force?: boolean }): Promise<void> {
  const client = connect(flags);
  const { id, kind, name } = await resolveChannel(client, given);
  if (!isChannelKind(kind))
    throw new UsageError(`a ${kind} is removed by \`snitch ${OTHER[kind] ?? kind} remove\``);
  await confirmDeletion([`channel ${name}, ${kind}`], flags);
  await client.deleteChannel(id);
  new Output(flags).done(`${name}: deleted`);
}
