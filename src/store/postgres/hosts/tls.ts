/** TLS to the database, with the modes of libpq (`sslmode`) and what each of them verifies. */

import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import type { Tls } from '../../../core/database/postgres-options.ts';
import type { DatabaseHost } from '../../../core/database/postgres-url.ts';
import { faultOfReading, LARGEST_SETTINGS, readWholeText } from '../../../system/reading.ts';
import { ConnectionFault, codeOf } from './faults.ts';

/** For the client library: whether to use TLS, and how. */
export type TlsAttempt = false | ConnectionOptions;

/**
 * The ways to try to connect, in order. A socket on the same host needs no TLS and has none.
 *
 * @param home where the operator's certificates are looked for, as libpq does; null if there is none
 * @throws ConnectionFault if a file is missing or must not be used
 */
export function tlsAttempts(tls: Tls, { host }: DatabaseHost, home = homeOfUser()): readonly TlsAttempt[] {
  if (tls.mode === 'disable' || host.startsWith('/')) return [false];
  const secured = securedBy(tls, home);
  if (tls.mode === 'allow') return [false, secured];
  return tls.mode === 'prefer' ? [secured, false] : [secured];
}

/** A container without a list of users has no home directory, unless HOME is set. */
function homeOfUser(): string | null {
  try {
    return homedir();
  } catch {
    return null;
  }
}

function securedBy(tls: Tls, home: string | null): ConnectionOptions {
  const identity = tls.cert && tls.key ? { cert: read('sslcert', tls.cert), key: readKey(tls.key) } : {};
  const authorities = authoritiesOf(tls, home);
  if (tls.mode === 'allow' || tls.mode === 'prefer' || authorities === null)
    return { ...identity, rejectUnauthorized: false };
  const verified = { ...identity, ca: authorities, rejectUnauthorized: true };
  // As with libpq, `require` verifies the authority if one is configured, and never the name.
  return tls.mode === 'verify-full' ? verified : { ...verified, checkServerIdentity: () => undefined };
}

/** Null if nothing has to be verified. */
function authoritiesOf({ mode, rootCert }: Tls, home: string | null): string[] | null {
  if (mode === 'allow' || mode === 'prefer') return null;
  if (rootCert === 'system') return getCACertificates('system');
  const usual = home === null ? null : join(home, '.postgresql/root.crt');
  const file = rootCert ?? (usual !== null && existsSync(usual) ? usual : null);
  if (file !== null) return [read('sslrootcert', file)];
  if (mode === 'require') return null;
  throw new ConnectionFault(
    `sslmode=${mode} needs to know whom to trust: add sslrootcert=/PATH/OF/ROOT.crt to store.url, or sslrootcert=system for the authorities of this host`,
    { isLasting: true },
  );
}

function read(option: string, file: string): string {
  try {
    return readWholeText(file, LARGEST_SETTINGS);
  } catch (error) {
    throw new ConnectionFault(`${option}: ${file} cannot be read (${faultOfReading(error)})`, {
      isLasting: true,
    });
  }
}

/** A key that others can read is no secret, so libpq refuses it too. A key owned by root can be readable to a group. */
function readKey(file: string): string {
  const text = read('sslkey', file);
  const { mode, uid } = statSync(file);
  if ((mode & (uid === 0 ? 0o037 : 0o077)) !== 0)
    throw new ConnectionFault(`sslkey: others may read ${file}: chmod 600 ${file}`, { isLasting: true });
  return text;
}

/** Whether the other way of `allow` and `prefer` may work where this one failed. */
export function mayHelpOtherwise(error: unknown): boolean {
  if (codeOf(error) === '28000') return true;
  const message = error instanceof Error ? error.message : '';
  return /SSL/.test(message) || /^(ERR_(SSL|TLS)|EPROTO)/.test(codeOf(error));
}
