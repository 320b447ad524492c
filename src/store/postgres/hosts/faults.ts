/** What prevents a connection or breaks it, and whether waiting may help. */
import { withoutNodeAdvice } from '../../../text/node-advice.ts';

/** The connection cannot be made or cannot be used; the message names the host and never shows a password. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  /** Node's code for an abandoned connection: what is lost with it may be tried on another one. */
  readonly code = 'ECONNABORTED';
  /** Only a person can mend it: a wrong password, an untrusted authority, a version that is too old. */
  readonly isLasting: boolean;
  /** The same in words that anybody may see, which name no host; null if there are none. */
  readonly told: string | null;

  constructor(
    message: string,
    {
      isLasting = false,
      told = null,
      cause,
    }: { isLasting?: boolean; told?: string | null; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.isLasting = isLasting;
    this.told = told;
  }
}

/** The code of an error of the server (five characters, appendix A of its manual) or of the operating system. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

const OF_THE_NETWORK = /^(E[A-Z]+|CERT_|ERR_(SSL|TLS|SOCKET)|UNABLE_|SELF_SIGNED|DEPTH_ZERO)/;

/** The client library's messages for a connection that ended; it gives them no code. */
const ENDED =
  /^(Connection terminated|Client (was closed|has encountered)|timeout expired|Query read timeout)/;

/** After such an error the connection is useless, or the host accepts no writes any more. */
export function endsSession(error: unknown): boolean {
  const code = codeOf(error);
  return (
    error instanceof ConnectionFault || /^(08|57P0|58|XX|25006)/.test(code) || isWithoutConnection(error)
  );
}

function isWithoutConnection(error: unknown): boolean {
  return OF_THE_NETWORK.test(codeOf(error)) || (error instanceof Error && ENDED.test(error.message));
}

/** Errors on connecting that recur until somebody changes something: passwords, rights, names, certificates. */
const LASTING = /^(28|3D000|42501|CERT_|ERR_(SSL|TLS)|UNABLE_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME)/;

/** Says in words what prevented a connection to `place`. */
export function connectionFault(place: string, error: unknown): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  const message = plain(error instanceof Error ? error.message || codeOf(error) : String(error));
  return new ConnectionFault(`${place}: ${message}${remedyFor(codeOf(error), message)}`, {
    isLasting: LASTING.test(codeOf(error)) || WITHOUT_TLS.test(message),
    cause: error,
  });
}

/** Drops what is of no use to an operator, and empty lists. */
function plain(message: string): string {
  return withoutNodeAdvice(message).replace(/[\s:]+$/, '');
}

/** What a person can do about it, if the server's own words do not say so. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'see store.url and store.password_file; on the server, \\password in psql sets another',
  '3D000': 'on the server run createdb --owner=USER --encoding=UTF8 --template=template0 NAME',
  '42501': 'on the server let this user own the database, or grant it CONNECT',
  '53300':
    'each node has 15 connections: raise max_connections on the server, and the limit of the user if it has one',
  ENOTFOUND: 'no such name is known here: see store.url and the name service',
  ECONNREFUSED: 'nothing listens there: see that PostgreSQL runs, its port, and its listen_addresses',
  CERT_HAS_EXPIRED: 'put a new one there, signed by the same authority, and run SELECT pg_reload_conf()',
  SELF_SIGNED_CERT_IN_CHAIN: 'name the authority that signed it with sslrootcert= in store.url',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'name it, or the authority that signed it, with sslrootcert= in store.url',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'name the authority that signed it with sslrootcert= in store.url',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'name the authority that signed it with sslrootcert= in store.url',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'make a certificate for this name, or write in store.url the name that it has',
};

const WITHOUT_TLS = /server does not support SSL/;

const NEEDS_TLS = /pg_hba\.conf.* no encryption/s;

function remedyFor(code: string, message: string): string {
  if (WITHOUT_TLS.test(message)) return ': set ssl = on there, because sslmode in store.url demands it';
  if (NEEDS_TLS.test(message))
    return ': if its pg_hba.conf lets this user in with TLS alone (hostssl), add sslmode=verify-full to store.url';
  const remedy = REMEDIES[code];
  return remedy === undefined ? '' : `: ${remedy}`;
}
