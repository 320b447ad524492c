/** Puts the address of the database and its password together. */
import { maskPostgresUrl, type PostgresAddress, parsePostgresUrl } from '../core/database/postgres-url.ts';
import { printable } from '../text/printable.ts';
import { ConfigError } from './file.ts';
import { credentialFile, readSecret } from './secrets.ts';
import type { StoreSection } from './store-section.ts';

export interface StorePlace {
  /** With the password, so it must never be shown. */
  readonly address: PostgresAddress;
  /** The address for people, without the password. */
  readonly shown: string;
  /** The file that the password was read from. */
  readonly passwordFile: string | null;
}

/** The systemd credential that holds the password, if `store.password_file` names no file. */
export const STORE_CREDENTIAL = 'store-password';

/**
 * Null if the data are in the data directory.
 *
 * @throws ConfigError if the password cannot be read, or there are two of them
 */
export function storePlace({ url, password_file }: StoreSection, env: NodeJS.ProcessEnv): StorePlace | null {
  if (url === undefined) return null;
  const address = parsePostgresUrl(url);
  const passwordFile = password_file ?? credentialFile(env, STORE_CREDENTIAL);
  const password = passwordFile === null ? null : readPassword(passwordFile);
  if (password !== null && address.password !== null)
    throw new ConfigError([
      'store.url: it has a password, and so has store.password_file: remove one of them',
    ]);
  const complete = { ...address, password: password ?? address.password };
  return { address: complete, shown: maskPostgresUrl(address), passwordFile };
}

/** Where the administrator keeps the service's credential. */
export const SERVICE_PASSWORD = '/etc/credstore/snitch.store-password';

/**
 * For a command run by root next to the service: the address with the password that only the service gets from
 * systemd. If there is none, or it cannot be read, the address stays as it is.
 */
export function withServicePassword(address: PostgresAddress, file = SERVICE_PASSWORD): PostgresAddress {
  if (address.password !== null) return address;
  try {
    return { ...address, password: readSecret(file) };
  } catch {
    return address;
  }
}

function readPassword(file: string): string {
  try {
    return readSecret(file);
  } catch (error) {
    throw new ConfigError([
      printable(`store.password_file: ${error instanceof Error ? error.message : String(error)}`),
    ]);
  }
}
