/** `snitch server add`, `use` and `remove`. */
import { resolve } from 'node:path';
import { type Document, isMap, YAMLMap } from 'yaml';
import { createClient } from '../../api/client.ts';
import { printable } from '../../text/printable.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { problemOfName, UNNAMED } from '../command/plain-yaml.ts';
import { askSecretly, canAsk } from '../command/prompt.ts';
import { secretIn } from '../command/secret.ts';
import { defaultOf, describeUnknown, plainUrl, sameServer, serversOf } from '../command/servers.ts';
import { type CliFile, readCli, readFiles } from '../command/settings-files.ts';
import {
  AuthenticationError,
  describeFailure,
  Failure,
  NotFoundError,
  UsageError,
} from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { say } from '../output/output.ts';
import { read, spoolDirectory, spoolPath, waiting } from '../spool/directory.ts';
import { changeCliFile } from './cli-file.ts';
import { warnOfReaders } from './list.ts';

export interface AddFlags {
  keyFile?: string;
  adminKeyFile?: string;
  use?: boolean;
  quiet?: boolean;
}

/** How long the server may take to say that it is one, in milliseconds. */
const PATIENCE = 5_000;

/** The lines of a server at the top of the file. */
export const OWN_LINES = ['url', 'api_key', 'api_key_file', 'admin_key', 'admin_key_file', 'check_in_base'];

/** Everything is tried before anything is written. */
export async function addServer(name: string, given: string, flags: AddFlags): Promise<void> {
  const problem = problemOfName(name);
  if (problem !== null) throw new UsageError(problem);
  const url = plainUrl(given, given.includes('@') ? 'URL' : printable(given));
  assertNew(readCli(process.env), name);
  const isThere = await assertSnitch(url);
  const lines = await keyLines(name, url, flags);
  if (lines.value !== null && isThere) await assertAccepted(name, url, lines.value, flags);
  const written = await changeCliFile(process.env, (document, present) => {
    assertNew(present, name);
    const isFirst = serversOf(present).length === 0;
    if (!isMap(document.get('servers'))) document.set('servers', new YAMLMap());
    document.setIn(['servers', name], document.createNode({ url, ...lines.settings }));
    // Adding another server later must not change which one is used by default.
    if (flags.use || (isFirst && !present.values.server)) document.set('server', name);
  });
  warnOfReaders(written);
  if (flags.quiet) return;
  say(`${name} is added to ${written.path}`);
  tellDefault(written);
}

export function assertNew(cli: CliFile, name: string): void {
  const known = serversOf(cli).find((server) => server.name === name);
  if (!known) return;
  throw new Failure(
    `${cli.path} has a server ${name} already: ${known.url}\n\`snitch server remove ${name}\` forgets it`,
  );
}

/**
 * Checks the address before the key is sent there.
 *
 * @returns whether it answers; one that does not may be away for now
 * @throws Failure if it is not a snitch server
 */
async function assertSnitch(url: string): Promise<boolean> {
  try {
    const { status, own } = await createClient({ url, apiKey: '', timeoutMs: PATIENCE }).probe('/healthz');
    if (own || status === 200) return true;
    throw new Failure(
      `${url} answered with status ${status}, and not as a snitch server: nothing was written\nis the address right?`,
    );
  } catch (error) {
    if (error instanceof Failure) throw error;
    say(`${describeFailure(error).lines[0]}: it is added anyway, without a test`);
    return false;
  }
}

interface KeyLines {
  settings: Record<string, string>;
  /** The key of the case; null if none is needed here. */
  value: string | null;
}

async function keyLines(name: string, url: string, { keyFile, adminKeyFile }: AddFlags): Promise<KeyLines> {
  const admin = adminKeyFile === undefined ? {} : { admin_key_file: fileWithKey(adminKeyFile) };
  if (keyFile !== undefined && keyFile !== '-') {
    const path = fileWithKey(keyFile);
    return { settings: { api_key_file: path, ...admin }, value: secretIn(path) };
  }
  const { credentials } = readFiles(process.env, undefined);
  const isHere = credentials.values.url !== undefined && sameServer(credentials.values.url, url);
  if (keyFile === undefined && isHere) return { settings: admin, value: null };
  const value = keyFile === '-' ? secretIn('-') : await askKey(name);
  if (!/^[\x21-\x7e]+$/.test(value)) throw new UsageError('an API key is one word of letters and digits');
  return { settings: { api_key: value, ...admin }, value };
}

