/**
 * Which server is meant: `--url` or `--server`, then `SNITCH_URL`, then `SNITCH_SERVER`, then `cli.yaml`, then
 * `credentials.yaml` of a daemon on this host.
 */
import { fitsSocket, LONGEST_SOCKET_PATH } from '../../system/unix-socket.ts';
import { similar } from '../../text/similar.ts';
import { Failure, NotFoundError, UsageError } from '../failure/failure.ts';
import { type Settings, UNNAMED } from './plain-yaml.ts';
import type { CliFile, Files } from './settings-files.ts';

export const DEFAULT_URL = 'http://127.0.0.1:7676';

/** A server of `cli.yaml`. */
export interface KnownServer {
  name: string;
  /** As it is in the file; empty if it is missing there. */
  url: string;
  settings: Settings;
}

export interface FoundServer {
  url: string;
  /** Where the address comes from, in words. */
  source: string;
  /**
   * The server of `cli.yaml` that was chosen by name; null if the address was given, or is that of the daemon on this
   * host.
   */
  named: KnownServer | null;
  /** What named it, if it was named: the command line has the last word over the environment. */
  by: '--server' | 'SNITCH_SERVER' | 'cli.yaml' | null;
}

/** What was typed about the server. */
export interface ServerFlags {
  url?: string;
  server?: string;
}

/**
 * The server flags alone, from the flags of a job. An empty address, as from a variable that is not set, counts as
 * none: with it, jobs in crontabs have always checked in at their usual server.
 */
export function typedIn({ url, server }: ServerFlags): ServerFlags {
  return { ...(url ? { url } : {}), ...(server === undefined ? {} : { server }) };
}

/** All servers of the file: first the one at its top, which has no name there. */
export function serversOf({ values, servers }: CliFile): KnownServer[] {
  const top = values.url ? [{ name: UNNAMED, url: values.url, settings: values }] : [];
  const named = [...servers].map(([name, settings]) => ({ name, url: settings.url ?? '', settings }));
  return [...top, ...named];
}

/** The name of the server that is asked unless another one is named; null if the file does not settle it. */
export function defaultOf(cli: CliFile): string | null {
  const known = serversOf(cli);
  if (cli.values.server) return cli.values.server;
  if (cli.values.url) return UNNAMED;
  return known.length === 1 ? (known[0]?.name ?? null) : null;
}

/** @throws UsageError and NotFoundError that say which servers there are */
export function findServer(
  flags: ServerFlags,
  env: NodeJS.ProcessEnv,
  { cli, credentials }: Files,
): FoundServer {
  if (flags.url !== undefined && flags.server !== undefined) {
    throw new UsageError('--url and --server both choose a server: give only one of them');
  }
  if (flags.url !== undefined) return addressed(flags.url, '--url');
  if (flags.server !== undefined) return chosen(cli, flags.server, '--server');
  if (env.SNITCH_URL) return addressed(env.SNITCH_URL, 'SNITCH_URL');
  if (env.SNITCH_SERVER) return chosen(cli, env.SNITCH_SERVER, 'SNITCH_SERVER');
  if (cli.values.server) return chosen(cli, cli.values.server, 'cli.yaml');
  if (cli.values.url) return addressed(cli.values.url, cli.path);
  const known = serversOf(cli);
  if (known.length > 1) throw new UsageError(undecided(cli, known));
  if (known[0]) return chosen(cli, known[0].name, 'cli.yaml');
  if (credentials.values.url) return addressed(credentials.values.url, credentials.path);
  return addressed(DEFAULT_URL, 'the default');
}

function undecided({ path }: CliFile, known: readonly KnownServer[]): string {
  const names = known.map(({ name }) => name).join(', ');
  return `${path} names several servers, but no default: ${names}\nchoose with --server NAME or SNITCH_SERVER, or set a default with \`snitch server use NAME\``;
}

function addressed(url: string, source: string): FoundServer {
  return { url: plainUrl(url, source), source, named: null, by: null };
}

function chosen(cli: CliFile, name: string, by: NonNullable<FoundServer['by']>): FoundServer {
  const named = serversOf(cli).find((server) => server.name === name);
  if (named === undefined && isAddress(name) && by !== 'cli.yaml') {
    // It is not shown, because it may hold a password.
    throw new UsageError(`${by}: is the name of a server, not an address: use --url or SNITCH_URL`);
  }
  if (named === undefined) throw new NotFoundError(describeUnknown(cli, name, by));
  if (named.url === '') throw new Failure(`${cli.path}: the server ${name} has no url`);
  const source = by === 'cli.yaml' ? cli.path : `${by}, ${cli.path}`;
  return { url: plainUrl(named.url, `${cli.path}: ${name}`), source, named, by };
}

function isAddress(text: string): boolean {
  return /^unix:|:\/\//.test(text);
}

export function describeUnknown(cli: CliFile, name: string, by: string): string {
  const names = serversOf(cli).map((server) => server.name);
  const meant = similar(name, names);
  const source = by === 'cli.yaml' ? cli.path : by;
  const first = `${source}: there is no server "${name}"`;
  if (cli.isForbidden) return `${first}: this user may not read ${cli.path}, which names the servers`;
  if (names.length === 0) {
    return `${first}: ${cli.path} names none\n\`snitch server add ${name} URL\` adds one, for the user who types it`;
  }
  const hint = meant.length > 0 ? `did you mean ${meant.join(' or ')}? ` : '';
  return `${first}\n${hint}${cli.path} names ${names.join(', ')}: \`snitch server list\``;
}

/** @throws UsageError naming where the address was set, not what it is: it may hold a password */
export function plainUrl(text: string, source: string): string {
  if (text.startsWith('unix:')) {
    if (fitsSocket(text.slice('unix:'.length))) return text;
    const limit = `the path of a socket has at most ${LONGEST_SOCKET_PATH} bytes`;
    throw new UsageError(`${source}: ${limit}: name it by a shorter link`);
  }
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError(
      `${source}: the server's address must be http://HOST:PORT, https://HOST or unix:/PATH, without a user name`,
    );
  }
  return text.replace(/\/+$/, '');
}

/** Whether two addresses mean the same server. The names of this host for itself count as one. */
export function sameServer(one: string, other: string): boolean {
  const plain = (url: string) =>
    url
      .replace(/\/+$/, '')
      .replace(/^(https?:\/\/)(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)/i, '$1loopback');
  return plain(one) === plain(other);
}

/**
 * The server of the file that has this address. Several servers with one address have the keys of several cases: then
 * the default is meant, if it is among them.
 *
 * @throws Failure if that is not settled
 */
export function serverAt(cli: CliFile, url: string): KnownServer | null {
  const found = serversOf(cli).filter((server) => server.url !== '' && sameServer(server.url, url));
  if (found.length < 2) return found[0] ?? null;
  const own = found.find(({ name }) => name === defaultOf(cli));
  if (own) return own;
  const names = found.map(({ name }) => name).join(', ');
  throw new Failure(`${cli.path} has several servers at ${url}: ${names}\nchoose with --server NAME`);
}
