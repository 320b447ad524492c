/** The loop: a wake brings the next pass forward, except after a failure. */
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PassLoop } from '../../src/delivery/outbox/pass-loop.ts';

const test = suite('the loop of passes');

/** For how many turns of the event loop it is woken; a pass takes several. */
const TURNS = 300;

async function withLoop(
  pass: (loop: PassLoop) => Promise<number>,
  use: (loop: PassLoop, told: string[]) => Promise<void>,
) {
  const told: string[] = [];
  const loop: PassLoop = new PassLoop({
    pass: () => pass(loop),
    onFailing: (error) => told.push(`failing: ${(error as Error).message}`),
    onRecovered: () => told.push('recovered'),
    monotonic: () => 0,
  });
  loop.start();
  try {
    await use(loop, told);
  } finally {
    await loop.stop();
  }
}

async function wakeOften(loop: PassLoop): Promise<void> {
  for (let count = 0; count < TURNS; count += 1) {
    loop.wake();
    await turn();
  }
}

test('while all is well, every wake triggers a pass', async () => {
  let passes = 0;
  await withLoop(
    async () => {
      passes += 1;
      return 60_000;
    },
    async (loop) => {
      await wakeOften(loop);
      assert.ok(passes > TURNS / 10, `${passes} passes`);
    },
  );
});

test('after a failure no wake triggers a pass: the store needs time', async () => {
  let passes = 0;
  await withLoop(
    async (loop) => {
      passes += 1;
      // It can also be woken while a pass fails. A loop that went on at once would end with the test.
      loop.wake();
      await turn();
      throw new Error('full');
    },
    async (loop, told) => {
      await wakeOften(loop);
      assert.ok(passes < TURNS / 10, `${passes} passes`);
      assert.equal(told, ['failing: full']);
    },
  );
});

test('the end of a run of failures is reported once, and wakes count again', async () => {
  let passes = 0;
  await withLoop(
    async () => {
      passes += 1;
      if (passes === 1) throw new Error('full');
      return 60_000;
    },
    async (loop, told) => {
      while (passes < 2) await new Promise((resolve) => setTimeout(resolve, 10));
      await wakeOften(loop);
      assert.ok(passes > TURNS / 10, `${passes} passes`);
      assert.equal(told, ['failing: full', 'recovered']);
    },
  );
});

test('a loop that is started twice makes one pass at a time', async () => {
  let running = 0;
  let most = 0;
  await withLoop(
    async () => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      return 60_000;
    },
    async (loop) => {
      loop.start();
      await wakeOften(loop);
      assert.is(most, 1);
    },
  );
});

test('a stop ends the wait for the next pass', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const options = { onFailing: () => {}, onRecovered: () => {}, monotonic: () => 0 };
  const loop = new PassLoop({ pass: async () => 60_000, ...options });
  try {
    loop.start();
    for (let count = 0; count < 10; count += 1) await turn();
    let hasStopped = false;
    void loop.stop().then(() => {
      hasStopped = true;
    });
    for (let count = 0; count < 10; count += 1) await turn();
    assert.ok(hasStopped, 'though no time has passed');
  } finally {
    mock.timers.reset();
    await loop.stop();
  }
});

test('it knows how long ago a pass succeeded, and a failing pass does not count', async () => {
  let now = 1_000;
  let fails = true;
  const loop = new PassLoop({
    pass: async () => {
      if (fails) throw new Error('full');
      return 0;
    },
    onFailing: () => {},
    onRecovered: () => {},
    monotonic: () => now,
  });
  now = 3_500;
  assert.is(loop.sincePass, 2_500, 'since it was made');
  loop.start();
  try {
    for (let count = 0; count < 10; count += 1) await turn();
    assert.is(loop.sincePass, 2_500);
    fails = false;
    while (loop.sincePass > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    now = 4_000;
    fails = true;
    assert.is(loop.sincePass, 500);
  } finally {
    await loop.stop();
  }
});

test.run();
