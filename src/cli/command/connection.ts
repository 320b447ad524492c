/**
 * Where a command finds its server and its key: a flag, then the environment, then
 * `$XDG_CONFIG_HOME/snitch/cli.yaml`, then `credentials.yaml` in the data directory of a daemon on this host.
 */
import { type Client, createClient } from '../../api/client.ts';
import type { Patience } from '../../api/turns.ts';
import { AuthenticationError, Failure, UsageError } from '../failure/failure.ts';
import { say } from '../output/output.ts';
import { parseDuration } from './duration.ts';
import { configHome, stateHome } from './home.ts';
import { parsePlainYaml } from './plain-yaml.ts';

// An import of `node:fs` would evaluate all its exports; this takes what is already loaded.
const { readFileSync } = process.getBuiltinModule('node:fs');
const { join } = process.getBuiltinModule('node:path');

export const DEFAULT_URL = 'http://127.0.0.1:7676';

export interface ConnectionFlags {
  url?: string;
  apiKeyFile?: string;
  /** A duration such as `10s`. */
  timeout?: string;
  /** The data directory of the daemon, if the command has already read the configuration. */
  dataDir?: string;
}

/** Which key is needed: one of a case, or one that administers the server. */
export type KeyKind = 'case' | 'admin';

export interface Connection {
  url: string;
  apiKey: string;
  timeoutMs: number;
  /** Where the address and the key come from, in words, for `doctor`. */
  urlSource: string;
  keySource: string;
}

interface Found {
  value: string;
  source: string;
}

const TIMEOUT = 30_000;

/** @throws AuthenticationError if no key is found; UsageError and Failure for what cannot be read */
export function findConnection(
  flags: ConnectionFlags,
  kind: KeyKind = 'case',
  env: NodeJS.ProcessEnv = process.env,
): Connection {
  const files = readFiles(env, flags);
  const url = findUrl(flags, env, files);
  const key = findKey(flags, env, files, { url: url.value, kind });
  if (!key) throw new AuthenticationError(describeMissingKey(url, kind, files));
  return {
    url: url.value,
    apiKey: key.value,
    timeoutMs: timeoutOf(flags),
    urlSource: url.source,
    keySource: key.source,
  };
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
          ? `the server takes ${perMinute} requests a minute: going on at that pace`
          : `the server asks to wait ${seconds} s: waiting`,
      ),
  };
}

export interface CheckInAddress {
  /** What check-in addresses begin with; `unix:/path` stands for the path `/c` on that socket. */
  base: string;
  timeoutMs: number;
}

/** The address alone, for what needs no key. @throws UsageError and Failure for what cannot be read */
export function findServer(flags: ConnectionFlags, env: NodeJS.ProcessEnv = process.env): string {
  return findUrl(flags, env, readFiles(env, flags)).value;
}

/** Where check-ins are sent. They need no key, because the token is the secret. */
export function findCheckInAddress(
  flags: ConnectionFlags,
  env: NodeJS.ProcessEnv = process.env,
): CheckInAddress {
  const files = readFiles(env, flags);
  const timeoutMs = timeoutOf(flags);
  const given = env.SNITCH_CHECK_IN_BASE || files.cli.values.check_in_base;
  if (flags.url === undefined && given) return { base: plainUrl(given, 'SNITCH_CHECK_IN_BASE'), timeoutMs };
  const { value: url } = findUrl(flags, env, files);
  return { base: url.startsWith('unix:') ? url : `${url}/c`, timeoutMs };
}

/** @returns milliseconds @throws UsageError for what is no duration */
export function timeoutOf({ timeout }: ConnectionFlags): number {
  return timeout === undefined ? TIMEOUT : parseDuration(timeout, '--timeout');
}

interface SettingsFile {
  path: string;
  values: Record<string, string>;
}

interface Files {
  cli: SettingsFile;
  credentials: SettingsFile;
  /** Files that this user may not read, if they exist at all. */
  forbidden: readonly string[];
}

function readFiles(env: NodeJS.ProcessEnv, { dataDir }: ConnectionFlags): Files {
  const found = readSettings(join(configHome(env), 'snitch', 'cli.yaml'));
  const cli = found === 'forbidden' || found === null ? { path: 'cli.yaml', values: {} } : found;
  const candidates = dataDirs(env, dataDir).map((directory) => join(directory, 'credentials.yaml'));
  const forbidden: string[] = [];
  for (const path of candidates) {
    const credentials = readSettings(path);
    if (credentials === 'forbidden') forbidden.push(path);
    else if (credentials) return { cli, credentials, forbidden };
  }
  return { cli, credentials: { path: candidates[0] ?? '', values: {} }, forbidden };
}

/** Where the daemon of this user, or of the system, may keep its data. The daemon itself looks in the same order. */
function dataDirs(env: NodeJS.ProcessEnv, known: string | undefined): string[] {
  if (known !== undefined) return [known];
  if (env.SNITCH_DATA_DIR) return [env.SNITCH_DATA_DIR];
  const fromUnit = env.STATE_DIRECTORY?.split(':')[0];
  const configured = configuredDataDir(env.SNITCH_CONFIG || '/etc/snitch/config.yaml');
  const all = [configured, fromUnit, join(stateHome(env), 'snitch'), '/var/lib/snitch'];
  return all.filter((directory) => directory !== undefined && directory !== '') as string[];
}

