/**
 * Where a command finds its server and its key: a flag, then the environment, then
 * `$XDG_CONFIG_HOME/snitch/cli.yaml`, then `credentials.yaml` in the data directory of a daemon on this host.
 */
import { type Client, createClient } from '../../api/client.ts';
import type { Patience } from '../../api/turns.ts';
import { AuthenticationError, Failure } from '../failure/failure.ts';
import { say } from '../output/output.ts';
import { parseDuration } from './duration.ts';
import { describeMissingKey, findKey, type KeyKind } from './keys.ts';
import {
  type FoundServer,
  findServer,
  plainUrl,
  type ServerFlags,
  sameServer,
  serverAt,
  serversOf,
} from './servers.ts';
import { type CliFile, type Files, readFiles } from './settings-files.ts';

export type { KeyKind } from './keys.ts';
export { DEFAULT_URL } from './servers.ts';

export interface ConnectionFlags {
  url?: string;
  /** The name of a server in `cli.yaml`. */
  server?: string;
  apiKeyFile?: string;
  /** A duration such as `10s`. */
  timeout?: string;
  /** The data directory of the daemon, if the command has already read the configuration. */
  dataDir?: string;
}

export interface Connection {
  url: string;
  apiKey: string;
  timeoutMs: number;
  /** Where the address came from, in words, for `doctor`. */
  urlSource: string;
  keySource: string;
  /** The file that holds nothing but the key; null if it is elsewhere. */
  keyFile: string | null;
  /** What the server is called in `cli.yaml`; null if it has no name there. */
  serverName: string | null;
  /** Whether `cli.yaml` has several servers, so that messages name the one in use. */
  isOneOfSeveral: boolean;
}

const TIMEOUT = 30_000;

/** @throws AuthenticationError if no key is found; UsageError and Failure for what cannot be read */
export function findConnection(
  flags: ConnectionFlags,
  kind: KeyKind = 'case',
  env: NodeJS.ProcessEnv = process.env,
): Connection {
  const files = readFiles(env, flags.dataDir);
  return connectionTo(findServer(flags, env, files), { flags, kind, env, files });
}

interface Connecting {
  flags: ConnectionFlags;
  kind: KeyKind;
  env: NodeJS.ProcessEnv;
  files: Files;
  typedNow?: ServerFlags;
}

function connectionTo(server: FoundServer, { flags, kind, env, files, typedNow }: Connecting): Connection {
  const key = findKey(env, files, { server, kind, apiKeyFile: flags.apiKeyFile, typedNow });
  if (!key) throw new AuthenticationError(describeMissingKey(server, kind, files));
  return {
    url: server.url,
    apiKey: key.value,
    timeoutMs: timeoutOf(flags),
    urlSource: server.source,
    keySource: key.source,
    keyFile: key.file,
    serverName: nameOf(server, files.cli),
    isOneOfSeveral: serversOf(files.cli).length > 1,
  };
}

function nameOf({ named, url }: FoundServer, cli: CliFile): string | null {
  return named ? named.name : (orNull(() => serverAt(cli, url))?.name ?? null);
}

function orNull<T>(find: () => T): T | null {
  try {
    return find();
  } catch {
    return null;
  }
}

/** A server that something was kept for, perhaps long ago. */
export interface KeptServer {
  /** Null if it was not known. */
  server: string | null;
  /** Its name in `cli.yaml`; null if it had none there. */
  serverName: string | null;
  /** The file with its key; null for the key that the settings have for it now. */
  keyFile: string | null;
}

/**
 * The same server again, whatever is the default by now, and whatever it is called.
 *
 * @param typedNow the server flags of the present command, whose server the keys in the environment belong to
 * @throws AuthenticationError if no key for it is found any more; Failure if the server is not known any more
 */
export function findKeptConnection(
  { server, serverName, keyFile }: KeptServer,
  typedNow: ServerFlags = {},
  env: NodeJS.ProcessEnv = process.env,
): Connection {
  const present = readFiles(env, undefined);
  const flags = keyFile === null ? {} : { apiKeyFile: keyFile };
  if (server === null && serverName === null) {
    // Programs from before servers had names kept this, and meant the one at the top of the file.
    const { server: _, ...values } = present.cli.values;
    const files: Files = { ...present, cli: { ...present.cli, values, servers: new Map() } };
    const found = findServer({}, { ...env, SNITCH_SERVER: '' }, files);
    return connectionTo(found, { flags, kind: 'case', env, files });
  }
  const found = keptServer(present.cli, server, serverName);
  return connectionTo(found, { flags, kind: 'case', env, files: present, typedNow });
}

