/** Copies of the database, and what is put in its place. */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import {
  CopyFailed,
  inspectDatabase,
  refusalOfSource,
  restoreBackup,
  takeBackup,
} from '../../../src/store/sqlite/copy.ts';
import { closing } from '../../closing.ts';
import { unless } from '../../skipped.ts';
import { openStore } from '../acting.ts';
import {
  checkIn,
  healthySnitch,
  NOW,
  newCase,
  newSnitch,
  openIn,
  rejection,
  temporaryDirectory,
} from '../fixture.ts';

interface World {
  dir: string;
  /** A store that was closed in order, with two snitches in one case. */
  dataDir: string;
  /** Where copies go. */
  file: string;
}

const STAMP = '20250709';

const test = suite<World>('copies of the database');

test.before.each(async (world) => {
  const dir = temporaryDirectory();
  Object.assign(world, { dir, dataDir: join(dir, 'data'), file: join(dir, 'copies/copy.db') });
  mkdirSync(join(dir, 'copies'));
  await fill(world.dataDir, 2);
});

test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

async function fill(dataDir: string, snitches: number): Promise<void> {
  const store = openStore({ dataDir, clock: () => NOW });
  try {
    const owner = await newCase(store);
    for (let count = 0; count < snitches; count += 1) await newSnitch(store, owner);
  } finally {
    await store.close();
  }
}

function change(path: string, sql: string): void {
  using db = closing(new Database(path));
  db.exec(sql);
}

async function refusal(act: () => unknown): Promise<string> {
  const error = await rejection((async () => act())());
  assert.instance(error, CopyFailed);
  return (error as Error).message;
}

const here = (path: string) => readdirSync(path).sort();
const isPrivate = (path: string) => (statSync(path).mode & 0o777) === 0o600;

test('a copy is one private file with all that was acknowledged, while the daemon works', async (world) => {
  const { dataDir, file } = world;
  const store = openStore({ dataDir, clock: () => NOW });
  try {
    const { token } = await healthySnitch(store, await newCase(store));
    await checkIn(store, token, NOW + 1);
    const content = await takeBackup(dataDir, file);
    assert.equal([content.snitches, content.cases], [3, 2]);
    assert.equal(here(join(world.dir, 'copies')), ['copy.db']);
    assert.ok(isPrivate(file));
    const db = new Database(file, { readonly: true });
    try {
      assert.is(db.pragma('journal_mode', { simple: true }), 'delete');
      assert.is(db.prepare('SELECT COUNT(*) FROM check_ins').pluck().get(), 2);
    } finally {
      db.close();
    }
    assert.equal(inspectDatabase(dataDir), content);
  } finally {
    await store.close();
  }
});

test('it takes the place of an older one, and of what belonged to that', async ({ dir, dataDir, file }) => {
  writeFileSync(file, 'old');
  for (const suffix of ['-wal', '-shm', '-journal']) writeFileSync(`${file}${suffix}`, 'of the old one');
  writeFileSync(`${file}.partial`, 'of one that was interrupted');
  await takeBackup(dataDir, file);
  assert.equal(here(join(dir, 'copies')), ['copy.db']);
  assert.ok(isPrivate(file));
});

/** Node's answers to another user: root may look everywhere. */
function asNobody<T>(look: () => T): T {
  process.seteuid?.(65_534);
  try {
    return look();
  } finally {
    process.seteuid?.(0);
  }
}

unless(process.geteuid?.() === 0 ? null : 'only root can become another user', test)(
  'a directory that may not be looked into is not taken for an empty one',
  async ({ dir, dataDir }) => {
    assert.is(refusalOfSource(dataDir), null);
    chmodSync(dataDir, 0o700);
    assert.is(
      asNobody(() => refusalOfSource(dataDir)),
      `${dataDir} may not be looked into: run this with sudo, or as the user whom it belongs to`,
    );
    writeFileSync(join(dir, 'file'), '');
    assert.match(String(refusalOfSource(join(dir, 'file'))), 'ENOTDIR');
  },
);

