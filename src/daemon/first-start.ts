/** The very first start: a case, an admin key and a write key, and the file that tells of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { newCaseSettings } from '../http/resources/case-schema.ts';
import type { Store } from '../store/store.ts';
import { replacePrivateFile } from '../system/private-file.ts';

export function credentialsPath(dataDir: string): string {
  return join(dataDir, 'credentials.yaml');
}

/** What the key of `admin_key_from` is called in the list of keys. */
const PROVIDED = 'admin_key_from';

export interface FirstStart {
  dataDir: string;
  /** Where the daemon listens. */
  url: string;
  /** An administrator's key that was made elsewhere; it is used in place of one of our own. */
  adminKey: string | null;
}

/**
 * Makes the case `default` and its keys, once. The keys can be read only from the file: where a crash came before
 * the file was whole, they are made again, and the first ones are of use to nobody.
 *
 * @returns whether this was the first start
 */
export async function completeFirstStart(
  store: Store,
  { dataDir, url, adminKey }: FirstStart,
  now: number,
): Promise<boolean> {
  await store.provideAdminKey(PROVIDED, adminKey, now);
  if ((await store.getSetting('credentials')) === 'written') return false;
  const [existing] = await store.listCases();
  const { id: caseId } = existing ?? (await store.createCase(newCaseSettings('default'), now));
  for (const { id, name } of await store.listApiKeys(null)) {
    if (name !== PROVIDED) await store.deleteApiKey(null, id);
  }
  for (const unreadable of await store.listApiKeys(caseId)) await store.deleteApiKey(caseId, unreadable.id);
  const newKey = async (of: { caseId: string | null; scope: 'admin' | 'write' }) =>
    (await store.createApiKey({ ...of, name: 'first start' }, now)).key;
  // A key that has its own place is not written down in a second one.
  const admin = adminKey === null ? { admin_key: await newKey({ caseId: null, scope: 'admin' }) } : {};
  const api_key = await newKey({ caseId, scope: 'write' });
  await replacePrivateFile(credentialsPath(dataDir), stringify({ url, ...admin, api_key }));
  await store.setSetting('credentials', 'written');
  return true;
}

/**
 * Commands on this host find the daemon by the file, so it names the address of the present start. The daemon itself
 * does without the file, which may be gone or damaged by now: that must not keep it from its work.
 *
 * @returns why the file could not be brought up to date, in words, or null
 */
export async function updateUrl(path: string, url: string): Promise<string | null> {
  try {
    const credentials: unknown = parse(readFileSync(path, 'utf8'));
    // What cannot be understood is left as it is, because it may be all that is left of the keys.
    if (!isMapping(credentials)) return 'it holds no "name: value" lines';
    if (credentials.url !== url) await replacePrivateFile(path, stringify({ ...credentials, url }));
    return null;
  } catch (error) {
    // The message of the parser would quote the file, and with it the keys.
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (!syscall) return 'it is not valid YAML';
    return code === 'ENOENT' ? 'it does not exist' : `${syscall} failed with ${code}`;
  }
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
