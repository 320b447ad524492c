/** What must outlast a power cut is synced before it gets its name, and the name is synced before anybody relies on it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Crontab } from '../../src/cli/discover/crontab/files.ts';
import { changeOf, writeCrontab } from '../../src/cli/discover/crontab/write.ts';
import { writeDropIn } from '../../src/cli/discover/systemd/drop-in.ts';
import type { KeptCheckIn } from '../../src/cli/sending/check-in.ts';
import { refuse, writeClaimed } from '../../src/cli/spool/directory.ts';
import { completeFirstStart } from '../../src/daemon/first-start.ts';
import { openFile } from '../../src/store/sqlite/addon.ts';
import { databasePath } from '../../src/store/sqlite/connection.ts';
import { rescueDatabase, restoreBackup, takeBackup } from '../../src/store/sqlite/copy.ts';
import { makePrivateDirectory } from '../../src/system/directory.ts';
import { createPrivateFile, replacePrivateFile } from '../../src/system/private-file.ts';
import { openStore } from '../store/acting.ts';
import { recordSyncs } from './recorded-syncs.ts';

interface Context {
  directory: string;
  /** As in the recording. */
  name: string;
}

const test = suite<Context>('syncs');

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), 'snitch-syncs-'));
  context.name = basename(context.directory);
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

const CHECK_IN: KeptCheckIn = {
  name: null,
  server: null,
  keyFile: null,
  base: 'http://127.0.0.1:9/c',
  token: 'abcdefghijklmnopqrstuvwxyz',
  suffix: '0',
  at: 1_000,
  runId: null,
  message: null,
  exitStatus: null,
  output: Buffer.from(''),
};

/** A data directory that no daemon works on. */
async function madeDatabase(dataDir: string): Promise<void> {
  await openStore({ dataDir, clock: () => 1_000 }).close();
}

test('a private file is synced before it is there, and its directory after', async ({ directory, name }) => {
  assert.equal(await recordSyncs(() => createPrivateFile(join(directory, 'key'), 'x')), ['sync key']);
  assert.equal(await recordSyncs(() => replacePrivateFile(join(directory, 'key'), 'y')), [
    'sync key.new',
    'key.new → key',
    `sync ${name}`,
  ]);
});

test('the file of the first start is safe before the store says that it is written', async ({
  directory,
  name,
}) => {
  const store = openStore({ dataDir: directory, clock: () => 1_000 });
  try {
    const steps: string[] = [];
    const watched = Object.assign(Object.create(store) as typeof store, {
      setSetting: async (key: string, value: string) => void steps.push(`${key} is ${value}`),
    });
    for (const key of ['provideAdminKey', 'getSetting', 'listCases', 'createCase', 'listApiKeys'] as const) {
      Object.assign(watched, { [key]: store[key].bind(store) });
    }
    Object.assign(watched, { createApiKey: store.createApiKey.bind(store) });
    const start = { dataDir: directory, url: 'http://127.0.0.1:1', adminKey: null };
    const files = await recordSyncs(() => completeFirstStart(watched, start, 1_000));
    assert.equal(
      files.filter((step) => /credentials|sync snitch-syncs/.test(step)),
      ['sync credentials.yaml.new', 'credentials.yaml.new → credentials.yaml', `sync ${name}`],
    );
    assert.equal(steps, ['credentials is written']);
  } finally {
    await store.close();
  }
});

test('a check-in in the spool is safe before the command ends, a refused one before it leaves', async ({
  directory,
  name,
}) => {
  const claims: Awaited<ReturnType<typeof writeClaimed>>[] = [];
  const kept = await recordSyncs(async () => claims.push(await writeClaimed(directory, CHECK_IN)));
  const claim = claims[0]!;
  const draft = `${claim.name}.${process.pid}.tmp`;
  assert.equal(kept, [`sync ${draft}`, `${draft} → ${basename(claim.path)}`, `sync ${name}`]);
  const refused = await recordSyncs(() => refuse(directory, claim, CHECK_IN, 'no such snitch'));
  const aside = `.${claim.name}.${process.pid}`;
  assert.equal(refused, [`sync ${name}`, `sync ${aside}`, `${aside} → ${claim.name}`, 'sync refused']);
});

test('a backup is safe when the command ends', async ({ directory, name }) => {
  const dataDir = join(directory, 'data');
  await madeDatabase(dataDir);
  const steps = await recordSyncs(() => takeBackup(dataDir, join(directory, 'copy')));
  const draft = `copy.partial-${process.pid}`;
  assert.equal(steps, [`sync ${draft}`, `${draft} → copy`, `sync ${name}`]);
});

test('what is restored is safe before it takes the place of the database', async ({ directory }) => {
  const [from, to] = [join(directory, 'from'), join(directory, 'to')];
  await madeDatabase(from);
  const steps = await recordSyncs(() => restoreBackup(databasePath(from), to, 'now'));
  const own = steps.slice(steps.indexOf('sync snitch.db.restoring'));
  assert.equal(own.slice(-3), ['sync snitch.db.restoring', 'snitch.db.restoring → snitch.db', 'sync to']);
});

test('a crontab is replaced when the copy of the old one is safe', async ({ directory }) => {
  const path = join(directory, 'crontab');
  writeFileSync(path, '@daily job\n');
  mkdirSync(join(directory, 'var/backups/snitch'), { recursive: true });
  const crontab: Crontab = {
    path,
    shown: '/etc/crontab',
    text: '@daily job\n',
    encoding: 'utf8',
    system: true,
    user: 'root',
  };
  const change = changeOf(crontab, [{ line: 1, before: '@daily job', after: '@daily snitch exec x -- job' }]);
  const draft = `.crontab.snitch-${process.pid}`;
  const steps = await recordSyncs(() => writeCrontab(change, directory, 0));
  assert.equal(steps, [
    'sync etc-crontab.19700101T000000Z',
    'sync snitch',
    `sync ${draft}`,
    `${draft} → crontab`,
    `sync ${basename(directory)}`,
  ]);
});

test('a drop-in of systemd is there after a power cut, and so is its directory', async ({ directory }) => {
  const unit = join(directory, 'etc/systemd/system');
  mkdirSync(unit, { recursive: true });
  const draft = `.snitch.conf.snitch-${process.pid}`;
  const steps = await recordSyncs(() => writeDropIn(directory, 'job.service', 'text'));
  assert.equal(steps, ['sync system', `sync ${draft}`, `${draft} → snitch.conf`, 'sync job.service.d']);
});

test('a directory is kept by the one above it', async ({ directory, name }) => {
  const steps = await recordSyncs(() => makePrivateDirectory(join(directory, 'a/b')));
  assert.equal(steps, [`sync ${name}`, 'sync a']);
});

test('a database that lost its name is saved for good', async ({ directory }) => {
  const dataDir = join(directory, 'data');
  await madeDatabase(dataDir);
  const db = openFile(databasePath(dataDir), { fileMustExist: true });
  try {
    const saved = 'snitch.db.rescued-now';
    assert.equal(await recordSyncs(() => rescueDatabase(db, dataDir, 'now')), [
      `sync ${saved}.partial`,
      `${saved}.partial → ${saved}`,
      'sync data',
    ]);
  } finally {
    db.close();
  }
});

test.run();
