import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Case } from '../../../src/core/case.ts';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { DatabaseUnusable } from '../../../src/store/sqlite/connection.ts';
import type { Store } from '../acting.ts';
import {
  checkIn,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  type Opened,
  openIn,
  openSqlite,
  rejection,
} from '../fixture.ts';
import { mountTmpfs } from './mounts.ts';
import { openSmallDisk, type SmallDisk } from './small-disk.ts';

interface World extends Opened {
  disk: SmallDisk;
  owner: Case;
  token: string;
}

const full = suite<World>('full disk');

full.before(() => {
  const mount = mountTmpfs('size=1m');
  mount?.remove();
  if (!mount) process.stdout.write('(no right to mount: a limit on the size of files stands in) ');
});

full.before.each(async (world) => {
  const disk = openSmallDisk();
  Object.assign(world, await openSqlite({ dataDir: disk.dataDir }), { disk });
  const owner = await newCase(world.store, { members: ['ann@example.com'] });
  const { token } = await healthySnitch(world.store, owner);
  Object.assign(world, { owner, token });
});

full.after.each(async ({ disk, dispose }) => {
  disk.free();
  await dispose();
  disk.remove();
});

async function countCheckIns(store: Store, owner: Case, token: string): Promise<number> {
  return (await store.listCheckIns(owner.id, token, { limit: 10_000, before: null }))?.length ?? 0;
}

full('writes are refused, and nothing of them is kept; reads go on', async (world) => {
  const { store, disk, clock, owner, token } = world;
  disk.fill();
  clock.now = NOW + MINUTE;
  assert.instance(await rejection(checkIn(store, token, NOW + HOUR)), StoreUnavailable);
  clock.now = NOW + 2 * MINUTE;
  assert.instance(await rejection(newSnitch(store, owner)), StoreUnavailable);
  assert.instance(await rejection(store.applyDue(NOW + 9 * HOUR, null, 10)), StoreUnavailable);
  assert.is(store.health().failingSince, NOW + MINUTE);
  assert.is((await store.getSnitch(owner.id, token))?.state.checkedInAt, NOW);
  assert.is(await countCheckIns(store, owner, token), 1);
});

full(
  'the same store serves again when there is room, and what was refused has its window before any sweep',
  async (world) => {
    const { store, disk, clock, owner, token } = world;
    disk.fill();
    clock.now = NOW + MINUTE;
    await rejection(checkIn(store, token, NOW + HOUR));
    disk.free();
    clock.now = NOW + 5 * MINUTE;
    assert.is(store.health().failingSince, NOW + MINUTE, 'only a write proves that it is over');
    assert.is(await checkIn(store, token, NOW + HOUR), true);
    assert.is(store.health().failingSince, null);
    assert.equal(store.refused(), { start: NOW + MINUTE, end: NOW + MINUTE });
    assert.is(await countCheckIns(store, owner, token), 2);
    assert.instance(
      await rejection(store.applyDue(NOW + 9 * HOUR, null, 10)),
      StoreUnavailable,
      'not before the window',
    );
    await store.openBlindWindow({ start: NOW + 2 * MINUTE, end: NOW + 5 * MINUTE });
    assert.is(store.refused(), null);
    assert.equal(await world.query('SELECT started_at, ended_at FROM blind_windows'), [
      { started_at: NOW + MINUTE, ended_at: NOW + 5 * MINUTE },
    ]);
    assert.is((await store.applyDue(NOW + 9 * HOUR, null, 10)).changed, 1);
  },
);

full('two stretches that nobody asked about are reported as one', async ({ store, disk, clock, token }) => {
  for (const minute of [1, 10]) {
    disk.fill();
    clock.now = NOW + minute * MINUTE;
    await rejection(checkIn(store, token, NOW));
    disk.free();
    clock.now += MINUTE;
    await checkIn(store, token, NOW);
  }
  assert.equal(store.refused(), { start: NOW + MINUTE, end: NOW + 10 * MINUTE });
});

full('all that was acknowledged is there, wherever the disk became full', async (world) => {
  const { disk, owner, token, query } = world;
  await world.store.close();
  Object.assign(world, await openSqlite({ dataDir: disk.dataDir, checkpointAfter: 40 }));
  let acknowledged = 1;
  let refused = 0;
  for (let round = 0; round < 6; round += 1) {
    const output = 'x'.repeat(1 + round * 1_700);
    const write = async (at: number) => {
      try {
        await checkIn(world.store, token, NOW + at, { output });
        acknowledged += 1;
      } catch (error) {
        assert.instance(error, StoreUnavailable);
        refused += 1;
      }
    };
    const before = refused;
    // A log that is long from earlier has room for a while, and how long it is depends on when it was copied.
    for (let step = 0; step < 4 || refused === before; step += 1) {
      assert.ok(step < 400, 'a full disk refuses nothing');
      if (step === 2) disk.fill();
      await Promise.all(Array.from({ length: 9 + round }, (_, index) => write(index)));
    }
    disk.free();
    await write(0);
  }
  assert.ok(refused > 5 && acknowledged > 100, `${refused} refused, ${acknowledged} acknowledged`);
  assert.is(await countCheckIns(world.store, owner, token), acknowledged);
  assert.equal(await query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  const reopened = await world.reopen();
  assert.is(await countCheckIns(reopened, owner, token), acknowledged);
});

full('a store that is closed while the disk is full has everything when it opens again', async (world) => {
  const { store, disk, owner, token } = world;
  for (let at = 1; at < 20; at += 1) await checkIn(store, token, NOW + at, { output: 'x'.repeat(4_000) });
  disk.fill();
  await rejection(checkIn(store, token, NOW + HOUR));
  await store.close();
  assert.throws(
    () => openIn(disk.dataDir),
    (error: Error) =>
      error instanceof DatabaseUnusable && /cannot write .*is full: make room on it/.test(error.message),
  );
  disk.free();
  await using again = openIn(disk.dataDir);
  assert.is(await countCheckIns(again, owner, token), 20);
});

full.run();
