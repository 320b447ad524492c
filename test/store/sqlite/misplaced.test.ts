import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { restoreBackup } from '../../../src/store/sqlite/copy.ts';
import { until } from '../../until.ts';
import type { Store } from '../acting.ts';
import { newCase, newSnitch, openIn, temporaryDirectory } from '../fixture.ts';

interface World {
  dir: string;
  dataDir: string;
  store: Store;
  reports: string[];
}

const misplaced = suite<World>('files of the store that lose their name');

misplaced.before.each((world) => {
  const dir = temporaryDirectory();
  const dataDir = join(dir, 'data');
  const reports: string[] = [];
  const report = (message: string) => void reports.push(message);
  const store = openIn(dataDir, { report, lookEvery: 5 });
  Object.assign(world, { dir, dataDir, store, reports });
});

misplaced.after.each(async ({ dir, store }) => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

function namesIn(path: string): unknown[] {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    assert.is(db.pragma('integrity_check', { simple: true }), 'ok');
    return db.prepare('SELECT name FROM snitches ORDER BY name').pluck().all();
  } finally {
    db.close();
  }
}

misplaced('nothing is said while they are where they were', async ({ store, reports, dataDir }) => {
  await newCase(store);
  await sleep(50);
  assert.is(store.misplaced(), null);
  await store.close();
  assert.equal(reports, []);
  assert.equal(
    readdirSync(dataDir).filter((name) => name.includes('rescued')),
    [],
  );
});

const FAULTS: Record<string, { spoil: (path: string, dir: string) => void; words: RegExp }> = {
  'the database is deleted': {
    spoil: (path) => rmSync(path),
    words: /snitch\.db was deleted while it is in use:/,
  },
  'the database is replaced': {
    spoil: (path, dir) => {
      writeFileSync(join(dir, 'other'), 'other');
      renameSync(join(dir, 'other'), path);
    },
    words: /snitch\.db was deleted while it is in use, and another file has its name:/,
  },
  'the log is deleted': {
    spoil: (path) => rmSync(`${path}-wal`),
    words: /snitch\.db-wal was deleted while it is in use:/,
  },
  'the database is moved': {
    spoil: (path, dir) => renameSync(path, join(dir, 'elsewhere.db')),
    words: /snitch\.db was moved to \S+\/elsewhere\.db while it is in use:/,
  },
};

for (const [what, { spoil, words }] of Object.entries(FAULTS)) {
  misplaced(`where ${what}, it says so, and an orderly stop saves everything`, async (world) => {
    const { dir, dataDir, store, reports } = world;
    const owner = await newCase(store);
    await newSnitch(store, owner, { name: 'before' });
    spoil(databasePath(dataDir), dir);
    assert.type(store.misplaced(), 'string');
    await newSnitch(store, owner, { name: 'since then' });
    await until(() => reports.length > 0);
    assert.match(reports[0] as string, words);
    await sleep(50);
    assert.is(reports.length, 1, 'it is not said at every look');
    await store.close();
    const saved = /is saved in (\S+):/.exec(reports[1] ?? '')?.[1] ?? '';
    assert.match(saved, /\.rescued-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/, 'named by the time');
    assert.equal(namesIn(saved), ['before', 'since then']);
    assert.match(reports[1] as string, `snitch restore ${saved}`);
    restoreBackup(saved, dataDir, 'now');
    assert.equal(namesIn(databasePath(dataDir)), ['before', 'since then']);
  });
}

misplaced('where its directory is gone, everything is saved all the same', async (world) => {
  const { dataDir, store, reports } = world;
  await newSnitch(store, await newCase(store), { name: 'kept' });
  rmSync(dataDir, { recursive: true });
  await until(() => reports.length > 0);
  await store.close();
  const saved = /is saved in (\S+):/.exec(reports[1] ?? '')?.[1] ?? '';
  assert.equal(namesIn(saved), ['kept']);
});

misplaced('where nothing can be saved, it says that what came since then is lost', async (world) => {
  const { dataDir, store, reports } = world;
  await newCase(store);
  rmSync(dataDir, { recursive: true });
  writeFileSync(dataDir, 'in the way');
  await until(() => reports.length > 0);
  await store.close();
  assert.match(reports[1] as string, 'could not be saved');
  assert.match(reports[1] as string, 'is lost');
});

misplaced(
  'where nothing can be saved and nothing was deleted, it says where everything is',
  async (world) => {
    const { dir, dataDir, store, reports } = world;
    await newSnitch(store, await newCase(store), { name: 'kept' });
    renameSync(dataDir, join(dir, 'moved'));
    writeFileSync(dataDir, 'in the way');
    await until(() => reports.length > 0);
    await store.close();
    assert.match(reports[1] as string, `it is all in ${dir}/moved/snitch.db: put that back`);
    assert.not.match(reports[1] as string, /lost/);
    assert.equal(namesIn(join(dir, 'moved/snitch.db')), ['kept']);
  },
);

misplaced('a directory that was moved is named', async ({ dir, dataDir, store, reports }) => {
  const owner = await newCase(store);
  renameSync(dataDir, join(dir, 'moved'));
  mkdirSync(dataDir);
  await newSnitch(store, owner, { name: 'kept' });
  await until(() => reports.length > 0);
  assert.match(reports[0] as string, `${dir}/moved/snitch.db`);
});

misplaced.run();
