/**
 * The address of a database in the form that libpq reads:
 * `postgres://USER:PASSWORD@HOST[:PORT],HOST[:PORT]/DATABASE?sslmode=verify-full`. A value is never part of an error,
 * because a password that is not encoded can end up anywhere in the address.
 */
import { type Options, readOptions, type Tls } from './postgres-options.ts';

export interface DatabaseHost {
  /** A name, an IP address without brackets, or the directory of a Unix socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
}

export interface PostgresAddress {
  /** At least one; Snitch finds the one that accepts writes. */
  readonly hosts: readonly DatabaseHost[];
  /** Null for the user that the process runs as. */
  readonly user: string | null;
  readonly password: string | null;
  /** Null for the database named after the user. */
  readonly database: string | null;
  readonly tls: Tls;
  readonly applicationName: string;
  /** How long a host has to answer before it counts as unreachable. */
  readonly connectTimeoutMs: number;
}

/** Where Debian and most other systems put the socket. */
export const SOCKET_DIRECTORY = '/var/run/postgresql';

const DEFAULT_PORT = 5_432;
const MOST_HOSTS = 16;
const LONGEST = 4_096;

const ENCODE = '@, :, /, ? and # in a user name or password are written %40, %3A, %2F, %3F and %23';

/** @throws Error that says what is wrong, but shows nothing of the address that could be a secret */
export function parsePostgresUrl(text: string): PostgresAddress {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text) ?? [];
  if (rest === undefined) throw new Error('must begin with postgres://');
  if (text.length > LONGEST) throw new Error(`is longer than ${LONGEST} characters`);
  if (/[\p{Cc}\p{Cf}\s]/u.test(text)) throw new Error('must not have spaces or control characters in it');
  if (rest.includes('#')) throw new Error(`must not have a # in it: ${ENCODE}`);
  const [place = '', query = ''] = splitOnce(rest, '?');
  if (query.includes('@')) throw new Error(`has an @ after the ?: ${ENCODE}`);
  const options = readOptions(query);
  const [authority = '', path = ''] = splitOnce(place, '/');
  if (/[/@]/.test(path)) throw new Error(`has a / or an @ in the name of the database: ${ENCODE}`);
  const at = authority.lastIndexOf('@');
  const [user, password] = readCredentials(at < 0 ? '' : authority.slice(0, at), options);
  return {
    hosts: readHosts(authority.slice(at + 1), options),
    user,
    password,
    database: options.dbname ?? (path === '' ? null : decode(path, 'the name of the database')),
    tls: options.tls,
    applicationName: options.applicationName ?? 'snitch',
    connectTimeoutMs: options.connectTimeoutMs ?? 3_000,
  };
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function readCredentials(text: string, { user, password }: Options): [string | null, string | null] {
  const [name = '', secret] = splitOnce(text, ':');
  return [
    user ?? (name === '' ? null : decode(name, 'the user name')),
    password ?? (secret ? decode(secret, 'the password') : null),
  ];
}

function decode(text: string, what: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new Error(`has a % in ${what} that begins no encoded character: write it %25`);
  }
  if (/[\0\n\r]/.test(decoded)) throw new Error(`has a line break or a NUL in ${what}`);
  return decoded;
}

function readHosts(authority: string, options: Options): DatabaseHost[] {
  const inUrl = authority === '' ? [] : authority.split(',').map(readHost);
  if (inUrl.length > 0 && options.host !== null)
    throw new Error('names hosts before the / and again in host=: keep one of them');
  const named = options.host === null ? inUrl : options.host.split(',').map((host) => ({ host, port: null }));
  const hosts = named.length > 0 ? named : [{ host: SOCKET_DIRECTORY, port: null }];
  if (hosts.length > MOST_HOSTS) throw new Error(`names more than ${MOST_HOSTS} hosts`);
  const ports = readPorts(options.port, hosts.length);
  const complete = hosts.map(({ host, port }, index) => ({
    host: checkedHost(host),
    port: port ?? ports[index] ?? DEFAULT_PORT,
  }));
  const distinct = new Set(complete.map(describeHost));
  if (distinct.size < complete.length) throw new Error('names one of the hosts twice');
  return complete;
}

function readHost(text: string): { host: string; port: number | null } {
  const found = /^(?:\[(?<v6>[\da-fA-F:.]+)\]|(?<name>[^:[\]]*))(?::(?<port>\d*))?$/.exec(text)?.groups;
  if (!found) throw new Error(`has a host that is not HOST, HOST:PORT or [IPv6]:PORT; ${ENCODE}`);
  const host = found.v6 ?? decode(found.name ?? '', 'a host');
  return { host: host === '' ? SOCKET_DIRECTORY : host, port: found.port ? readPort(found.port) : null };
}

function checkedHost(host: string): string {
  if (host.startsWith('/') || /^[\da-fA-F:.]+$/.test(host) || /^[\w.-]+$/.test(host)) return host;
  throw new Error(
    `has a host that is neither a name, nor an address, nor the absolute path of a socket directory; ${ENCODE}`,
  );
}

/** One port for each host, or one for all. */
function readPorts(text: string | null, count: number): number[] {
  if (text === null) return [];
  const ports = text.split(',').map(readPort);
  const [first = DEFAULT_PORT] = ports;
  if (ports.length === 1) return Array.from({ length: count }, () => first);
  if (ports.length !== count) throw new Error(`has ${ports.length} ports in port= for ${count} hosts`);
  return ports;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new Error(`has a port that is not a whole number from 1 to 65535; ${ENCODE}`);
  return port;
}

/** `a:5432`, `[::1]:5432`, `/var/run/postgresql:5432` */
export function describeHost({ host, port }: DatabaseHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The address for people to read: complete, but with `***` for the password. */
export function maskPostgresUrl({ hosts, user, password, database, tls }: PostgresAddress): string {
  const sockets = hosts.map(({ host, port }) => describeHost({ host: host.replaceAll('/', '%2F'), port }));
  const who = user === null ? '' : `${encodeURIComponent(user)}${password === null ? '' : ':***'}@`;
  const name = database === null ? '' : `/${encodeURIComponent(database)}`;
  const files = [tls.rootCert && `sslrootcert=${tls.rootCert}`, tls.cert && `sslcert=${tls.cert}`];
  const options = [`sslmode=${tls.mode}`, ...files.filter((one) => one !== null)];
  return `postgres://${who}${sockets.join(',')}${name}?${options.join('&')}`;
}