test('what cannot be copied, or not to that place, is reported and leaves nothing behind', async ({
  dir,
  dataDir,
  file,
}) => {
  const none = join(dir, 'none');
  assert.is(
    await refusal(() => takeBackup(none, file)),
    `there is no database in ${none}: name another with --data-dir`,
  );
  assert.match(await refusal(() => takeBackup(dataDir, join(dataDir, 'copy'))), 'is in the data directory');
  const nowhere = join(dir, 'no/such/place');
  assert.match(
    await refusal(() => takeBackup(dataDir, nowhere)),
    `cannot copy ${databasePath(dataDir)} to ${nowhere}: ENOENT`,
  );
  writeFileSync(databasePath(dataDir), 'no database at all, and long enough to be read as one '.repeat(40));
  assert.match(await refusal(() => takeBackup(dataDir, file)), /: it is no database$/);
  assert.match(
    await refusal(() => inspectDatabase(dataDir)),
    `cannot read ${databasePath(dataDir)}: it is no database`,
  );
  assert.equal(here(join(dir, 'copies')), []);
  assert.is(inspectDatabase(none), null);
});

test('a copy is put in place whole, and what was there before is kept', async ({ dir, dataDir, file }) => {
  await takeBackup(dataDir, file);
  await fill(dataDir, 1);
  const { content, kept } = restoreBackup(file, dataDir, STAMP);
  assert.equal([content.snitches, content.cases], [2, 1]);
  assert.is(kept, `${databasePath(dataDir)}.before-restore-${STAMP}`);
  assert.ok(isPrivate(databasePath(dataDir)));
  assert.equal(inspectDatabase(dataDir), content);
  mkdirSync(join(dir, 'before'));
  copyFileSync(kept!, join(dir, 'before/snitch.db'));
  assert.equal(inspectDatabase(join(dir, 'before'))?.snitches, 3);
  assert.not(here(dataDir).some((name) => name.includes('restoring')));
  assert.not(existsSync(join(dataDir, 'snitch.acknowledged')), 'it owes nobody what the old one held');
  assert.ok(existsSync(file));
  await using store = openIn(dataDir);
  assert.is(store.lost, null);
});

test('what a killed daemon left in the log is kept in the file that is put aside', async ({
  dir,
  dataDir,
  file,
}) => {
  await takeBackup(dataDir, file);
  const [killed, aside] = [join(dir, 'killed'), join(dir, 'aside')];
  for (const directory of [killed, aside]) mkdirSync(directory, { mode: 0o700 });
  const store = openStore({ dataDir, clock: () => NOW });
  try {
    await healthySnitch(store, await newCase(store));
    for (const suffix of ['', '-wal'])
      copyFileSync(`${databasePath(dataDir)}${suffix}`, `${databasePath(killed)}${suffix}`);
  } finally {
    await store.close();
  }
  const { kept } = restoreBackup(file, killed, STAMP);
  copyFileSync(kept ?? '', databasePath(aside));
  assert.is(inspectDatabase(aside)?.snitches, 3);
  assert.is(inspectDatabase(killed)?.snitches, 2);
});

test('if there was no database before, none is kept', async ({ dir, dataDir, file }) => {
  await takeBackup(dataDir, file);
  const fresh = join(dir, 'fresh');
  const { content, kept } = restoreBackup(file, fresh, STAMP);
  assert.equal([content.snitches, kept], [2, null]);
  assert.equal(inspectDatabase(fresh), content);
});

test('a database that was moved here with its log is whole with it', async ({ dir, dataDir, file }) => {
  const store = openStore({ dataDir, clock: () => NOW });
  try {
    await healthySnitch(store, await newCase(store));
    for (const suffix of ['', '-wal']) copyFileSync(`${databasePath(dataDir)}${suffix}`, `${file}${suffix}`);
  } finally {
    await store.close();
  }
  assert.is(restoreBackup(file, join(dir, 'fresh'), STAMP).content.snitches, 3);
});

test('the log of a database that is gone is kept apart from the new one', async ({ dataDir, file }) => {
  await takeBackup(dataDir, file);
  rmSync(databasePath(dataDir));
  writeFileSync(`${databasePath(dataDir)}-wal`, 'a log without its database');
  const { kept } = restoreBackup(file, dataDir, STAMP);
  assert.is(kept, null);
  const log = `${databasePath(dataDir)}.before-restore-${STAMP}-wal`;
  assert.is(readFileSync(log, 'utf8'), 'a log without its database');
  assert.is(inspectDatabase(dataDir)?.snitches, 2);
});

