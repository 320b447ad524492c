/** `snitch restore`: replaces the database with a backup, and makes new keys if those here do not fit it. */
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
  const { restoreBackup } = await import('../../store/sqlite/copy.ts');
  const dataDir = await dataDirOf(flags);
  const now = Date.now();
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-');
  const { content, kept } = restoreBackup(file, dataDir, stamp);
  const made = await completeCredentials(dataDir, now);
  if (flags.quiet) return;
  const { snitches, cases } = content;
  say(
    `${dataDir}: restored, with ${countOf(snitches, 'snitch', 'snitches')} in ${countOf(cases, 'case', 'cases')}`,
  );
  if (kept !== null) say(`the database from before is kept: ${kept}`);
  if (made !== null)
    say(`${made} has new keys, because none there was in the backup; those of the backup are good still`);
  say('start the daemon again');
}

/**
 * A backup has only the digests of keys. On a new host, or if the keys here were made after the backup, nobody on this
 * host could get in. Then new keys are added to those in the backup.
 *
 * @returns the file with the new keys, or null if the present ones are good
 */
async function completeCredentials(dataDir: string, now: number): Promise<string | null> {
  const { join } = process.getBuiltinModule('node:path');
  const { openStore } = await import('../../store/sqlite/sqlite-store.ts');
  const path = join(dataDir, 'credentials.yaml');
  const present = readCredentials(path);
  const store = openStore({ dataDir, clock: () => now });
  try {
    const [known, first] = [await store.findApiKey(present.admin_key ?? ''), (await store.listCases())[0]];
    if (known?.apiKey.scope === 'admin') return null;
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
    return path;
  } finally {
    await store.close();
    giveAll(dataDir);
  }
}

function readCredentials(path: string): Record<string, string> {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  return existsSync(path) ? parsePlainYaml(readFileSync(path, 'utf8')) : {};
}

/** Root restores, but the daemon may be another user and must be able to open what was restored. */
function giveAll(dataDir: string): void {
  if (process.getuid?.() !== 0) return;
  const { chownSync, readdirSync, statSync } = process.getBuiltinModule('node:fs');
  const { join } = process.getBuiltinModule('node:path');
  const { uid, gid } = statSync(dataDir);
  for (const name of readdirSync(dataDir)) {
    if (/^(snitch\.(db|lock|acknowledged)|credentials\.yaml)/.test(name))
      chownSync(join(dataDir, name), uid, gid);
  }
}
