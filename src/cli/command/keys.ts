/** Which key goes to a server. The key of one server is never sent to another. */
import { faultOfReading, readWholeText } from '../../system/reading.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { AuthenticationError, Failure } from '../failure/failure.ts';
import { homeOf } from './home.ts';
import type { Settings } from './plain-yaml.ts';
import {
  type FoundServer,
  findServer,
  type ServerFlags,
  sameServer,
  serverAt,
  serversOf,
} from './servers.ts';
import type { Files } from './settings-files.ts';

/** Bytes: no API key is longer. */
const LARGEST_KEY = 4_096;

const { existsSync } = process.getBuiltinModule('node:fs');
const { dirname, resolve } = process.getBuiltinModule('node:path');

/** Which key is needed: one of a case, or one that administers the server. */
export type KeyKind = 'case' | 'admin';

export interface FoundKey {
  value: string;
  /** Where it comes from, in words. */
  source: string;
  /** The file that holds nothing but the key; null if it is elsewhere. */
  file: string | null;
}

export interface Wanted {
  server: FoundServer;
  kind: KeyKind;
  apiKeyFile: string | undefined;
  /**
   * The server flags that are typed now, if the server was chosen earlier, for something that was kept: a key in the
   * environment need not belong to that server.
   */
  typedNow?: ServerFlags | undefined;
}

/**
 * @returns null if there is none
 * @throws AuthenticationError for a file that cannot be used; Failure if a key in the environment may be that of another
 * server
 */
export function findKey(env: NodeJS.ProcessEnv, files: Files, wanted: Wanted): FoundKey | null {
  const { server, kind, apiKeyFile } = wanted;
  if (apiKeyFile !== undefined) return keyInFile(apiKeyFile, '--api-key-file');
  const mayUse = environmentFits(env, files, wanted);
  const [ownNames, name] =
    kind === 'admin' ? (['SNITCH_ADMIN_KEY', 'admin_key'] as const) : ([CASE_KEY, 'api_key'] as const);
  const given = mayUse ? keyInEnvironment(env, ownNames) : null;
  if (given) return given;
  for (const { path, settings, isNamed } of placesOf(files, server)) {
    const value = settings[name];
    if (value) return { value, source: path, file: null };
    const file = settings[`${name}_file`];
    if (file) return keyInFile(keyFileOf(file, { path, isNamed, home: homeOf(env) }), path);
  }
  // If the environment has only SNITCH_API_KEY, that may well be an admin key.
  return mayUse && kind === 'admin' ? keyInEnvironment(env, CASE_KEY) : null;
}

/**
 * The path of a key file that a settings file names: relative to that file, or to the home directory after `~/`. A name
 * at the top of the file was once relative to the working directory, so it is looked for there too.
 *
 * @param by the settings file, and whether the server has a name there
 */
export function keyFileOf(file: string, by: { path: string; isNamed: boolean; home: string }): string {
  if (file.startsWith('~/')) return resolve(by.home, file.slice('~/'.length));
  return !by.isNamed && existsSync(file) ? file : resolve(dirname(by.path), file);
}

const CASE_KEY = 'SNITCH_API_KEY';

/**
 * A key in the environment belongs to `SNITCH_URL`. If that is not set, it belongs to the only server there is: with
 * several in `cli.yaml`, it would be unclear whose it is.
 */
function environmentFits(env: NodeJS.ProcessEnv, files: Files, wanted: Wanted): boolean {
  const { server, kind, typedNow } = wanted;
  const { named, by, url } = server;
  const { cli } = files;
  if (typedNow !== undefined) return isMeantNow(env, files, wanted, typedNow);
  if (named === null) return true;
  if (env.SNITCH_URL) return sameServer(env.SNITCH_URL, url);
  if (serversOf(cli).length === 1) return true;
  const variable = variableSet(env, kind === 'admin' ? 'SNITCH_ADMIN_KEY' : CASE_KEY);
  if (by === '--server' || variable === null) return false;
  throw new Failure(
    `${variable} does not say whether it is the key of ${named.name} or of another server in ${cli.path}, so it is not sent\nset SNITCH_URL as well, or unset it to use the key of ${named.name}`,
    EXIT.authentication,
  );
}

