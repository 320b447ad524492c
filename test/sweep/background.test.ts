/** A case with very many snitches whose rules changed: its deadlines take a minute, and alarms do not wait for them. */
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Sweeper } from '../../src/sweep/sweeper.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { openStore, type Store } from '../store/acting.ts';
import { HOUR, healthySnitch, NOW, newCase, snitchOf } from '../store/fixture.ts';

interface Context {
  store: Store;
  clock: { now: number; monotonic: number };
  logged: string[];
  /** A sweeper with `slices` of background work left, of a tenth of a second each. */
  sweeperWith(slices: number): Promise<{ sweeper: Sweeper; left(): number }>;
  dataDir: string;
}

const test = suite<Context>('background work');

test.before.each((context) => {
  const clock = { now: NOW, monotonic: 0 };
  const dataDir = newDataDir();
  const store = openStore({ dataDir, clock: () => clock.now });
  const logged: string[] = [];
  const logger = pino({ base: null }, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const sweeperWith = async (slices: number) => {
    let left = slices;
    const rescheduleSlice = async () => {
      clock.monotonic += 100;
      left = Math.max(0, left - 1);
      return left > 0;
    };
    const sweeper = new Sweeper({
      store: { ...store, rescheduleSlice },
      clock: () => clock.now,
      monotonic: () => clock.monotonic,
      logger,
    });
    await sweeper.wake();
    return { sweeper, left: () => left };
  };
  Object.assign(context, { store, clock, logged, sweeperWith, dataDir });
});
test.after.each(async ({ store, dataDir }) => {
  await store.close();
  removeDataDir(dataDir);
});

test('a missed deadline of another case is told in the first pass', async ({ store, clock, sweeperWith }) => {
  const other = await newCase(store);
  const missed = await healthySnitch(store, other, { interval: 'hourly' });
  clock.now = NOW + 3 * HOUR;
  const { sweeper, left } = await sweeperWith(1_000_000);
  await sweeper.tick();
  assert.is((await snitchOf(store, other, missed.token)).state.status, 'failed');
  assert.ok(left() > 0 && left() < 1_000_000);
});

test('each pass goes on, and the log says so if it takes long', async ({ clock, logged, sweeperWith }) => {
  const { sweeper, left } = await sweeperWith(300);
  const told = () => logged.filter((line) => line.includes('deadlines'));
  await sweeper.tick();
  assert.equal([left() < 300, told().length], [true, 0]);
  for (let passes = 0; left() > 0; passes += 1) {
    clock.now += 1_000;
    clock.monotonic += 500;
    await sweeper.tick();
    assert.ok(passes < 300);
  }
  await sweeper.tick();
  assert.ok(told().length > 2);
  assert.match(told().at(-1) ?? '', 'follow the changed rules');
  const { length } = told();
  await sweeper.tick();
  assert.is(told().length, length);
});

test.run();
