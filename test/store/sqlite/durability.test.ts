import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import type { Change } from '../../../src/store/change.ts';
import { checkIn, HOUR, NOW, newSnitch, rejection } from '../fixture.ts';
import { follow, type HeldStore, openHeld, turns } from './controlled-sync.ts';

const durability = suite<HeldStore>('durability');

durability.before.each(async (world) => {
  Object.assign(world, await openHeld());
});

durability.after.each(({ sync, dispose }) => {
  sync.free();
  return dispose();
});

durability('a write is acknowledged after the sync that began when it was committed', async (world) => {
  const { store, sync, token, dataDir } = world;
  const write = follow(checkIn(store, token, NOW + 1));
  await turns();
  assert.is(store.health().commits, 1);
  assert.is(sync.fileIn(dataDir), 'log');
  assert.is(write.state, 'pending');
  await sync.end();
  assert.is(write.state, 'kept');
  assert.is(sync.waiting, 0);
});

durability('commits made during a sync wait for the next one, all for the same', async (world) => {
  const { store, sync, token } = world;
  const first = follow(checkIn(store, token, NOW + 1));
  await turns();
  const second = follow(checkIn(store, token, NOW + 2));
  await turns();
  const third = follow(store.setSetting('maintenance', 'on'));
  await turns();
  assert.is(store.health().commits, 3);
  assert.is(sync.waiting, 1);
  await sync.end();
  assert.equal([first.state, second.state, third.state], ['kept', 'pending', 'pending']);
  assert.is(sync.waiting, 1);
  await sync.end();
  assert.equal([second.state, third.state], ['kept', 'kept']);
  assert.is(store.health().syncs, 2);
});

durability('reads never wait for the disk, and see what is committed', async (world) => {
  const { store, token, owner } = world;
  const write = follow(checkIn(store, token, NOW + HOUR));
  await turns();
  const snitch = await store.getSnitch(owner.id, token);
  assert.is(snitch?.state.checkedInAt, NOW + HOUR);
  assert.is((await store.listCheckIns(owner.id, token, { limit: 9, before: null }))?.length, 2);
  assert.is(write.state, 'pending');
});

durability('a write that changed nothing has nothing to wait for', async (world) => {
  const { store, sync } = world;
  assert.is(await checkIn(store, 'none', NOW), false);
  assert.is((await store.applyDue(NOW, null, 10)).changed, 0);
  assert.is(await store.settleDelivery(999, 1, { kind: 'released' }), false);
  assert.is(await store.deleteWebhook('case_none', 'hook_none'), false);
  assert.is(sync.waiting, 0);
  assert.is(store.health().commits, 0);
});

durability('listeners are told after the change is durable', async (world) => {
  const { store, sync, token, owner } = world;
  const told: Change[] = [];
  store.onChange((change) => told.push(change));
  const write = follow(checkIn(store, token, NOW + 1, { outcome: 'error' }));
  await turns();
  assert.equal(told, []);
  await sync.end();
  assert.is(write.state, 'kept');
  assert.ok(told.some(({ kind }) => kind === 'deliveries'));
  const snitch = { kind: 'snitch', caseId: owner.id, token };
  assert.ok(told.some((change) => JSON.stringify(change) === JSON.stringify(snitch)));
});

durability('a sync that fails refuses all that waited, and the store has failed for good', async (world) => {
  const { store, sync, token, owner } = world;
  const told: Change[] = [];
  store.onChange((change) => told.push(change));
  const failed = follow(store.failed);
  const inSync = follow(checkIn(store, token, NOW + 1));
  await turns();
  const behind = follow(checkIn(store, token, NOW + 2));
  await turns();
  const queued = follow(checkIn(store, token, NOW + 3));
  const reason = new Error('EIO: i/o error, fdatasync');
  await sync.end(reason);
  for (const write of [inSync, behind, queued]) {
    assert.is(write.state, 'broken');
    assert.instance(write.error, StoreUnavailable);
  }
  assert.is(failed.state, 'kept');
  assert.is(await store.failed, reason);
  assert.equal(told, []);
  assert.is(store.health().failingSince, NOW);
  const { commits, syncs } = store.health();
  world.clock.now += 1_000;
  assert.instance(await rejection(checkIn(store, token, NOW + 4)), StoreUnavailable);
  assert.instance(await rejection(newSnitch(store, owner)), StoreUnavailable);
  assert.instance(await rejection(store.getSnitch(owner.id, token)), StoreUnavailable);
  assert.is(sync.waiting, 0);
  assert.equal(store.health(), { failingSince: NOW, commits, syncs });
  assert.is(store.refused(), null);
});

durability('after a failed sync the store closes, and opens with what the disk has', async (world) => {
  const { store, sync, token, owner, reopen } = world;
  const write = follow(checkIn(store, token, NOW + 1));
  await turns();
  await sync.end(new Error('EIO'));
  assert.is(write.state, 'broken');
  sync.free();
  const reopened = await reopen();
  assert.is(await checkIn(reopened, token, NOW + 2), true);
  assert.is((await reopened.getSnitch(owner.id, token))?.state.checkedInAt, NOW + 2);
});

durability('closing waits for every write that was made', async (world) => {
  const { store, sync, token, reopen, owner } = world;
  const writes = [1, 2, 3].map((at) => follow(checkIn(store, token, NOW + at)));
  const closed = follow(reopen());
  await turns();
  assert.is(closed.state, 'pending');
  assert.ok(writes.every(({ state }) => state === 'pending'));
  sync.free();
  await turns();
  assert.ok(writes.every(({ state }) => state === 'kept'));
  assert.is(closed.state, 'kept');
  const store2 = await reopen();
  assert.is((await store2.listCheckIns(owner.id, token, { limit: 9, before: null }))?.length, 4);
});

durability.run();
