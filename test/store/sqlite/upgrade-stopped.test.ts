/** An upgrade takes a while. Who stops the program meanwhile must not wait for it, and loses nothing. */
import { rmSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { databasePath, openInParts } from '../../../src/store/sqlite/connection.ts';
import { OpeningStopped } from '../../../src/store/sqlite/parts.ts';
import { openStore, openStoreUnlessStopped } from '../../../src/store/sqlite/sqlite-store.ts';
import { queryDirectory, rejection, temporaryDirectory } from '../fixture.ts';
import { type Content, contentOfFile } from './content.ts';
import { BACKUP, CASE, writeVersion1 } from './version-1.ts';

interface World {
  dataDir: string;
  before: Content;
}

const test = suite<World>('stopping an upgrade');

test.before.each((world) => {
  const dataDir = temporaryDirectory();
  Object.assign(world, { dataDir, before: writeVersion1(dataDir) });
});

test.after.each(({ dataDir }) => rmSync(dataDir, { recursive: true }));

test('between any two of its parts it is undone, and the next start begins again', async (world) => {
  const { dataDir, before } = world;
  let taken = 0;
  for (let isDone = false; !isDone; taken += 1) {
    const parts = openInParts(dataDir, {});
    for (let count = 0; count <= taken && !isDone; count += 1) {
      const { done, value } = parts.next();
      isDone = done === true;
      if (value) value.db.close();
    }
    parts.return(undefined as never);
    if (!isDone) assert.equal(contentOfFile(databasePath(dataDir)), before, `after ${taken + 1} parts`);
  }
  assert.ok(taken > 20, `there were ${taken} parts`);
  assert.equal(queryDirectory(dataDir, 'PRAGMA user_version'), [{ user_version: migrations.length }]);
});

test('the store says so, and gives the directory back', async ({ dataDir, before }) => {
  const stop = new AbortController();
  const options = {
    dataDir,
    clock: Date.now,
    onOpening: ({ doing }: { doing: string }) => {
      if (doing === 'upgrading') stop.abort();
    },
  };
  const error = await rejection(openStoreUnlessStopped(options, stop.signal));
  assert.instance(error, OpeningStopped);
  assert.match((error as Error).message, 'it was not changed, and the next start begins again');
  assert.equal(contentOfFile(databasePath(dataDir)), before);
  const store = await openStoreUnlessStopped({ dataDir, clock: Date.now }, new AbortController().signal);
  try {
    assert.is((await store.getSnitch(CASE, BACKUP))?.name, 'nightly-backup');
  } finally {
    await store.close();
  }
});

test('a signal that comes when the store is open is for whoever opened it', async ({ dataDir }) => {
  await openStore({ dataDir, clock: Date.now }).close();
  const stop = new AbortController();
  const store = await openStoreUnlessStopped({ dataDir, clock: Date.now }, stop.signal);
  try {
    stop.abort();
    assert.is((await store.getSnitch(CASE, BACKUP))?.name, 'nightly-backup');
  } finally {
    await store.close();
  }
});

test('the memory that it was given for the upgrade alone is not kept', ({ dataDir }) => {
  const store = openInParts(dataDir, {});
  let result = store.next();
  while (!result.done) result = store.next();
  const { db } = result.value as { db: Database.Database };
  try {
    assert.is(db.pragma('cache_size', { simple: true }), -65_536);
    assert.not(db.inTransaction);
  } finally {
    db.close();
  }
});

test.run();
