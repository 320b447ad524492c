/** The places for sends: slow ones make room for the others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Lanes } from '../../src/delivery/outbox/lanes.ts';

const test = suite('lanes');

const NEVER = 3_600_000;

test('a lane has a fixed number of places, and a place that is left is free again', () => {
  const lanes = new Lanes({ fast: 2, slow: 1, slowAfter: NEVER });
  const first = lanes.enter('fast', () => {})!;
  const second = lanes.enter('fast', () => {})!;
  const slow = lanes.enter('slow', () => {})!;
  try {
    assert.equal([lanes.hasRoom('fast'), lanes.hasRoom('slow')], [false, false]);
    assert.equal([lanes.enter('fast', () => {}), lanes.enter('slow', () => {})], [null, null]);
    first.leave();
    first.leave();
    const third = lanes.enter('fast', () => {});
    assert.ok(third);
    assert.is(
      lanes.enter('fast', () => {}),
      null,
      'leaving twice freed one place',
    );
    third.leave();
    assert.is(slow.slow, false);
  } finally {
    for (const slot of [first, second, slow]) slot.leave();
  }
});

test('a send that takes long moves to the slow lane if there is room', async () => {
  const lanes = new Lanes({ fast: 2, slow: 1, slowAfter: 20 });
  const told: string[] = [];
  const one = lanes.enter('fast', () => told.push('one'))!;
  const other = lanes.enter('fast', () => told.push('other'))!;
  assert.is(one.slow, false);
  await sleep(100);
  assert.equal(told, ['one', 'other']);
  assert.equal([one.slow, other.slow], [true, true]);
  assert.equal([lanes.hasRoom('fast'), lanes.hasRoom('slow')], [true, false], 'one moved, the other stays');
  one.leave();
  assert.is(lanes.hasRoom('slow'), true);
  other.leave();
  const places = [1, 2, 3].map(() => lanes.enter('fast', () => {}));
  assert.equal(
    places.map((slot) => slot !== null),
    [true, true, false],
  );
  for (const slot of places) slot?.leave();
});

test('a send that begins in the slow lane is reported as slow too, and takes no second place', async () => {
  const lanes = new Lanes({ fast: 1, slow: 2, slowAfter: 20 });
  const slot = lanes.enter('slow', () => {})!;
  await sleep(100);
  assert.is(slot.slow, true);
  const others = [lanes.enter('slow', () => {}), lanes.enter('fast', () => {})];
  assert.ok(others.every((other) => other !== null));
  for (const one of [slot, ...others]) one?.leave();
});

test('a send that ends in time is never reported as slow', async () => {
  const lanes = new Lanes({ fast: 1, slow: 1, slowAfter: 20 });
  let told = 0;
  lanes
    .enter('fast', () => {
      told += 1;
    })!
    .leave();
  await sleep(100);
  assert.is(told, 0);
  assert.is(lanes.hasRoom('fast'), true);
});

test.run();
