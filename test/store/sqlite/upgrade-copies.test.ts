import { copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { restoreBackup } from '../../../src/store/sqlite/copy.ts';
import { migrate, NewerDatabase, UpgradeFailed } from '../../../src/store/sqlite/migrate.ts';
import { closing } from '../../closing.ts';
import { openIn, queryDirectory, temporaryDirectory } from '../fixture.ts';
import { type Content, contentOf, contentOfFile, filesBeside, openUpgraded } from './content.ts';
import { openSmallDisk } from './small-disk.ts';
import { writeVersion1 } from './version-1.ts';

interface World {
  dataDir: string;
  /** What was in the database before the upgrade. */
  before: Content;
  copy: string;
}

const LATEST = migrations.length;

const steps = suite<World & { db: Database.Database }>('later upgrades');

steps.before.each((world) => {
  const dataDir = temporaryDirectory();
  const copy = `${databasePath(dataDir)}.before-upgrade-from-1`;
  const before = writeVersion1(dataDir);
  const db = new Database(databasePath(dataDir));
  Object.assign(world, { dataDir, copy, before, db });
});

steps.after.each(({ dataDir, db }) => {
  db.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const THIRD = 'ALTER TABLE snitches ADD COLUMN colour TEXT;';
const FOURTH = `CREATE TABLE teams AS SELECT id FROM cases; UPDATE snitches SET colour = 'red';`;
const FIFTH = 'DROP TABLE teams;';
const extended = [...migrations.slice(0, 2), THIRD, FOURTH, FIFTH];

/** Seconds after the epoch, so that the order of the copies is certain however fast they are made. */
function date(dataDir: string, version: number, at: number): void {
  utimesSync(`${databasePath(dataDir)}.before-upgrade-from-${version}`, at, at);
}

steps('many steps at once make one copy', ({ dataDir, db, copy, before }) => {
  assert.equal(migrate(db, extended), { from: 1, to: 5, copy });
  assert.equal(contentOfFile(copy), before);
  assert.equal(filesBeside(dataDir), ['snitch.db.before-upgrade-from-1']);
  assert.equal(db.prepare('SELECT DISTINCT colour FROM snitches').pluck().all(), ['red']);
  assert.is(migrate(db, extended), null);
});

steps('the last two copies are kept', ({ dataDir, db, before }) => {
  for (let version = 1; version < 5; version += 1) {
    migrate(db, extended.slice(0, version + 1));
    date(dataDir, version, 1_000 + version);
  }
  assert.equal(filesBeside(dataDir), ['snitch.db.before-upgrade-from-3', 'snitch.db.before-upgrade-from-4']);
  const { rows } = contentOfFile(`${databasePath(dataDir)}.before-upgrade-from-3`);
  assert.equal(rows.deliveries, before.rows.deliveries);
});

steps('the copy that was just made is kept, whatever its number', ({ dataDir, db, before, copy }) => {
  for (const version of [2, 3]) {
    writeFileSync(`${databasePath(dataDir)}.before-upgrade-from-${version}`, `a copy of version ${version}`);
    date(dataDir, version, 4_000_000_000 + version);
  }
  const others = ['snitch.db.before-restore-then', 'snitch.db.before-upgrade-from-1.mine'];
  for (const name of others) writeFileSync(join(dataDir, name), '');
  migrate(db, extended);
  assert.equal(contentOfFile(copy), before);
  const kept = ['snitch.db.before-upgrade-from-1', 'snitch.db.before-upgrade-from-3'];
  assert.equal(filesBeside(dataDir), [...kept, ...others].sort());
});

steps('one that fails halfway is undone, with the copy beside it', ({ db, copy, before }) => {
  const broken = [...extended.slice(0, 4), 'DELETE FROM snitches; INSERT INTO nowhere VALUES (1);'];
  for (let attempt = 0; attempt < 2; attempt += 1) {
    assert.throws(
      () => migrate(db, broken),
      (error: Error) =>
        error instanceof UpgradeFailed &&
        /version 1 to 5 failed \(no such table: nowhere\)/.test(error.message),
    );
    assert.equal(contentOf(db), before);
    assert.equal(contentOfFile(copy), before);
  }
  assert.equal(migrate(db, extended), { from: 1, to: 5, copy });
});

steps('where no copy can be made, nothing is changed', ({ dataDir, db, copy, before }) => {
  mkdirSync(join(copy, 'in the way'), { recursive: true });
  assert.throws(
    () => migrate(db, extended),
    (error: Error) => error instanceof UpgradeFailed && error.message.includes(copy),
  );
  assert.equal(contentOf(db), before);
  assert.equal(filesBeside(dataDir), ['snitch.db.before-upgrade-from-1']);
});

steps.run();

const newer = suite<World>('a newer database');

newer.before.each(async (world) => {
  const dataDir = temporaryDirectory();
  await openIn(dataDir).close();
  const copyOf = (version: number) => `${databasePath(dataDir)}.before-upgrade-from-${version}`;
  for (const version of [LATEST - 1, LATEST, LATEST + 1])
    copyFileSync(databasePath(dataDir), copyOf(version));
  queryDirectory(dataDir, `PRAGMA user_version = ${LATEST + 2}`);
  Object.assign(world, { dataDir, copy: copyOf(LATEST) });
});

newer.after.each(({ dataDir }) => rmSync(dataDir, { recursive: true }));

function refusal(dataDir: string): string {
  try {
    openIn(dataDir);
  } catch (error) {
    assert.instance(error, NewerDatabase);
    return (error as Error).message;
  }
  throw new Error('the store opened');
}

newer(
  'the refusal names both versions, and the latest copy that this program can use',
  ({ dataDir, copy }) => {
    const message = refusal(dataDir);
    assert.match(message, `schema version ${LATEST + 2}`);
    assert.match(message, `versions up to ${LATEST}:`);
    assert.match(message, `\`snitch restore ${copy}\``);
  },
);

newer('without such a copy it says where one would be', ({ dataDir, copy }) => {
  for (const name of filesBeside(dataDir)) rmSync(join(dataDir, name));
  const message = refusal(dataDir);
  assert.match(message, `restore a backup from before the upgrade (${copy}`);
  assert.not.match(message, 'snitch restore');
});

newer('what it names can be restored, and opens', async ({ dataDir, copy }) => {
  restoreBackup(copy, dataDir, 'then');
  await using store = openUpgraded(dataDir);
  assert.equal(store.migrated, []);
});

newer.run();

const full = suite('upgrade on a full disk');

full('without room for the copy the start is refused, and nothing is changed', async () => {
  const disk = openSmallDisk();
  try {
    const blob = (at: number) => `(${at}, '${'y'.repeat(60_000)}')`;
    const many = Array.from({ length: 20 }, (_, index) => blob(100 + index)).join(', ');
    const before = writeVersion1(disk.dataDir, `INSERT INTO check_in_outputs VALUES ${many};`);
    const path = databasePath(disk.dataDir);
    const copy = `${path}.before-upgrade-from-1`;
    using started = closing(new Database(path));
    const pages = Number(started.pragma('page_count', { simple: true }));
    started.close();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      disk.fill(500_000);
      assert.throws(
        () => openIn(disk.dataDir),
        (error: Error) =>
          error instanceof UpgradeFailed &&
          /cannot be written to .*(full|disk I\/O error).* Nothing was changed/.test(error.message) &&
          error.message.includes(copy) &&
          error.message.includes(`needs ${pages * 4096} bytes`),
      );
      disk.free();
      assert.equal(filesBeside(disk.dataDir), []);
      assert.equal(contentOfFile(path), before);
    }
    await using store = openUpgraded(disk.dataDir);
    assert.equal(store.migrated, [{ from: 1, to: LATEST, copy }]);
    assert.equal(contentOfFile(copy), before);
  } finally {
    disk.remove();
  }
});

full('with room for the copy alone the upgrade is undone, and done when there is more', () => {
  const disk = openSmallDisk();
  try {
    const before = writeVersion1(disk.dataDir);
    using db = closing(new Database(databasePath(disk.dataDir)));
    const large = [...migrations, 'CREATE TABLE large AS SELECT zeroblob(2000000) AS value;'];
    disk.fill(600_000);
    assert.throws(
      () => migrate(db, large),
      (error: { code: string }) => /^SQLITE_(FULL|IOERR)/.test(error.code),
    );
    disk.free();
    const copy = `${db.name}.before-upgrade-from-1`;
    assert.equal(contentOf(db), before);
    assert.equal(contentOfFile(copy), before);
    assert.equal(migrate(db, large), { from: 1, to: LATEST + 1, copy });
  } finally {
    disk.remove();
  }
});

full.run();