test('one that is too damaged to be read is kept as it is', async ({ dataDir, file }) => {
  await takeBackup(dataDir, file);
  const rubbish = 'no database at all, and long enough to be read as one '.repeat(40);
  writeFileSync(databasePath(dataDir), rubbish);
  const { kept } = restoreBackup(file, dataDir, STAMP);
  assert.is(readFileSync(kept!, 'utf8'), rubbish);
  assert.is(inspectDatabase(dataDir)?.snitches, 2);
});

const UNFIT: Record<string, [spoil: (file: string) => void, reason: RegExp]> = {
  'one that is not there': [(file) => rmSync(file), /does not exist$/],
  'one that is cut': [
    (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
    /is damaged|: it is damaged$/,
  ],
  'no database': [(file) => writeFileSync(file, 'a text '.repeat(400)), /: it is no database$/],
  'an empty one': [(file) => truncateSync(file, 0), /is no database of snitch$/],
  'one of another program': [
    (file) => {
      rmSync(file);
      change(file, 'CREATE TABLE cases (id); CREATE TABLE snitches (id); PRAGMA user_version = 1');
    },
    /is no database of snitch$/,
  ],
  'one without a version': [(file) => change(file, 'PRAGMA user_version = 0'), /is no database of snitch$/],
  'one of a newer version': [
    (file) => change(file, 'PRAGMA user_version = 9999'),
    /was written by a newer snitch \(schema 9999; this one knows \d+\)$/,
  ],
};

for (const [what, [spoil, reason]] of Object.entries(UNFIT)) {
  test(`${what} is put in the place of nothing`, async ({ dataDir, file }) => {
    await takeBackup(dataDir, file);
    spoil(file);
    const before = here(dataDir);
    assert.match(await refusal(() => restoreBackup(file, dataDir, STAMP)), reason);
    assert.equal(here(dataDir), before, 'nothing has changed');
    assert.is(inspectDatabase(dataDir)?.snitches, 2);
  });
}

test('what is damaged is named as it is, not as the copy that was to be made of it', async (world) => {
  const { dir, dataDir, file } = world;
  await takeBackup(dataDir, file);
  const spoil = (path: string) => {
    const bytes = readFileSync(path);
    // The page is too damaged for the check, but not for a copy.
    bytes.fill(0xff, 5 * 4096, 6 * 4096);
    writeFileSync(path, bytes);
  };
  spoil(file);
  const words = await refusal(() => restoreBackup(file, dataDir, STAMP));
  assert.ok(words.startsWith(`${file} is damaged: `), words);
  assert.not.match(words, /\*\*\*|\n/);
  spoil(databasePath(dataDir));
  const ours = await refusal(() => takeBackup(dataDir, join(dir, 'other.db')));
  assert.ok(ours.startsWith(`${databasePath(dataDir)} is damaged: `), ours);
});

test('the database itself, and that of a daemon at work, are refused', async ({ dir, dataDir, file }) => {
  const own = databasePath(dataDir);
  assert.match(await refusal(() => restoreBackup(own, dataDir, STAMP)), 'is the database of');
  await takeBackup(dataDir, file);
  const store = openStore({ dataDir, clock: () => NOW });
  try {
    assert.match(
      await refusal(() => restoreBackup(file, dataDir, STAMP)),
      `a daemon is using ${dataDir}: stop it first`,
    );
    await healthySnitch(store, await newCase(store));
  } finally {
    await store.close();
  }
  assert.is(inspectDatabase(dataDir)?.snitches, 3);
  assert.is(restoreBackup(file, dataDir, STAMP).content.snitches, 2, 'and after it has ended, not');
  assert.is(restoreBackup(file, join(dir, 'fresh'), STAMP).content.snitches, 2);
});

test('what an interrupted restore left does not hinder the next one, and goes with the next start', async ({
  dataDir,
  file,
}) => {
  await takeBackup(dataDir, file);
  const leave = () => {
    for (const suffix of ['', '-wal', '-shm', '-journal'])
      appendFileSync(`${databasePath(dataDir)}.restoring${suffix}`, 'half');
  };
  leave();
  await openStore({ dataDir, clock: () => NOW }).close();
  assert.not(here(dataDir).some((name) => name.includes('restoring')));
  leave();
  assert.is(restoreBackup(file, dataDir, STAMP).content.snitches, 2);
  assert.not(here(dataDir).some((name) => name.includes('restoring')));
});

test.run();
