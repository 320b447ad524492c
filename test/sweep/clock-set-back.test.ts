import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Sweeper } from '../../src/sweep/sweeper.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { openStore } from '../store/acting.ts';

const DAY = 86_400_000;

const RealDate = Date;
let offset = 0;

/** Sets the wall clock of this process, as an operator would. */
class SetDate extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(RealDate.now() + offset);
    else super(given[0]);
  }
  static override now(): number {
    return RealDate.now() + offset;
  }
}

const test = suite('the sweep and a clock that is set back');

test.before.each(() => {
  offset = 0;
});

test.after.each(() => {
  globalThis.Date = RealDate;
});

/** How long to wait for a sweep on a busy machine, in milliseconds: less than the clock is set back by. */
const PATIENCE = 20_000;

for (const back of [60_000, DAY]) {
  test(`goes on each second when the clock is set back by ${back / 1_000} s soon after the start`, async () => {
    const dataDir = newDataDir();
    const store = openStore({ dataDir, clock: Date.now });
    let ticks = 0;
    const clock = () => {
      ticks += 1;
      return SetDate.now();
    };
    globalThis.Date = SetDate as DateConstructor;
    const logger = pino({ level: 'silent' });
    const sweeper = new Sweeper({ store, clock, monotonic: () => performance.now(), logger });
    try {
      await sweeper.wake();
      sweeper.start();
      await sleep(1_200);
      offset = -back;
      await sleep(1_100);
      const before = ticks;
      for (let waited = 0; waited < PATIENCE && ticks - before < 2; waited += 50) await sleep(50);
      assert.ok(ticks - before >= 2, `${ticks - before} sweeps`);
    } finally {
      await sweeper.stop();
      await store.close();
      removeDataDir(dataDir);
    }
  });
}

test.run();
