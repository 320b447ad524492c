/** `snitch key`: who may call the API. */
import { Option } from 'commander';
import type { WireApiKey } from '../../api/wire.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { Output, shownTime, type View } from '../output/output.ts';
import { resolveCase } from './case.ts';

interface KeyFlags extends ClientFlags {
  /** For the administrator: the keys of this case. */
  case?: string;
  /** The keys of the server. */
  admin?: boolean;
  scope?: string;
  force?: boolean;
}

const CASE_OPTION = ['--case <case>', 'of this case, by its id or its name (admin)'] as const;
const ADMIN_OPTION = ['--admin', 'of the server, and not of a case (admin)'] as const;

export const register: Register = (program) => {
  const key = program.command('key').description('API keys: of your case, of any case, or of the server');
  withExamples(
    key,
    'snitch key create laptop                        prints the key, once',
    'snitch key create wallboard --scope read',
    'snitch key create web-hosts --scope provision   checks in and makes snitches, nothing else',
    'snitch key create first --case "Team B"         (admin)',
  );
  const list = key
    .command('list', { isDefault: true })
    .description('list the keys')
    .option(...CASE_OPTION)
    .option(...ADMIN_OPTION)
    .action((flags: KeyFlags) => listKeys(flags));
  withExamples(addClientOptions(list), 'snitch key list', 'snitch key list --admin');
  const create = key
    .command('create')
    .description('make a key, and print it')
    .argument('<name>', 'what it is for, or who uses it')
    .addOption(
      new Option('--scope <scope>', 'what it may do; write if left out').choices([
        'read',
        'write',
        'provision',
      ]),
    )
    .option(...CASE_OPTION)
    .option(...ADMIN_OPTION)
    .action((name: string, flags: KeyFlags) => createKey(name, flags));
  withExamples(
    addClientOptions(create),
    'snitch key create laptop',
    'snitch key create wallboard --scope read',
    'snitch key create web-hosts --scope provision -q > snitch.key',
  );
  const remove = key
    .command('delete')
    .description('delete a key; requests with it are refused from then on')
    .argument('<key>', 'its id, or its name')
    .option(...ADMIN_OPTION)
    .option('-f, --force', 'do not ask; needed without a terminal')
    .action((given: string, flags: KeyFlags) => deleteKey(given, flags));
  withExamples(addClientOptions(remove), 'snitch key delete laptop');
};

const KEY_VIEW: View<WireApiKey> = {
  name: ({ name }) => name,
  id: ({ id }) => id,
  empty: 'no keys',
  columns: [
    { header: 'ID', cell: ({ id }) => id },
    { header: 'NAME', cell: ({ name }) => name, shrinkTo: 12 },
    { header: 'SCOPE', cell: ({ scope }) => scope },
    { header: 'LAST USED', cell: ({ last_used_at }, style) => shownTime(last_used_at, style) },
    { header: 'CREATED', cell: ({ created_at }, style) => shownTime(created_at, style), optional: true },
  ],
};

async function listKeys(flags: KeyFlags): Promise<void> {
  new Output(flags).list(await keysOf(flags), KEY_VIEW);
}

async function keysOf(flags: KeyFlags): Promise<WireApiKey[]> {
  if (flags.case === undefined) return connect(flags, flags.admin ? 'admin' : 'case').listApiKeys();
  if (flags.admin) throw new UsageError('use either --case or --admin, not both');
  const admin = connect(flags, 'admin');
  return admin.listKeysOfCase((await resolveCase(admin, flags.case)).id);
}

/** With `-q` prints only the key: `snitch key create NAME -q > file`. */
async function createKey(name: string, flags: KeyFlags): Promise<void> {
  const created = await create(name, flags);
  const { id, scope, key = '' } = created;
  const output = new Output(flags);
  output.record(
    created,
    [
      { label: 'Name', text: created.name },
      { label: 'Id', text: id },
      { label: 'Scope', text: scope },
      { label: 'Key', text: key, paint: 'bold' },
    ],
    { name: () => created.name, id: () => key },
  );
  const variable = flags.admin ? 'SNITCH_ADMIN_KEY_FILE' : 'SNITCH_API_KEY_FILE';
  output.done(
    `the key is shown only this once: keep it in a file with mode 0600, and name that file in ${variable}`,
  );
}

async function create(name: string, flags: KeyFlags): Promise<WireApiKey> {
  const input = { name, ...(flags.scope === undefined ? {} : { scope: flags.scope }) };
  if (flags.admin) {
    if (flags.case !== undefined || flags.scope !== undefined) {
      throw new UsageError('--admin goes with neither --case nor --scope');
    }
    return connect(flags, 'admin').createApiKey(input);
  }
  if (flags.case === undefined) return connect(flags).createApiKey(input);
  const admin = connect(flags, 'admin');
  return admin.createKeyOfCase((await resolveCase(admin, flags.case)).id, input);
}

async function deleteKey(given: string, flags: KeyFlags): Promise<void> {
  const client = connect(flags, flags.admin ? 'admin' : 'case');
  const all = await client.listApiKeys();
  const found = all.filter(({ id }) => id === given);
  const [key, second] = found.length > 0 ? found : all.filter(({ name }) => name === given);
  if (second)
    throw new UsageError(`several keys have the name "${given}": use an id, see \`snitch key list\``);
  if (!key)
    throw new NotFoundError(`no key has the id or the name "${given}"\n\`snitch key list\` lists them`);
  await confirmDeletion([`key ${key.name} (${key.id}, ${key.scope})`], flags, flags.admin ? 'admin' : 'case');
  await client.deleteApiKey(key.id);
  new Output(flags).done(`${key.name}: deleted`);
}
