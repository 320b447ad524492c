/** The very first start: a case, an admin key and a write key, and the file that tells of them. */
import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { newCaseSettings } from './http/case-schema.ts';
import type { Store } from './store/store.ts';

export function credentialsPath(dataDir: string): string {
  return join(dataDir, 'credentials.yaml');
}

/**
 * Makes the case `default` and its keys, once. The keys can be read only from the file: where a crash came before
 * the file was whole, they are made again, and the first ones are of use to nobody.
 *
 * @returns whether this was the first start
 */
export async function completeFirstStart(
  store: Store,
  dataDir: string,
  url: string,
  now: number,
): Promise<boolean> {
  if ((await store.getSetting('credentials')) === 'written') return false;
  const [existing] = await store.listCases();
  const { id: caseId } = existing ?? (await store.createCase(newCaseSettings('default'), now));
  for (const unreadable of await store.listApiKeys(null)) await store.deleteApiKey(null, unreadable.id);
  for (const unreadable of await store.listApiKeys(caseId)) await store.deleteApiKey(caseId, unreadable.id);
  const admin = await store.createApiKey({ caseId: null, name: 'first start', scope: 'admin' }, now);
  const write = await store.createApiKey({ caseId, name: 'first start', scope: 'write' }, now);
  writePrivately(credentialsPath(dataDir), stringify({ url, admin_key: admin.key, api_key: write.key }));
  await store.setSetting('credentials', 'written');
  return true;
}

/**
 * Commands on this host find the daemon by the file, so it names the address of the present start. The daemon itself
 * does without the file, which may be gone or damaged by now: that must not keep it from its work.
 *
 * @returns why the file could not be brought up to date, in words, or null
 */
export function updateUrl(path: string, url: string): string | null {
  try {
    const credentials: unknown = parse(readFileSync(path, 'utf8'));
    // What cannot be understood is left as it is, because it may be all that is left of the keys.
    if (!isMapping(credentials)) return 'it holds no "name: value" lines';
    if (credentials.url !== url) writePrivately(path, stringify({ ...credentials, url }));
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

/** Whole or not at all, and never readable by anybody else. */
function writePrivately(path: string, text: string): void {
  const draft = `${path}.new`;
  const fd = openSync(draft, 'w', 0o600);
  try {
    fchmodSync(fd, 0o600);
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
  const directory = openSync(dirname(path), 'r');
  fsyncSync(directory);
  closeSync(directory);
}
