/** The very first start makes a case, an admin key, a write key, and the file with the keys. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { SERVER_ITSELF } from '../core/activity/activity.ts';
import { isObject } from '../core/input.ts';
import { newCaseSettings } from '../http/resources/case-schema.ts';
import type { Store } from '../store/store.ts';
import { type Owner, replacePrivateFile } from '../system/private-file.ts';

export function credentialsPath(dataDir: string): string {
  return join(dataDir, 'credentials.yaml');
}

/** The name of the key from `admin_key_from` in the list of keys. */
const PROVIDED = 'admin_key_from';

export interface FirstStart {
  dataDir: string;
  /** The address that the daemon listens on. */
  url: string;
  /** An admin key that was made elsewhere, and is used instead of a new one. */
  adminKey: string | null;
  /** Throws if another node may be making the first start by now, because this one was suspended meanwhile. */
  confirm?: () => Promise<void>;
}

/**
 * Makes the case `default` and its keys, once. The keys can be read only from the file. If a crash came before the file
 * was complete, nobody knows them, so they are deleted and new ones are made.
 *
 * @returns whether this was the first start
 */
export async function completeFirstStart(
  store: Store,
  { dataDir, url, adminKey, confirm = async () => {} }: FirstStart,
  now: number,
): Promise<boolean> {
  await store.provideAdminKey(PROVIDED, adminKey, now);
  if ((await store.getSetting('credentials')) === 'written') return false;
  const acts = store.by(SERVER_ITSELF, now);
  const [existing] = await store.listCases();
  const { id: caseId } = existing ?? (await acts.createCase(newCaseSettings('default'), now));
  for (const { id, name } of await store.listApiKeys(null)) {
    if (name !== PROVIDED) await acts.deleteApiKey(null, id);
  }
  for (const unreadable of await store.listApiKeys(caseId)) await acts.deleteApiKey(caseId, unreadable.id);
  const newKey = async (of: { caseId: string | null; scope: 'admin' | 'write' }) => {
    await confirm();
    return (await acts.createApiKey({ ...of, name: 'first start' }, now)).key;
  };
  // A key that was provided is already kept elsewhere, and is not written to a second place.
  const admin = adminKey === null ? { admin_key: await newKey({ caseId: null, scope: 'admin' }) } : {};
  const api_key = await newKey({ caseId, scope: 'write' });
  await confirm();
  await replacePrivateFile(credentialsPath(dataDir), stringify({ url, ...admin, api_key }));
  await store.setSetting('credentials', 'written');
  return true;
}

/**
 * Writes the current address into the file, where commands on this host look for the daemon. The daemon itself does not
 * need the file, so it works even if the file is gone or damaged.
 *
 * @returns why the file could not be brought up to date, in words, or null
 */
export async function updateUrl(path: string, url: string): Promise<string | null> {
  try {
    const credentials: unknown = parse(readFileSync(path, 'utf8'));
    // A file that is not understood is left alone, because it may have the only copy of the keys.
    if (!isObject(credentials)) return 'it holds no "name: value" lines';
    if (credentials.url !== url)
      await replacePrivateFile(path, stringify({ ...credentials, url }), ownerOf(path));
    return null;
  } catch (error) {
    // The parser's message would quote the file, including the keys.
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (!syscall) return 'it is not valid YAML';
    return code === 'ENOENT' ? 'it does not exist' : `${syscall} failed with ${code}`;
  }
}

/** If root starts the daemon by hand, its own user must still be able to read the file afterwards. */
function ownerOf(path: string): Owner | undefined {
  const { uid, gid } = statSync(path);
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

/** Whether the store knows a key in the file; true if no key can be read from it. */
export async function knowsKeysIn(store: Pick<Store, 'findApiKey'>, path: string): Promise<boolean> {
  const credentials = readCredentials(path);
  if (!isObject(credentials)) return true;
  const keys = [credentials.api_key, credentials.admin_key].filter((key) => typeof key === 'string');
  const found = await Promise.all(keys.map((key) => store.findApiKey(key)));
  return keys.length === 0 || found.some((one) => one !== null);
}

/** Null if the file cannot be read or understood, whatever has happened to it meanwhile. */
function readCredentials(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
