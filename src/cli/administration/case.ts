/** `snitch case` and `member`: the case of the key, its members, time zone and reminders; with an admin key, all cases. */
import { type Command, Option } from 'commander';
import type { Client } from '../../api/client.ts';
import type { WireCase } from '../../api/wire.ts';
import { printable } from '../../text/printable.ts';
import { similar } from '../../text/similar.ts';
import {
  addClientOptions,
  type ClientFlags,
  collect,
  type Register,
  withExamples,
} from '../command/command.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { exactTime, type Field, Output, shownTime, type View } from '../output/output.ts';
import type { Style } from '../output/style.ts';

const WITHOUT_MEMBERS = 'alerts reach only webhooks, channels and the addresses of --alert-email';

interface SettingFlags extends ClientFlags {
  name?: string;
  timezone?: string;
  reminders?: WireCase['reminders'];
  member?: string[];
  maxSnitches?: string;
  errorNotices?: 'on' | 'off';
  onHold?: 'on' | 'off';
}

export const register: Register = (program) => {
  const group = program.command('case').description('the case of your key; with an admin key, all cases');
  withExamples(
    group,
    'snitch case show',
    'snitch case edit --timezone Europe/Berlin --reminders daily',
    'snitch case create "Team B" --timezone America/New_York     (admin)',
    'snitch case edit "Team B" --max-snitches 50                 (admin)',
  );
  const list = group.command('list').description('list all cases (admin)').action(listCases);
  withExamples(addClientOptions(list), 'snitch case list');
  const show = group
    .command('show')
    .description('show the case of your key, or any (admin)')
    .argument('[case]', 'its id, or its name')
    .action((given: string | undefined, flags: ClientFlags) => showCase(given, flags));
  withExamples(addClientOptions(show), 'snitch case show', 'snitch case show "Team B"');
  const create = group.command('create').description('make a case (admin)').argument('<name>', 'its name');
  addSettings(create).action((name: string, flags: SettingFlags) => createCase(name, flags));
  withExamples(addClientOptions(create), 'snitch case create "Team B" --member ops@example.com');
  const edit = group
    .command('edit')
    .description('change the case of your key, or any (admin)')
    .argument('[case]', 'its id, or its name')
    .option('--name <name>', 'a new name');
  addSettings(edit).action((given: string | undefined, flags: SettingFlags) => editCase(given, flags));
  withExamples(addClientOptions(edit), 'snitch case edit --timezone Europe/Berlin');
  const remove = group
    .command('delete')
    .description('delete a case with all its snitches and keys (admin)')
    .argument('<case>', 'its id, or its name')
    .option('-f, --force', 'do not ask; needed without a terminal')
    .action((given: string, flags: ClientFlags & { force?: boolean }) => deleteCase(given, flags));
  withExamples(addClientOptions(remove), 'snitch case delete "Team B"');
  addMember(program);
};

function addSettings(command: Command): Command {
  const onOff = (flag: string, what: string) => new Option(flag, what).choices(['on', 'off']);
  return command
    .option('--timezone <zone>', 'an IANA name such as Europe/Berlin; periods follow it')
    .addOption(
      new Option('--reminders <how>', 'how often to remind of a missing snitch').choices([
        'period',
        'hourly',
        'daily',
        'off',
      ]),
    )
    .option('--member <address>', 'who is told; repeat it for several, which replace all', collect)
    .option('--max-snitches <count>', 'how many it may have, or "none" (admin)')
    .addOption(onOff('--error-notices <on|off>', 'whether error check-ins alert (admin)'))
    .addOption(onOff('--on-hold <on|off>', 'refuse its keys (admin)'));
}

function settingsOf(flags: SettingFlags): Partial<WireCase> {
  const settings: Partial<WireCase> = {};
  if (flags.name !== undefined) settings.name = flags.name;
  if (flags.timezone !== undefined) settings.timezone = flags.timezone;
  if (flags.reminders !== undefined) settings.reminders = flags.reminders;
  if (flags.member !== undefined) settings.members = flags.member;
  if (flags.maxSnitches !== undefined) settings.max_snitches = countOf(flags.maxSnitches);
  if (flags.errorNotices !== undefined) settings.error_notices = flags.errorNotices === 'on';
  if (flags.onHold !== undefined) settings.on_hold = flags.onHold === 'on';
  return settings;
}

