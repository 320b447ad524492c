/** A data directory on a file system without hard links, such as exFAT or a share of Windows. */
import fs, { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { restoreBackup, takeBackup } from '../../../src/store/sqlite/copy.ts';
import { closing } from '../../closing.ts';
import { newCase, newSnitch, openIn, temporaryDirectory } from '../fixture.ts';

const test = suite<{ dir: string }>('without hard links');
const { linkSync } = fs;

test.before.each((world) => {
  world.dir = temporaryDirectory();
  fs.linkSync = () => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
  };
  syncBuiltinESMExports();
});

test.after.each(({ dir }) => {
  fs.linkSync = linkSync;
  syncBuiltinESMExports();
  rmSync(dir, { recursive: true });
});

function snitchesIn(path: string): unknown {
  using db = closing(new Database(path, { readonly: true }));
  return db.prepare('SELECT count(*) FROM snitches').pluck().get();
}

test('a backup is restored, and what was there before is kept', async ({ dir }) => {
  const [dataDir, file] = [join(dir, 'data'), join(dir, 'copies/copy.db')];
  mkdirSync(join(dir, 'copies'));
  await using store = openIn(dataDir);
  const owner = await newCase(store);
  await takeBackup(dataDir, file);
  await newSnitch(store, owner);
  await store.close();
  const { kept } = restoreBackup(file, dataDir, '20250709');
  assert.is(snitchesIn(databasePath(dataDir)), 0);
  assert.is(snitchesIn(kept ?? ''), 1);
  assert.is(statSync(kept ?? '').mode & 0o777, 0o600);
  assert.equal(
    readdirSync(dataDir).filter((name) => /restoring/.test(name)),
    [],
  );
});

test.run();
