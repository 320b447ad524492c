import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DatabaseUnusable, databasePath } from '../../../src/store/sqlite/connection.ts';
import { restoreBackup, takeBackup } from '../../../src/store/sqlite/copy.ts';
import { newCase, openIn, queryDirectory, temporaryDirectory } from '../fixture.ts';

interface World {
  dir: string;
  dataDir: string;
  path: string;
  backup: string;
}

const missing = suite<World>('a database that is missing');

missing.before.each(async (world) => {
  const dir = temporaryDirectory();
  const dataDir = join(dir, 'data');
  await using store = openIn(dataDir);
  await newCase(store);
  await store.close();
  const backup = join(dir, 'backup.db');
  await takeBackup(dataDir, backup);
  Object.assign(world, { dir, dataDir, path: databasePath(dataDir), backup });
});

missing.after.each(({ dir }) => rmSync(dir, { recursive: true }));

const LOSSES: Record<string, (path: string) => void> = {
  missing: (path) => rmSync(path),
  empty: (path) => truncateSync(path, 0),
};

const COPY = 'snitch.db.before-upgrade-from-1';
const TRACES = ['credentials.yaml', 'snitch.db-wal', COPY, 'snitch.db.rescued-2025-07-09T10-20-00-000Z'];

for (const [state, lose] of Object.entries(LOSSES)) {
  for (const trace of TRACES) {
    missing(`one that is ${state} beside ${trace} is not begun anew`, async ({ dataDir, path, backup }) => {
      lose(path);
      const size = state === 'missing' ? null : 0;
      writeFileSync(join(dataDir, trace), 'what was there');
      const before = readdirSync(dataDir);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        try {
          await openIn(dataDir).close();
          assert.unreachable('it was opened');
        } catch (error) {
          assert.instance(error, DatabaseUnusable);
          const { message } = error as Error;
          for (const word of [path, `is ${state}`, trace, 'mount', 'snitch restore']) {
            assert.ok(message.includes(word), `${word} in: ${message}`);
          }
        }
      }
      assert.equal(readdirSync(dataDir), before);
      assert.is(existsSync(path), size !== null);
      restoreBackup(backup, dataDir, '2025-07-09T10-20-01-000Z');
      await openIn(dataDir).close();
      assert.equal(queryDirectory(dataDir, 'SELECT name FROM cases'), [{ name: 'Operations' }]);
    });
  }

  missing(`one that is ${state} without a trace of an older one is begun`, async ({ dataDir, path }) => {
    rmSync(join(dataDir, 'snitch.acknowledged'));
    lose(path);
    for (const name of ['credentials.yaml.new', `${COPY}.partial`, 'snitch.db-shm', 'lost+found']) {
      writeFileSync(join(dataDir, name), 'something');
    }
    writeFileSync(`${path}-wal`, '');
    await using store = openIn(dataDir);
    assert.equal(await store.listCases(), []);
  });
}

missing('one without tables next to keys is not started from scratch', async ({ dataDir, path }) => {
  rmSync(path);
  new Database(path).exec('PRAGMA user_version = 0; CREATE TABLE x (y); DROP TABLE x').close();
  writeFileSync(join(dataDir, 'credentials.yaml'), 'admin_key: x');
  assert.throws(() => openIn(dataDir), /is empty, but there was one: credentials\.yaml is beside it/);
  renameSync(join(dataDir, 'credentials.yaml'), join(dataDir, 'away'));
  await openIn(dataDir).close();
});

missing('the newest of several copies is named', async ({ dataDir, path }) => {
  rmSync(path);
  for (const name of [COPY, 'snitch.db.before-upgrade-from-2']) {
    writeFileSync(join(dataDir, name), 'copy');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.throws(() => openIn(dataDir), /the newest copy here is \S+from-2\)/);
});

missing('a new data directory is begun', async ({ dir }) => {
  mkdirSync(join(dir, 'there'));
  for (const name of ['there', 'not there']) {
    await using store = openIn(join(dir, name));
    assert.equal(await store.listCases(), [], name);
  }
});

missing.run();
