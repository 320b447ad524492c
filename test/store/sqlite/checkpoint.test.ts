import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { closing } from '../../closing.ts';
import { checkIn, NOW, rejection } from '../fixture.ts';
import { follow, type HeldStore, openHeld, turns } from './controlled-sync.ts';

const checkpoint = suite<HeldStore>('checkpoints');

/** Batches are bounded in time: on a busy machine, calls that came together could become two batches. */
const { now } = performance;

checkpoint.before.each(async (world) => {
  performance.now = () => 0;
  Object.assign(world, await openHeld({ checkpointAfter: 6 }));
});

checkpoint.after.each(({ sync, dispose }) => {
  performance.now = now;
  sync.free();
  return dispose();
});

/** A check-in is two writing statements: three of them are enough for a checkpoint. */
function checkIns({ store, token }: HeldStore, ...times: number[]) {
  return times.map((at) => follow(checkIn(store, token, NOW + at)));
}

const states = (calls: { state: string }[]) => calls.map(({ state }) => state);
const databaseTime = ({ dataDir }: HeldStore) => statSync(databasePath(dataDir), { bigint: true }).mtimeNs;

checkpoint('sync the log, copy, sync the database, restart the log, sync it, go on', async (world) => {
  const { sync, dataDir, store } = world;
  const untouched = databaseTime(world);
  const first = checkIns(world, 1, 2, 3);
  await turns();
  assert.is(sync.fileIn(dataDir), 'log');
  assert.is(databaseTime(world), untouched);
  const held = checkIns(world, 4);
  await turns();
  assert.is(store.health().commits, 1, 'no write starts once a checkpoint is due');
  await sync.end();
  assert.equal(states(first), ['kept', 'kept', 'kept']);
  assert.is(sync.fileIn(dataDir), 'database');
  assert.ok(databaseTime(world) > untouched);
  assert.is(store.health().commits, 1);
  await sync.end();
  assert.is(sync.fileIn(dataDir), 'log');
  assert.equal([store.health().commits, ...states(held)], [1, 'pending']);
  await sync.end();
  assert.is(store.health().commits, 2);
  assert.is(sync.fileIn(dataDir), 'log');
  assert.equal(states(held), ['pending']);
  await sync.end();
  assert.equal(states(held), ['kept']);
});

checkpoint('it says for how long writes were held', async () => {
  const holds: number[] = [];
  const world = await openHeld({ checkpointAfter: 6, onHeld: (duration) => holds.push(duration) });
  try {
    performance.now = () => 500;
    checkIns(world, 1, 2, 3);
    await turns();
    performance.now = () => 800;
    for (const expected of [[], [], [300]]) {
      await world.sync.end();
      assert.equal(holds, expected);
    }
  } finally {
    world.sync.free();
    await world.dispose();
  }
});

checkpoint('reads go on at every step', async (world) => {
  const { sync, store, owner, token } = world;
  checkIns(world, 1, 2, 3);
  await turns();
  for (let step = 0; step < 3; step += 1) {
    assert.is((await store.getSnitch(owner.id, token))?.state.checkedInAt, NOW + 3);
    assert.is((await store.listCheckIns(owner.id, token, { limit: 9, before: null }))?.length, 4);
    await sync.end();
  }
  assert.is(sync.waiting, 0);
});

checkpoint('nothing is lost, whether it ended or not', async (world) => {
  for (const steps of [1, 2, 3, 4]) {
    const at = steps * 10;
    const calls = checkIns(world, at, at + 1, at + 2);
    await turns();
    for (let step = 0; step < steps && world.sync.waiting > 0; step += 1) await world.sync.end();
    world.sync.free();
    await turns();
    const opened = await world.reopen();
    assert.equal(states(calls), ['kept', 'kept', 'kept']);
    const logged = await opened.listCheckIns(world.owner.id, world.token, { limit: 99, before: null });
    assert.is(logged?.length, 1 + steps * 3);
    assert.equal(await world.query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    world.store = opened;
  }
});

checkpoint('the log does not grow without end', async (world) => {
  world.sync.free();
  const log = `${databasePath(world.dataDir)}-wal`;
  let largest = 0;
  for (let round = 0; round < 60; round += 1) {
    await checkIn(world.store, world.token, NOW + round);
    largest = Math.max(largest, statSync(log).size);
  }
  assert.ok(largest < 200_000, `the log grew to ${largest} bytes`);
});

checkpoint('a reader from outside keeps the log as long as it needs it, and loses nothing', async (world) => {
  world.sync.free();
  const { store, token, owner, dataDir } = world;
  using reader = closing(new Database(databasePath(dataDir), { readonly: true }));
  const count = reader.prepare('SELECT COUNT(*) FROM check_ins').pluck();
  reader.exec('BEGIN');
  assert.is(count.get(), 1);
  for (let round = 0; round < 20; round += 1) await checkIn(store, token, NOW + round);
  assert.is(count.get(), 1);
  reader.exec('COMMIT');
  assert.is(count.get(), 21);
  for (let round = 20; round < 40; round += 1) await checkIn(store, token, NOW + round);
  reader.close();
  const reopened = await world.reopen();
  assert.is((await reopened.listCheckIns(owner.id, token, { limit: 99, before: null }))?.length, 41);
});

for (const [index, file] of ['log', 'database', 'log'].entries()) {
  checkpoint(`a sync that fails at step ${index + 1} ends all trust and loses nothing`, async (world) => {
    const { sync, dataDir, store } = world;
    const first = checkIns(world, 1, 2, 3);
    await turns();
    const held = checkIns(world, 4);
    for (let step = 0; step < index; step += 1) await sync.end();
    assert.is(sync.fileIn(dataDir), file);
    await sync.end(new Error('EIO'));
    assert.equal(states(first), Array(3).fill(index === 0 ? 'broken' : 'kept'));
    assert.equal(states(held), ['broken']);
    assert.instance(held[0]?.error, StoreUnavailable);
    assert.is((await store.failed).message, 'EIO');
    assert.instance(await rejection(store.getSetting('liveness')), StoreUnavailable);
    sync.free();
    const reopened = await world.reopen();
    const logged = await reopened.listCheckIns(world.owner.id, world.token, { limit: 9, before: null });
    assert.ok((logged?.length ?? 0) >= (index === 0 ? 1 : 4));
  });
}

checkpoint('closing waits for it', async (world) => {
  const calls = checkIns(world, 1, 2, 3);
  await turns();
  const held = checkIns(world, 4);
  await world.sync.end();
  const closed = follow(world.reopen());
  await turns();
  assert.is(closed.state, 'pending');
  world.sync.free();
  await turns();
  assert.equal([...states(calls), ...states(held), closed.state], ['kept', 'kept', 'kept', 'kept', 'kept']);
});

checkpoint.run();
