/** `snitch restore`: replaces the database with a backup, and makes new keys if those here do not fit it. */
import type { Store } from '../../store/store.ts';
import { replacePrivateFile } from '../../system/private-file.ts';
import { type Register, withExamples } from '../command/command.ts';
import { DEFAULT_URL } from '../command/connection.ts';
import { parsePlainYaml } from '../command/plain-yaml.ts';
import { countOf } from '../output/count.ts';
import { say } from '../output/output.ts';
import { addPlace, type BackupFlags, dataDirOf } from './backup.ts';

export const register: Register = (program) => {
  const restore = program
    .command('restore')
    .description('replace the database with a backup; the old one is kept beside it')
    .argument('<file>', 'a file that `snitch backup` wrote')
    .action((file: string, flags: BackupFlags) => restoreFrom(file, flags));
  withExamples(
    addPlace(restore),
    'sudo systemctl stop snitch.socket snitch && sudo snitch restore /var/backups/snitch.db; sudo systemctl start snitch.socket snitch',
  );
};

async function restoreFrom(file: string, flags: BackupFlags): Promise<void> {
  const dataDir = await dataDirOf(flags);
  try {
    await restoreInto(dataDir, file, flags.quiet ? () => {} : say);
  } finally {
    // Also if it failed halfway: what is there by then would keep the daemon from starting.
    giveAll(dataDir);
  }
}

async function restoreInto(dataDir: string, file: string, tell: (words: string) => void): Promise<void> {
  const { restoreBackup } = await import('../../store/sqlite/copy.ts');
  const now = Date.now();
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-');
  const { content, kept } = restoreBackup(file, dataDir, stamp);
  const { snitches, cases } = content;
  // Before the keys: if that fails, it is already known that the rest is done.
  tell(
    `${dataDir}: restored, with ${countOf(snitches, 'snitch', 'snitches')} in ${countOf(cases, 'case', 'cases')}`,
  );
  if (kept !== null) tell(`the database from before is kept: ${kept}`);
  const keys = await completeCredentials(dataDir, now);
  if (keys !== null) tell(keys);
  tell('start the daemon again');
}

/**
 * A backup has only the digests of keys. On a new host, or if the keys here were made after the backup, nobody on this
 * host could get in. Then new keys are added to those in the backup. A file that is not understood is left alone,
 * because it may have the only copy of the keys, and so is one without an admin key, if the backup knows its other key:
 * the admin key is then that of `admin_key_from`.
 *
 * @returns what to say about the keys, or null if the present ones are good
 */
async function completeCredentials(dataDir: string, now: number): Promise<string | null> {
  const { join } = process.getBuiltinModule('node:path');
  const { openStore } = await import('../../store/sqlite/sqlite-store.ts');
  const path = join(dataDir, 'credentials.yaml');
  const present = readCredentials(path);
  if (typeof present === 'string')
    return `${path} cannot be read (${present}), and is as it was: move it away and restore again, which makes new keys`;
  const store = openStore({ dataDir, clock: () => now });
  try {
    if ((await scopeOf(store, present.admin_key)) === 'admin') return null;
    if (present.admin_key === undefined && (await scopeOf(store, present.api_key)) !== null) return null;
    const first = (await store.listCases())[0];
    const name = 'made by restore';
    const acts = store.by({ keyId: null, name: 'snitch restore' }, now);
    const admin = await acts.createApiKey({ caseId: null, name, scope: 'admin' }, now);
    const lines = [`url: ${present.url ?? DEFAULT_URL}`, `admin_key: ${admin.key}`];
    if (first) {
      const write = await acts.createApiKey({ caseId: first.id, name, scope: 'write' }, now);
      lines.push(`api_key: ${write.key}`);
    }
    const { uid, gid } = process.getBuiltinModule('node:fs').statSync(dataDir);
    const owner = process.getuid?.() === 0 ? { uid, gid } : undefined;
    await replacePrivateFile(path, `${lines.join('\n')}\n`, owner);
    return `${path} has new keys, because it had no admin key that the backup knows; keys that the backup knows are still valid`;
  } finally {
    await store.close();
  }
}

/** Null if the store does not know the key. */
async function scopeOf(store: Pick<Store, 'findApiKey'>, key: string | undefined): Promise<string | null> {
  return (await store.findApiKey(key ?? ''))?.apiKey.scope ?? null;
}

/** What is in the file; why it cannot be read, in words that quote nothing of it. */
function readCredentials(path: string): Record<string, string> | string {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  try {
    return existsSync(path) ? parsePlainYaml(readFileSync(path, 'utf8')) : {};
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Root restores, but the daemon may be another user and must be able to open what was restored. What already belongs to
 * somebody else stays theirs: the daemon that a refused restore has found at work.
 */
function giveAll(dataDir: string): void {
  if (process.getuid?.() !== 0) return;
  const { chownSync, readdirSync, statSync } = process.getBuiltinModule('node:fs');
  const { join } = process.getBuiltinModule('node:path');
  const owner = statSync(dataDir, { throwIfNoEntry: false });
  if (!owner?.isDirectory()) return;
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name);
    if (!/^(snitch\.(db|lock|acknowledged)|credentials\.yaml)/.test(name)) continue;
    if (statSync(path, { throwIfNoEntry: false })?.uid === 0) chownSync(path, owner.uid, owner.gid);
  }
}