function countOf(text: string): number | null {
  if (text === 'none') return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--max-snitches: "${text}" is neither a number nor "none"`);
}

const CASE_VIEW: View<WireCase> = {
  name: ({ name }) => name,
  id: ({ id }) => id,
  empty: 'no cases: create one with `snitch case create NAME`',
  columns: [
    { header: 'ID', cell: ({ id }) => id },
    { header: 'NAME', cell: ({ name }) => name, shrinkTo: 12 },
    { header: 'TIME ZONE', cell: ({ timezone }) => timezone, optional: true },
    { header: 'MEMBERS', cell: ({ members }) => members.join(', '), shrinkTo: 12, optional: true },
    {
      header: 'LIMIT',
      cell: ({ max_snitches }) => String(max_snitches ?? 'none'),
      align: 'right',
      optional: true,
    },
    {
      header: 'HOLD',
      cell: ({ on_hold }) => (on_hold ? 'on hold' : ''),
      paint: ({ on_hold }) => (on_hold ? 'yellow' : null),
      optional: true,
    },
    { header: 'REMINDERS', cell: ({ reminders }) => reminders, wide: true },
    { header: 'CREATED', cell: ({ created_at }, style) => shownTime(created_at, style), wide: true },
  ],
};

function caseFields(one: WireCase, style: Style): Field[] {
  return [
    { label: 'Name', text: one.name, paint: 'bold' },
    { label: 'Id', text: one.id },
    { label: 'Time zone', text: one.timezone },
    { label: 'Members', text: one.members.join('\n') || `nobody: ${WITHOUT_MEMBERS}` },
    { label: 'Reminders', text: one.reminders },
    { label: 'Limit', text: one.max_snitches === null ? 'none' : `${one.max_snitches} snitches` },
    { label: 'Error notices', text: one.error_notices ? 'on' : 'off' },
    {
      label: 'On hold',
      text: one.on_hold ? 'yes: its keys are refused' : 'no',
      paint: one.on_hold ? 'yellow' : null,
    },
    { label: 'Created', text: exactTime(one.created_at, style) },
  ];
}

function print(one: WireCase, flags: ClientFlags): void {
  const output = new Output(flags);
  output.record(one, caseFields(one, output.style), CASE_VIEW);
}

async function listCases(flags: ClientFlags): Promise<void> {
  new Output(flags).list(await connect(flags, 'admin').listCases(), CASE_VIEW);
}

/** Finds a case by its id, or by its name if no other case has the same. */
export async function resolveCase(admin: Client, given: string): Promise<WireCase> {
  const all = await admin.listCases();
  const byId = all.find(({ id }) => id === given);
  if (byId) return byId;
  const [first, second] = all.filter(({ name }) => name === given);
  if (first && second)
    throw new UsageError(`several cases have the name "${given}": use an id, see \`snitch case list\``);
  if (first) return first;
  const [meant] = similar(
    given,
    all.map(({ name }) => name),
  );
  throw new NotFoundError(
    `no case has the id or the name "${given}"\n${meant ? `did you mean "${meant}"?` : '`snitch case list` lists them'}`,
  );
}

async function showCase(given: string | undefined, flags: ClientFlags): Promise<void> {
  const one =
    given === undefined ? await connect(flags).getCase() : await resolveCase(connect(flags, 'admin'), given);
  print(one, flags);
}

async function createCase(name: string, flags: SettingFlags): Promise<void> {
  const created = await connect(flags, 'admin').createCase({ name, ...settingsOf(flags) });
  print(created, flags);
  new Output(flags).hint(`a key for it: snitch key create NAME --case ${created.id}`);
}

async function editCase(given: string | undefined, flags: SettingFlags): Promise<void> {
  const settings = settingsOf(flags);
  if (Object.keys(settings).length === 0) {
    throw new UsageError('nothing to change: `snitch help case edit` lists what can be changed');
  }
  const { maxSnitches, errorNotices, onHold } = flags;
  if (given !== undefined) {
    const admin = connect(flags, 'admin');
    const { id } = await resolveCase(admin, given);
    print(await admin.changeCase(id, settings), flags);
  } else if (maxSnitches !== undefined || errorNotices !== undefined || onHold !== undefined) {
    throw new UsageError(
      '--max-snitches, --error-notices and --on-hold are for the administrator: name the case, as in `snitch case edit CASE --on-hold on`',
    );
  } else {
    print(await connect(flags).updateCase(settings), flags);
  }
}

async function deleteCase(given: string, flags: ClientFlags & { force?: boolean }): Promise<void> {
  const admin = connect(flags, 'admin');
  const { id, name } = await resolveCase(admin, given);
  await confirmDeletion([`case ${name} (${id}) with all its snitches, keys and webhooks`], flags, 'admin');
  await admin.deleteCase(id);
  new Output(flags).done(`${name}: deleted`);
}

function addMember(program: Command): void {
  const member = program.command('member').description('who gets the alerts of the case by email');
  withExamples(member, 'snitch member add ops@example.com', 'snitch member remove ops@example.com');
  const list = member
    .command('list', { isDefault: true })
    .description('list the members')
    .action((flags: ClientFlags) => listMembers(flags));
  withExamples(addClientOptions(list), 'snitch member list');
  const add = member
    .command('add')
    .description('add members')
    .argument('<address...>', 'email addresses')
    .action((addresses: string[], flags: ClientFlags) => addMembers(addresses, flags));
  withExamples(addClientOptions(add), 'snitch member add ops@example.com dev@example.com');
  const remove = member
    .command('remove')
    .description('remove members')
    .argument('<address...>', 'email addresses')
    .action((addresses: string[], flags: ClientFlags) => removeMembers(addresses, flags));
  withExamples(addClientOptions(remove), 'snitch member remove ops@example.com');
}

async function listMembers(flags: ClientFlags): Promise<void> {
  printMembers((await connect(flags).getCase()).members, flags);
}

async function addMembers(addresses: readonly string[], flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const { members } = await client.getCase();
  printMembers((await client.updateCase({ members: [...members, ...addresses] })).members, flags);
}

async function removeMembers(addresses: readonly string[], flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const { members } = await client.getCase();
  for (const address of addresses) {
    if (members.includes(address)) continue;
    const [meant] = similar(address, members);
    throw new NotFoundError(`"${address}" is no member${meant ? `\ndid you mean "${meant}"?` : ''}`);
  }
  const left = members.filter((one) => !addresses.includes(one));
  printMembers((await client.updateCase({ members: left })).members, flags);
}

function printMembers(members: readonly string[], flags: ClientFlags): void {
  const output = new Output(flags);
  if (output.format === 'json') output.json(members);
  else output.lines(members.map(printable));
  if (members.length === 0) output.done(`the case has no members: ${WITHOUT_MEMBERS}`);
}