/** `data_dir` of the daemon's configuration, if it is on a line of its own, as it nearly always is. */
function configuredDataDir(path: string): string | undefined {
  try {
    const [line] = /^data_dir:[ \t].*$/m.exec(readFileSync(path, 'utf8')) ?? [];
    const directory = line === undefined ? undefined : parsePlainYaml(line).data_dir;
    return directory?.startsWith('/') ? directory : undefined;
  } catch {
    return undefined;
  }
}

/** Null if there is no such file. */
function readSettings(path: string): SettingsFile | 'forbidden' | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'EACCES' || code === 'EPERM') return 'forbidden';
    throw new Failure(`cannot read ${path}: ${code}`);
  }
  try {
    return { path, values: parsePlainYaml(text) };
  } catch (error) {
    throw new Failure(`cannot read ${path}: ${(error as Error).message}`);
  }
}

function findUrl(flags: ConnectionFlags, env: NodeJS.ProcessEnv, { cli, credentials }: Files): Found {
  const [found] = [
    { value: flags.url, source: '--url' },
    { value: env.SNITCH_URL, source: 'SNITCH_URL' },
    { value: cli.values.url, source: cli.path },
    { value: credentials.values.url, source: credentials.path },
    { value: DEFAULT_URL, source: 'the default' },
  ].filter(({ value }) => Boolean(value));
  const { value = DEFAULT_URL, source = 'the default' } = found ?? {};
  return { value: plainUrl(value, source), source };
}

/** @throws UsageError naming where the address was set, not what it is: it may hold a password */
function plainUrl(text: string, source: string): string {
  if (text.startsWith('unix:')) return text;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError(
      `${source}: the server's address must be http://HOST:PORT, https://HOST or unix:/PATH, without a user name`,
    );
  }
  return text.replace(/\/+$/, '');
}

interface Wanted {
  url: string;
  kind: KeyKind;
}

/** A key from a file that names a server is used for that server alone, so that no other one gets to see it. */
function findKey(
  flags: ConnectionFlags,
  env: NodeJS.ProcessEnv,
  { cli, credentials }: Files,
  { url, kind }: Wanted,
): Found | null {
  if (flags.apiKeyFile !== undefined) return keyInFile(flags.apiKeyFile, '--api-key-file');
  const ofCase = keyInEnvironment(env, 'SNITCH_API_KEY');
  if (kind === 'case' && ofCase) return ofCase;
  const ofServer = kind === 'admin' ? keyInEnvironment(env, 'SNITCH_ADMIN_KEY') : null;
  if (ofServer) return ofServer;
  const name = kind === 'admin' ? 'admin_key' : 'api_key';
  for (const { path, values } of [cli, credentials]) {
    if (values.url !== undefined && !sameServer(values.url, url)) continue;
    const value = values[name];
    if (value) return { value, source: path };
    const file = values[`${name}_file`];
    if (file) return keyInFile(file, path);
  }
  // If the environment has only SNITCH_API_KEY, that may well be an admin key.
  return ofCase;
}

function keyInEnvironment(env: NodeJS.ProcessEnv, name: string): Found | null {
  const value = env[name];
  if (value) return { value: value.trim(), source: name };
  const file = env[`${name}_FILE`];
  return file ? keyInFile(file, `${name}_FILE`) : null;
}

function keyInFile(path: string, source: string): Found {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new AuthenticationError(
      `${source}: cannot read the key from ${path}: ${(error as NodeJS.ErrnoException).code}`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new AuthenticationError(`${source}: ${path} must hold one API key and nothing else`);
  }
  return { value: text, source: `${path} (${source})` };
}

/** This host has several names for itself. */
function sameServer(one: string, other: string): boolean {
  const plain = (url: string) =>
    url
      .replace(/\/+$/, '')
      .replace(/^(https?:\/\/)(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)/i, '$1loopback');
  return plain(one) === plain(other);
}

function describeMissingKey(url: Found, kind: KeyKind, { cli, credentials, forbidden }: Files): string {
  const variable = kind === 'admin' ? 'SNITCH_ADMIN_KEY_FILE' : 'SNITCH_API_KEY_FILE';
  const others = [cli, credentials].filter(({ values }) => values.url && !sameServer(values.url, url.value));
  const elsewhere = others.map(({ path, values }) => `${path} has a key for ${values.url} only`);
  const [closed] = forbidden;
  const local =
    closed === undefined
      ? `on the host of the daemon, its keys are in credentials.yaml in its data directory (looked for: ${credentials.path})`
      : `where the daemon of this host is meant: only root and its own user may read ${closed}, so run this with sudo`;
  return [
    `no ${kind === 'admin' ? 'admin key' : 'API key'} for ${url.value}`,
    ...elsewhere,
    `set ${variable} to a file with the key, or write url and ${kind === 'admin' ? 'admin_key' : 'api_key'} into ~/.config/snitch/cli.yaml; ${local}`,
  ].join('\n');
}
