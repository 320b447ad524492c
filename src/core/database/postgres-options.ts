/** The options after the `?` in the address of a database, with the names and meanings of libpq. */

export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

export interface Tls {
  readonly mode: SslMode;
  /** The file with the authorities that are trusted, `system` for those of the host, or null for the usual place. */
  readonly rootCert: string | null;
  /** The client's certificate, and its key. */
  readonly cert: string | null;
  readonly key: string | null;
}

export interface Options {
  host: string | null;
  port: string | null;
  user: string | null;
  password: string | null;
  dbname: string | null;
  tls: Tls;
  applicationName: string | null;
  connectTimeoutMs: number | null;
}

const NAMES = [
  ...['application_name', 'connect_timeout', 'dbname', 'host', 'password', 'port', 'sslcert', 'sslkey'],
  ...['sslmode', 'sslrootcert', 'target_session_attrs', 'user'],
];

/** @throws Error that names the option, never its value */
export function readOptions(query: string): Options {
  const values = new Map<string, string>();
  for (const part of query === '' ? [] : query.split('&')) {
    const [name = '', ...rest] = part.split('=');
    if (!NAMES.includes(name)) throw new Error(unknownOption(name));
    if (values.has(name)) throw new Error(`has ${name}= twice`);
    values.set(name, decodeValue(name, rest.join('=')));
  }
  const value = (name: string) => values.get(name) || null;
  checkTarget(value('target_session_attrs'));
  return {
    host: value('host'),
    port: value('port'),
    user: value('user'),
    password: value('password'),
    dbname: value('dbname'),
    tls: readTls(value),
    applicationName: readName(value('application_name')),
    connectTimeoutMs: readTimeout(value('connect_timeout')),
  };
}

/** Anything that is not a plain word may be the rest of an unencoded password. */
function unknownOption(name: string): string {
  const shown = /^[a-z_]{2,40}$/.test(name) ? `the unknown option ${name}=` : 'an unknown option';
  return `has ${shown}; it may have ${NAMES.join(', ')}`;
}

function decodeValue(name: string, text: string): string {
  try {
    const value = decodeURIComponent(text);
    if (!/[\p{Cc}]/u.test(value)) return value;
  } catch {
    throw new Error(`has a % in ${name}= that begins no encoded character: write it %25`);
  }
  throw new Error(`has a control character in ${name}=`);
}

/** Snitch always looks for the host that accepts writes. */
function checkTarget(target: string | null): void {
  if (target !== null && !['any', 'read-write', 'primary'].includes(target))
    throw new Error(
      'must have target_session_attrs=read-write or none: a host that takes no writes is of no use',
    );
}

function readTls(value: (name: string) => string | null): Tls {
  const mode = SSL_MODES.find((one) => one === (value('sslmode') ?? 'prefer'));
  if (!mode) throw new Error(`must have one of these in sslmode=: ${SSL_MODES.join(', ')}`);
  const [rootCert, cert, key] = [value('sslrootcert'), value('sslcert'), value('sslkey')];
  for (const [name, path] of Object.entries({ sslcert: cert, sslkey: key, sslrootcert: rootCert })) {
    const isSystem = name === 'sslrootcert' && path === 'system';
    if (path !== null && !path.startsWith('/') && !isSystem)
      throw new Error(`must have the absolute path of a file in ${name}=`);
  }
  if ((cert === null) !== (key === null)) throw new Error('needs sslcert= and sslkey= together');
  if (rootCert === 'system' && mode !== 'verify-full')
    throw new Error(
      'needs sslmode=verify-full with sslrootcert=system: anybody can get a certificate from one of those authorities',
    );
  return { mode, rootCert, cert, key };
}

function readName(name: string | null): string | null {
  if (name !== null && !/^[\x20-\x7e]{1,63}$/.test(name))
    throw new Error('must have at most 63 plain letters in application_name=');
  return name;
}

function readTimeout(text: string | null): number | null {
  if (text === null) return null;
  const seconds = Number(text);
  if (!/^\d{1,2}$/.test(text) || seconds < 1 || seconds > 60)
    throw new Error('must have a whole number of seconds from 1 to 60 in connect_timeout=');
  return seconds * 1_000;
}
