import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DatabaseUnusable, databasePath } from '../../../src/store/sqlite/connection.ts';
import { newCase, newSnitch, openIn, temporaryDirectory } from '../fixture.ts';
import { type Mount, mountTmpfs } from './mounts.ts';

interface World {
  dir: string;
  /** A closed store with some rows. */
  dataDir: string;
}

const files = suite<World>('files of the store');

files.before.each(async (world) => {
  const dir = temporaryDirectory();
  const dataDir = join(dir, 'data');
  await fill(dataDir);
  Object.assign(world, { dir, dataDir });
});

files.after.each(({ dir }) => rmSync(dir, { recursive: true }));

async function fill(dataDir: string): Promise<void> {
  await using store = openIn(dataDir);
  const owner = await newCase(store);
  await Promise.all(Array.from({ length: 300 }, () => newSnitch(store, owner, { notes: 'x'.repeat(500) })));
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Asserts that the store is refused in words that hold all of `words`. */
function refused(dataDir: string, ...words: string[]): void {
  try {
    openIn(dataDir);
  } catch (error) {
    assert.instance(error, DatabaseUnusable);
    for (const word of words) assert.match((error as Error).message, word);
    return;
  }
  assert.unreachable('the store opened');
}

files('a data directory that is made belongs to its owner alone', async ({ dir }) => {
  const dataDir = join(dir, 'deep', 'data');
  await openIn(dataDir).close();
  assert.is(modeOf(dataDir), '700');
});

files(
  'a database that is a link to a file elsewhere is refused in words, also if nothing is there',
  async ({ dir, dataDir }) => {
    const elsewhere = join(dir, 'elsewhere.db');
    renameSync(databasePath(dataDir), elsewhere);
    symlinkSync(elsewhere, databasePath(dataDir));
    refused(dataDir, 'is a link', elsewhere, 'data_dir');
    rmSync(elsewhere);
    refused(dataDir, 'is a link', elsewhere);
    assert.not(existsSync(elsewhere));
  },
);

files('a data directory may be a link', async ({ dir, dataDir }) => {
  symlinkSync(dataDir, join(dir, 'link'));
  await using store = openIn(join(dir, 'link'));
  assert.is((await store.listCases()).length, 1);
  assert.is(store.misplaced(), null);
});

files('files belong to their owner alone, in a directory that others may read too', async ({ dir }) => {
  const dataDir = join(dir, 'open');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  await using store = openIn(dataDir);
  await store.setSetting('maintenance', 'on');
  for (const file of ['snitch.db', 'snitch.db-wal', 'snitch.db-shm', 'snitch.lock', 'snitch.acknowledged']) {
    assert.is(modeOf(join(dataDir, file)), '600', file);
  }
  assert.is(modeOf(dataDir), '755');
});

files('a database that is something else is refused, with the command that restores one', ({ dataDir }) => {
  writeFileSync(databasePath(dataDir), 'this is no database '.repeat(500));
  refused(dataDir, 'is damaged', databasePath(dataDir), 'snitch restore FILE');
});

files('a database that ends too early is refused', ({ dataDir }) => {
  truncateSync(databasePath(dataDir), Math.floor(statSync(databasePath(dataDir)).size / 2));
  refused(dataDir, 'is damaged', 'snitch restore FILE');
});

files('a database with overwritten pages is refused', ({ dataDir }) => {
  const bytes = readFileSync(databasePath(dataDir));
  const start = Math.floor(bytes.length / 2 / 4096) * 4096;
  bytes.fill(0xa5, start, start + 3 * 4096);
  writeFileSync(databasePath(dataDir), bytes);
  refused(dataDir, 'is damaged', 'snitch restore FILE');
});

files('a data directory that cannot be made is refused in words', ({ dir }) => {
  writeFileSync(join(dir, 'file'), '');
  refused(join(dir, 'file', 'data'), 'cannot create the data directory', join(dir, 'file', 'data'));
});

files('a data directory that is a file is refused in words', ({ dir }) => {
  writeFileSync(join(dir, 'file'), '');
  refused(join(dir, 'file'), join(dir, 'file'));
});

files.run();

const readOnly = suite<{ mount: Mount | null; dir: string }>('read-only directories');

readOnly.before.each((world) => {
  const mount = mountTmpfs('size=8m');
  Object.assign(world, { mount, dir: mount?.path ?? temporaryDirectory() });
});

readOnly.after.each(({ mount, dir }) => {
  if (mount) mount.remove();
  else {
    chmodSync(dir, 0o700);
    rmSync(dir, { recursive: true });
  }
});

/** Without the right to mount we are not root, and the mode of the directory has the same effect. */
function makeReadOnly({ mount, dir }: { mount: Mount | null; dir: string }): void {
  if (mount) mount.remount('ro');
  else chmodSync(dir, 0o500);
}

readOnly('an empty one is refused in words', (world) => {
  makeReadOnly(world);
  refused(world.dir, world.dir, 'cannot write');
});

readOnly(
  'one with a store in it is refused in words, and serves again when it can be written',
  async (world) => {
    await using store = openIn(world.dir);
    const created = await newCase(store);
    await store.close();
    if (!world.mount) {
      chmodSync(databasePath(world.dir), 0o400);
      chmodSync(join(world.dir, 'snitch.lock'), 0o400);
    }
    makeReadOnly(world);
    refused(world.dir, world.dir, 'cannot write');
    if (world.mount) world.mount.remount('rw');
    else {
      chmodSync(world.dir, 0o700);
      chmodSync(databasePath(world.dir), 0o600);
      chmodSync(join(world.dir, 'snitch.lock'), 0o600);
    }
    await using again = openIn(world.dir);
    assert.equal(await again.listCases(), [created]);
  },
);

readOnly('a data directory below one is refused in words', (world) => {
  makeReadOnly(world);
  refused(join(world.dir, 'data'), 'cannot create the data directory');
});

readOnly.run();