/** A name may belong to another server by now, which the address shows. */
function keptServer(cli: CliFile, server: string | null, name: string | null): FoundServer {
  const known = serversOf(cli).find(
    (one) => one.name === name && (server === null || sameServer(one.url, server)),
  );
  const url = server ?? known?.url ?? '';
  if (url === '') throw new Failure(`it is for the server "${name}", which is not in ${cli.path}`);
  return { url: plainUrl(url, 'the spool'), source: 'the spool', named: known ?? null, by: null };
}

/** Where to send a check-in that was kept without a check-in address; null if not even its server is known. */
export function findKeptBase(
  { server, serverName }: Omit<KeptServer, 'keyFile'>,
  env: NodeJS.ProcessEnv = process.env,
): string | null {
  try {
    const { cli } = readFiles(env, undefined);
    const found = keptServer(cli, server, serverName);
    const base = checkInBaseOf(found, cli);
    return base ? plainUrl(base, cli.path) : baseAt(found.url);
  } catch {
    return null;
  }
}

/** Names the server before something is changed there; null if there is only one. */
export function serverInWords(flags: ConnectionFlags, kind: KeyKind = 'case'): string | null {
  const { serverName, url, isOneOfSeveral } = findConnection(flags, kind);
  if (!isOneOfSeveral) return null;
  return serverName === null ? url : `${serverName} (${url})`;
}

/** A client for the commands of a case, or with `admin` for those of the server. */
export function connect(flags: ConnectionFlags, kind: KeyKind = 'case'): Client {
  return createClient({ ...findConnection(flags, kind), patience: patienceOf(flags) });
}

/**
 * How long to wait for the server: a key that made too many requests is blocked for a minute, and a server that cannot
 * write asks for ten seconds, perhaps several times.
 */
const RATE_LIMITED_S = 120;
const UNAVAILABLE_S = 30;

/** A time limit given by the user includes this wait. */
function patienceOf(flags: ConnectionFlags): Patience {
  const mostS = flags.timeout === undefined ? Number.POSITIVE_INFINITY : timeoutOf(flags) / 1_000;
  return {
    rateLimitedS: Math.min(RATE_LIMITED_S, mostS),
    unavailableS: Math.min(UNAVAILABLE_S, mostS),
    onWait: ({ seconds, reason, perMinute }) =>
      say(
        reason === 'pace'
          ? `the server accepts ${perMinute} requests a minute: continuing at that rate`
          : `the server asks us to wait ${seconds} s: waiting`,
      ),
  };
}

export interface CheckInAddress {
  /** What check-in addresses begin with; `unix:/path` stands for the path `/c` on that socket. */
  base: string;
  /** The address of the server and its name in `cli.yaml`; null if only the check-in address is known. */
  server: string | null;
  serverName: string | null;
  timeoutMs: number;
}

/** Whether nobody has said which server is meant, here or in a file. */
export function isUndecided(flags: ConnectionFlags, env: NodeJS.ProcessEnv = process.env): boolean {
  return orNull(() => findServer(flags, env, readFiles(env, flags.dataDir)))?.source === 'the default';
}

/** Only the address, for commands that need no key. @throws UsageError and Failure for files that cannot be read */
export function findAddress(flags: ConnectionFlags, env: NodeJS.ProcessEnv = process.env): string {
  return findServer(flags, env, readFiles(env, flags.dataDir)).url;
}

/** Where check-ins are sent. They need no key, because the token is the secret. */
export function findCheckInAddress(
  flags: ConnectionFlags,
  env: NodeJS.ProcessEnv = process.env,
): CheckInAddress {
  const files = readFiles(env, flags.dataDir);
  const timeoutMs = timeoutOf(flags);
  const isTyped = flags.url !== undefined || flags.server !== undefined;
  const given = isTyped ? undefined : env.SNITCH_CHECK_IN_BASE;
  if (given) {
    const server = orNull(() => findServer(flags, env, files));
    const base = plainUrl(given, 'SNITCH_CHECK_IN_BASE');
    return { base, server: server?.url ?? null, serverName: server?.named?.name ?? null, timeoutMs };
  }
  const server = findServer(flags, env, files);
  const own = flags.url === undefined ? checkInBaseOf(server, files.cli) : undefined;
  const base = own ? plainUrl(own, `check_in_base in ${files.cli.path}`) : baseAt(server.url);
  return { base, server: server.url, serverName: nameOf(server, files.cli), timeoutMs };
}

function baseAt(url: string): string {
  return url.startsWith('unix:') ? url : `${url}/c`;
}

/** A base at the top of the file belongs to the server there, or to whichever one is meant if there is none there. */
function checkInBaseOf({ named, url }: FoundServer, { values }: CliFile): string | undefined {
  if (named) return named.settings.check_in_base;
  return values.url === undefined || sameServer(values.url, url) ? values.check_in_base : undefined;
}

/** @returns milliseconds @throws UsageError for anything that is not a duration */
export function timeoutOf({ timeout }: ConnectionFlags): number {
  return timeout === undefined ? TIMEOUT : parseDuration(timeout, '--timeout');
}