/** Whether the same server would be asked now, with the key in the environment. */
function isMeantNow(env: NodeJS.ProcessEnv, files: Files, wanted: Wanted, typed: ServerFlags): boolean {
  try {
    const server = findServer(typed, env, files);
    const { kind, apiKeyFile } = wanted;
    return (
      sameServer(server.url, wanted.server.url) && environmentFits(env, files, { server, kind, apiKeyFile })
    );
  } catch {
    return false;
  }
}

function variableSet(env: NodeJS.ProcessEnv, name: string): string | null {
  return [name, `${name}_FILE`].find((one) => env[one]) ?? null;
}

interface Place {
  path: string;
  settings: Settings;
  isNamed: boolean;
}

/** A key from a file that names a server is used only for that server, so no other server ever sees it. */
function placesOf({ cli, credentials }: Files, { url, named }: FoundServer): Place[] {
  const daemon = { path: credentials.path, settings: credentials.values, isNamed: false };
  const known = named ?? serverAt(cli, url);
  // A key at the top of a file that has no address there is for whatever server is named elsewhere, as it always was.
  const top = { path: cli.path, settings: cli.values, isNamed: false };
  const own = known
    ? { path: cli.path, settings: known.settings, isNamed: known.settings !== cli.values }
    : null;
  const first = own ?? (cli.values.url === undefined ? top : null);
  const fits = daemon.settings.url === undefined || sameServer(daemon.settings.url, url);
  return [...(first ? [first] : []), ...(fits ? [daemon] : [])];
}

function keyInEnvironment(env: NodeJS.ProcessEnv, name: string): FoundKey | null {
  const value = env[name];
  if (value) return { value: value.trim(), source: name, file: null };
  const file = env[`${name}_FILE`];
  return file ? keyInFile(file, `${name}_FILE`) : null;
}

function keyInFile(path: string, source: string): FoundKey {
  let text: string;
  try {
    text = readWholeText(path, LARGEST_KEY).trim();
  } catch (error) {
    throw new AuthenticationError(`${source}: cannot read the key from ${path}: ${faultOfReading(error)}`);
  }
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new AuthenticationError(`${source}: ${path} must hold one API key and nothing else`);
  }
  return { value: text, source: `${path} (${source})`, file: resolve(path) };
}

export function describeMissingKey(
  server: FoundServer,
  kind: KeyKind,
  { cli, credentials, forbidden }: Files,
): string {
  const { named, url } = server;
  const variable = kind === 'admin' ? 'SNITCH_ADMIN_KEY_FILE' : 'SNITCH_API_KEY_FILE';
  const name = kind === 'admin' ? 'admin_key' : 'api_key';
  const what = `no ${kind === 'admin' ? 'admin key' : 'API key'} for`;
  if (named !== null) {
    return [
      `${what} ${named.name} (${url})`,
      `write ${name} or ${name}_file below ${named.name} in ${cli.path}, or name a file with --api-key-file`,
    ].join('\n');
  }
  const others = [
    ...serversOf(cli).map((known) => ({ path: cli.path, url: known.url })),
    { path: credentials.path, url: credentials.values.url ?? '' },
  ].filter((other) => other.url !== '' && !sameServer(other.url, url));
  const elsewhere = others.map((other) => `${other.path} has a key for ${other.url} only`);
  return [
    `${what} ${url}`,
    ...elsewhere,
    `set ${variable} to a file with the key, or write url and ${name} into ~/.config/snitch/cli.yaml; ${whereKeysAre(credentials.path, forbidden)}`,
  ].join('\n');
}

/** A node on PostgreSQL leaves this file in its data directory. */
const OF_A_NODE = 'postgres-primary.json';

function whereKeysAre(path: string, [closed]: readonly string[]): string {
  if (closed !== undefined)
    return `for the daemon on this host: only root and its own user may read ${closed}, so run this with sudo`;
  const elsewhere = whereKeysOfNodesAre(path);
  if (elsewhere !== null) return elsewhere;
  return `on the host of the daemon, its keys are in credentials.yaml in its data directory (expected: ${path}); if several share a database, on the host of the one that started first`;
}

/** Null unless the directory of this file of keys is the data directory of a node on PostgreSQL. */
export function whereKeysOfNodesAre(path: string): string | null {
  if (!existsSync(resolve(dirname(path), OF_A_NODE))) return null;
  return `the daemon of this host uses PostgreSQL, for which keys are created once, by the node that starts first: they are in credentials.yaml in its data directory. Copy that file to ${path}, and restart the daemon here, which writes its own address into it`;
}