/** @returns its absolute path @throws UsageError if it holds no key */
function fileWithKey(path: string): string {
  const about = process.getBuiltinModule('node:fs').statSync(path, { throwIfNoEntry: false });
  if (about && !about.isFile()) {
    throw new UsageError(
      `${path} is not a file that stays there, and each command reads it again: give the key itself with --key-file -`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(secretIn(path)))
    throw new UsageError(`${path} must hold one API key and nothing else`);
  return resolve(path);
}

async function askKey(name: string): Promise<string> {
  if (!canAsk()) {
    throw new UsageError(
      'the key is asked for on a terminal, and there is none: give --key-file FILE, or - for the input',
    );
  }
  const key = await askSecretly(`API key of ${name} (it is not shown): `);
  if (!key)
    throw new Failure(
      'nothing was added: there was no key\ncreate one on that server with `snitch key create NAME`',
    );
  return key;
}

/** @throws AuthenticationError if the server refuses the key; if it cannot say so now, the user is told */
async function assertAccepted(name: string, url: string, apiKey: string, { quiet }: AddFlags): Promise<void> {
  try {
    const { case: own, scope } = await createClient({ url, apiKey, timeoutMs: PATIENCE }).getStanding();
    if (!quiet)
      say(`${name} accepts the key: the case ${own.name}${scope === null ? '' : `, scope ${scope}`}`);
  } catch (error) {
    const [line = ''] = describeFailure(error).lines;
    const { status } = error as { status?: number };
    if ((error as Error).name === 'AnswerNotUnderstood') throw new Failure(`${line}: nothing was written`);
    if (status === 401) throw new AuthenticationError(`${url} refuses this key: nothing was written`);
    say(`${url}: ${line}`);
  }
}

export async function useServer(name: string, { quiet }: { quiet?: boolean }): Promise<void> {
  const written = await changeCliFile(process.env, (document, present) => {
    if (!serversOf(present).some((server) => server.name === name)) {
      throw new NotFoundError(describeUnknown(present, name, '`snitch server use`'));
    }
    // The one at the top of the file is the default if the file names no other.
    if (name === UNNAMED) document.delete('server');
    else document.set('server', name);
  });
  warnOfReaders(written);
  if (!quiet) tellDefault(written);
}

export async function removeServer(name: string, flags: { force?: boolean; quiet?: boolean }): Promise<void> {
  const cli = readCli(process.env);
  const known = serversOf(cli).find((server) => server.name === name);
  if (!known) throw new NotFoundError(describeUnknown(cli, name, '`snitch server remove`'));
  const { url, settings } = known;
  const key = settings.api_key || settings.admin_key ? ' and its key, which is kept nowhere else here' : '';
  const kept = await countKept(name, url);
  const left =
    kept === 0
      ? []
      : [
          `the key for ${countOf(kept, 'check-in', 'check-ins')} in the spool: \`snitch spool flush\` sends ${kept === 1 ? 'it' : 'them'}`,
        ];
  await confirmDeletion([`${name}, ${url}${key}`, ...left], flags, null);
  const written = await changeCliFile(process.env, (document, present) => {
    if (name === UNNAMED) for (const line of OWN_LINES) document.delete(line);
    else removeNamed(document, name);
    if (present.values.server === name) document.delete('server');
  });
  if (flags.quiet) return;
  say(`${name} is removed from ${written.path}; nothing was changed on the server itself`);
  if (kept > 0)
    say(`${countOf(kept, 'check-in', 'check-ins')} for it in the spool cannot be sent without its key`);
  tellDefault(written);
}

function removeNamed(document: Document, name: string): void {
  document.deleteIn(['servers', name]);
  const { servers = {} } = document.toJS() as { servers?: Record<string, unknown> };
  // Earlier programs understand a file without servers.
  if (Object.keys(servers ?? {}).length === 0) document.delete('servers');
}

/** How many waiting check-ins need its key to reach the server: those by name. */
export async function countKept(name: string, url: string): Promise<number> {
  const directory = spoolDirectory();
  let count = 0;
  try {
    for (const file of await waiting(directory)) {
      const kept = await read(spoolPath(directory, file));
      if (kept === null || kept === 'unusable' || kept.token !== null || kept.keyFile !== null) continue;
      const isIts = kept.serverName === undefined ? kept.server === url : kept.serverName === name;
      if (isIts) count += 1;
    }
  } catch {
    // The spool's own commands report what cannot be read.
  }
  return count;
}

export function tellDefault(cli: CliFile): void {
  const name = defaultOf(cli);
  const known = serversOf(cli).find((server) => server.name === name);
  if (known) say(`the default is ${known.name} (${known.url})`);
  else if (serversOf(cli).length > 0) say('there is no default now: set one with `snitch server use NAME`');
  const { SNITCH_URL: url, SNITCH_SERVER: named } = process.env;
  if (known && url && !sameServer(url, known.url))
    say(`SNITCH_URL is set, and overrides this: ${plainUrl(url, 'SNITCH_URL')}`);
  else if (known && !url && named && named !== name)
    say(`SNITCH_SERVER is set, and overrides this: ${named}`);
}
