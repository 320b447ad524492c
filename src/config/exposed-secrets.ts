/** Finds secrets of the configuration that every user of this host can read. */
import { parsePostgresUrl } from '../core/database/postgres-url.ts';
import { isExposed } from '../system/access.ts';
import type { Config } from './config.ts';
import type { ConfigFile } from './file.ts';

/** What is wrong with who can read a file. */
export interface FileConcern {
  message: string;
  /** What to do about it. */
  remedy: string;
}

/** @param file null if everything comes from the environment */
export function exposedSecrets(file: ConfigFile | null, { secretFiles, store }: Config): FileConcern[] {
  const inConfig = file === null ? [] : secretsIn(file);
  const exposed: FileConcern[] = [];
  if (file !== null && inConfig.length > 0 && isExposed(file.path)) {
    exposed.push({
      message: `every user of this host can read ${file.path}, which has ${inConfig.join(' and ')} in it`,
      // `chmod` alone would lock a service that runs as another user out of its configuration.
      remedy: `${inConfig.includes(STORE_PASSWORD) ? 'keep it in its own file, which store.password_file names' : ADVICE}, or give the file to the user of the daemon and \`chmod 600 ${file.path}\``,
    });
  }
  for (const path of [...Object.values(secretFiles), store?.passwordFile ?? null]) {
    if (path === null || !isExposed(path)) continue;
    exposed.push({
      message: `every user of this host can read ${path}, which holds a secret`,
      remedy: `give it to the user of the daemon and \`chmod 600 ${path}\``,
    });
  }
  return exposed;
}

const STORE_PASSWORD = 'the password of store.url';

const ADVICE =
  'keep it in its own file, /etc/credstore/snitch.smtp-password under systemd or one that smtp.password_file names';

function secretsIn({ values }: ConfigFile): string[] {
  const found: string[] = [];
  const url = textAt(values, 'smtp', 'url');
  if (url !== null && URL.parse(url)?.password) found.push('the password of smtp.url');
  const store = textAt(values, 'store', 'url');
  if (store !== null && hasPassword(store)) found.push(STORE_PASSWORD);
  if (textAt(values, 'watchdog', 'url') !== null) found.push('the check-in address of watchdog.url');
  return found;
}

function hasPassword(url: string): boolean {
  try {
    return parsePostgresUrl(url).password !== null;
  } catch {
    return false;
  }
}

function textAt(values: Record<string, unknown>, section: string, name: string): string | null {
  const inner = values[section];
  const value = typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : null;
  return typeof value === 'string' ? value : null;
}
