/** Checkpoints that begin in the background: the steps, one after the other, and what goes wrong between them. */
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Case } from '../../../src/core/case.ts';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import type { BackgroundCopy } from '../../../src/store/sqlite/background-copy.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { CopyRounds } from '../../../src/store/sqlite/copy-rounds.ts';
import type { SqliteOptions } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../acting.ts';
import {
  checkIn,
  healthySnitch,
  NOW,
  newCase,
  type Opened,
  openIn,
  openSqlite,
  queryDirectory,
  rejection,
  temporaryDirectory,
} from '../fixture.ts';
import { ControlledSync, follow, turns } from './controlled-sync.ts';
import { openSmallDisk } from './small-disk.ts';

/** Stands in for the thread: every copy lasts until the test ends it. */
class ControlledCopy implements BackgroundCopy {
  readonly #dataDir: string;
  readonly #waiting: PromiseWithResolvers<{ left: number }>[] = [];
  begun = 0;
  ended = 0;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  copy(): Promise<{ left: number }> {
    const copying = Promise.withResolvers<{ left: number }>();
    this.begun += 1;
    this.#waiting.push(copying);
    return copying.promise;
  }

  async finish(left = 0): Promise<void> {
    if (left === 0) queryDirectory(this.#dataDir, 'PRAGMA wal_checkpoint(PASSIVE)');
    this.#waiting.shift()?.resolve({ left });
    await turns();
  }

  async fail(code?: string): Promise<void> {
    this.#waiting.shift()?.reject(Object.assign(new Error('refused'), { code }));
    await turns();
  }

  async end(): Promise<void> {
    this.ended += 1;
  }
}

interface World extends Opened {
  sync: ControlledSync;
  copy: ControlledCopy;
  reports: string[];
  dataDir: string;
  owner: Case;
  token: string;
  /** Opens the store again with other options. */
  reopenWith(options: Partial<SqliteOptions>): Promise<Store>;
}

const checkpoint = suite<World>('checkpoints in the background');

/** Batches are bounded in time: on a busy machine, calls that came together could become two batches. */
const { now } = performance;

checkpoint.before.each(async (world) => {
  performance.now = () => 0;
  const dataDir = temporaryDirectory();
  await using prepared = openIn(dataDir);
  const owner = await newCase(prepared);
  const { token } = await healthySnitch(prepared, owner);
  await prepared.close();
  const [sync, copy, reports] = [new ControlledSync(), new ControlledCopy(dataDir), [] as string[]];
  const options = {
    dataDir,
    syncFile: sync.syncFile,
    checkpointAfter: 6,
    backgroundFrom: 6,
    background: copy,
    report: (message: string) => reports.push(message),
  };
  const reopenWith = async (others: Partial<SqliteOptions>) => {
    await world.store.close();
    Object.assign(world, await openSqlite({ ...options, ...others }));
    return world.store;
  };
  const opened = await openSqlite(options);
  Object.assign(world, opened, { sync, copy, reports, dataDir, owner, token, reopenWith });
});

checkpoint.after.each(async ({ sync, copy, dispose }) => {
  performance.now = now;
  sync.free();
  const disposed = dispose();
  while (!(await Promise.race([disposed.then(() => true), turns().then(() => false)]))) await copy.finish();
});

/** A check-in is two writing statements: three of them are enough for a checkpoint. */
function checkIns({ store, token }: World, ...times: number[]) {
  return times.map((at) => follow(checkIn(store, token, NOW + at)));
}

/** Brings a store to the moment at which the thread copies and everything that was written is synced. */
async function beginCopy(world: World): Promise<void> {
  checkIns(world, 1, 2, 3);
  await turns();
  await world.sync.end();
  assert.equal([world.copy.begun, world.sync.waiting], [1, 0]);
}

const countOf = async ({ owner, token }: World, { store }: Pick<World, 'store'>) =>
  (await store.listCheckIns(owner.id, token, { limit: 1_000, before: null }))?.length;

checkpoint(
  'writes go on while the log is copied and the database synced, and are then held',
  async (world) => {
    const { sync, copy, dataDir, store } = world;
    await beginCopy(world);
    const amidCopy = checkIns(world, 4);
    await turns();
    await sync.end();
    assert.is(amidCopy[0]?.state, 'kept');
    await copy.finish();
    assert.is(sync.fileIn(dataDir), 'database');
    checkIns(world, 5);
    await turns();
    assert.is(store.health().commits, 3, 'nobody is held by the first sync of the database');
    await sync.end();
    assert.is(sync.fileIn(dataDir), 'log');
    const held = checkIns(world, 6);
    await sync.end();
    assert.is(sync.fileIn(dataDir), 'database');
    await sync.end();
    assert.is(sync.fileIn(dataDir), 'log');
    assert.is(store.health().commits, 3, 'no write starts while the rest is copied');
    await sync.end();
    assert.is(store.health().commits, 4);
    await sync.end();
    assert.is(held[0]?.state, 'kept');
    assert.is(copy.begun, 1);
  },
);

checkpoint('a log that somebody reads an older state of holds nobody, and is copied later', async (world) => {
  const { sync, copy, store } = world;
  await beginCopy(world);
  await copy.finish(5_000);
  assert.is(sync.waiting, 0);
  checkIns(world, 4, 5);
  await turns();
  assert.is(store.health().commits, 2);
  await sync.end();
  assert.is(copy.begun, 1);
  checkIns(world, 6);
  await turns();
  assert.is(copy.begun, 2, 'after as many again it is tried again');
});

checkpoint('what a checkpoint had to leave in the log counts for the next', async (world) => {
  const { sync, copy, dataDir } = world;
  sync.free();
  // Only logs of twice the size that makes a checkpoint due are copied in the background: the first one is not.
  const store = await world.reopenWith({ backgroundFrom: 12 });
  const reader = new Database(databasePath(dataDir), { readonly: true });
  try {
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM settings').get();
    for (const at of [1, 2, 3]) await checkIn(store, world.token, NOW + at);
    assert.is(copy.begun, 0);
  } finally {
    reader.close();
  }
  for (const at of [4, 5, 6]) await checkIn(store, world.token, NOW + at);
  assert.is(copy.begun, 1);
});

checkpoint('where the thread cannot copy, the checkpoint does, and the log says so once', async (world) => {
  const { sync, copy, dataDir, reports } = world;
  await beginCopy(world);
  await copy.fail();
  assert.is(reports.length, 1);
  assert.match(reports[0] ?? '', 'cannot be copied in the background');
  assert.is(sync.fileIn(dataDir), 'database');
  sync.free();
  await turns();
  let largest = 0;
  for (let round = 0; round < 60; round += 1) {
    await checkIn(world.store, world.token, NOW + 10 + round);
    largest = Math.max(largest, statSync(`${databasePath(dataDir)}-wal`).size);
  }
  assert.ok(largest < 200_000, `the log grew to ${largest} bytes`);
  assert.equal([copy.begun, reports.length], [1, 1]);
  performance.now = () => 11 * 60_000;
  checkIns(world, 100, 101, 102);
  await turns();
  assert.is(copy.begun, 2, 'later it is tried again');
});

checkpoint('a sync that fails in the thread ends all trust', async (world) => {
  const { copy, store, token, reports } = world;
  await beginCopy(world);
  await copy.fail('SQLITE_IOERR_FSYNC');
  assert.is((await store.failed).message, 'refused');
  assert.instance(await rejection(checkIn(store, token, NOW + 9)), StoreUnavailable);
  assert.equal(reports, []);
});

checkpoint('so does one of the database behind the thread', async (world) => {
  const { copy, store, sync, token } = world;
  await beginCopy(world);
  await copy.finish();
  await sync.end(new Error('EIO'));
  assert.is((await store.failed).message, 'EIO');
  assert.instance(await rejection(checkIn(store, token, NOW + 9)), StoreUnavailable);
});

checkpoint('closing waits for the thread, and begins no checkpoint', async (world) => {
  const { copy, sync, store } = world;
  await beginCopy(world);
  const syncs = store.health().syncs;
  const closed = follow(store.close());
  await turns();
  assert.equal([closed.state, copy.ended], ['pending', 0]);
  await copy.finish();
  assert.equal([closed.state, copy.ended, store.health().syncs], ['kept', 1, syncs]);
  assert.is(sync.waiting, 0);
  const reopened = await world.reopen();
  assert.is(await countOf(world, { store: reopened }), 4);
});

checkpoint('it ends at any of its steps with nothing lost', async (world) => {
  for (const steps of [0, 1, 2, 3]) {
    const at = 10 + steps * 10;
    const calls = checkIns(world, at, at + 1, at + 2);
    await turns();
    for (let step = 0; step < steps; step += 1) {
      if (world.sync.waiting > 0) await world.sync.end();
      else await world.copy.finish();
    }
    world.sync.free();
    await turns();
    while (world.copy.begun > 0 && calls.some(({ state }) => state === 'pending')) await world.copy.finish();
    const reopening = world.reopen();
    await turns();
    await world.copy.finish();
    world.store = await reopening;
    assert.is(await countOf(world, world), 4 + steps * 3);
  }
});

interface Round {
  left: number;
  came: number;
}

async function roundsOf(...given: Round[]): Promise<{ copies: number; syncs: number; isReady: boolean }> {
  const counted = { copies: 0, syncs: 0 };
  let written = 0;
  const rounds = new CopyRounds({
    background: {
      copy: async () => {
        const round = given[Math.min(counted.copies, given.length - 1)] as Round;
        counted.copies += 1;
        written += round.came;
        return { left: round.left };
      },
      end: async () => {},
    },
    written: () => written,
    syncDatabase: async () => {
      counted.syncs += 1;
    },
    isOver: () => false,
    fail: (error) => assert.unreachable(error.message),
    report: (message) => assert.unreachable(message),
  });
  const isReady = await rounds.run();
  return { ...counted, isReady };
}

checkpoint('it is copied again while much comes meanwhile, but not for ever', async () => {
  const [much, little] = [
    { left: 0, came: 9_000 },
    { left: 9, came: 400 },
  ];
  assert.equal(await roundsOf(little), { copies: 1, syncs: 1, isReady: true });
  assert.equal(await roundsOf(much, much, little), { copies: 3, syncs: 3, isReady: true });
  assert.equal(await roundsOf(much), { copies: 4, syncs: 4, isReady: true });
  assert.equal(await roundsOf(much, { left: 9_000, came: 0 }), { copies: 2, syncs: 1, isReady: false });
});

checkpoint('a disk that is full while the thread copies loses nothing', async () => {
  performance.now = now;
  const disk = openSmallDisk();
  const opened = await openSqlite({ dataDir: disk.dataDir, checkpointAfter: 100, backgroundFrom: 10 });
  try {
    const owner = await newCase(opened.store);
    const { token } = await healthySnitch(opened.store, owner);
    disk.fill(600_000);
    let kept = 1;
    for (let round = 0; round < 400; round += 1) {
      const output = 'x'.repeat(1_000);
      const calls = [1, 2, 3].map((more) => checkIn(opened.store, token, NOW + round * 9 + more, { output }));
      for (const { status } of await Promise.allSettled(calls)) kept += status === 'fulfilled' ? 1 : 0;
      if (round === 300) disk.free();
    }
    assert.ok(kept > 300, `${kept} check-ins`);
    const store = await opened.reopen();
    const page = { limit: 10_000, before: null };
    assert.is((await store.listCheckIns(owner.id, token, page))?.length, kept);
    assert.equal(await opened.query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  } finally {
    disk.free();
    await opened.dispose();
    disk.remove();
  }
});

checkpoint.run();
