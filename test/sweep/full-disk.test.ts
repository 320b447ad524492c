/** After a disk was full until a deadline, jobs whose check-ins were refused are not accused by the first successful write. */
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { Sweeper } from '../../src/sweep/sweeper.ts';
import { runUnless } from '../skipped.ts';
import type { Store } from '../store/acting.ts';
import { checkIn, healthySnitch, newCase, openIn, rejection, SECOND, utc } from '../store/fixture.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { openSmallDisk, type SmallDisk } from '../store/sqlite/small-disk.ts';

const CHECKED_IN = utc('2025-07-09T10:59:57');
const DEADLINE = utc('2025-07-09T12:00:00');

interface World {
  disk: SmallDisk;
  clock: { now: number };
  store: Store;
  sweeper: Sweeper;
  owner: Case;
  token: string;
}

const full = suite<World>('a full disk up to a deadline');

full.before.each(async (world) => {
  world.disk = openSmallDisk();
  world.clock = { now: CHECKED_IN };
  await open(world);
  world.owner = await newCase(world.store, { members: ['ann@example.com'] }, CHECKED_IN);
  world.token = (await healthySnitch(world.store, world.owner, {}, CHECKED_IN)).token;
  while (world.clock.now < DEADLINE - 10 * SECOND) {
    world.clock.now = Math.min(world.clock.now + 10 * SECOND, DEADLINE - 10 * SECOND);
    await world.sweeper.tick();
  }
  assert.is((await world.store.listAlerts(world.owner.id, null, { limit: 9, before: null })).length, 1);
  await world.store.recordLiveness(DEADLINE - 10 * SECOND);
});

full.after.each(async ({ disk, store }) => {
  disk.free();
  await store.close();
  disk.remove();
});

async function open(world: World): Promise<void> {
  const { disk, clock } = world;
  world.store = openIn(disk.dataDir, { clock: () => clock.now });
  const logger = pino({ level: 'silent' });
  world.sweeper = new Sweeper({ store: world.store, clock: () => clock.now, monotonic: () => 0, logger });
  await world.sweeper.wake();
}

async function isRefused({ store, token, clock }: World, at: number): Promise<void> {
  clock.now = at;
  assert.instance(await rejection(checkIn(store, token, at)), StoreUnavailable);
}

async function assertExcused(
  { store, owner, sweeper, clock, token }: World,
  since = DEADLINE - 4 * SECOND,
): Promise<void> {
  const alerts = async () =>
    (await store.listAlerts(owner.id, null, { limit: 10, before: null })).map(({ alert }) => alert);
  const types = async () =>
    (await alerts()).map(({ type }) => type).filter((type) => type !== 'snitch.reporting');
  assert.equal(await types(), ['service.blind']);
  const [notice] = (await alerts()).filter(({ type }) => type === 'service.blind');
  assert.ok((notice?.notice?.start ?? 0) <= since);
  assert.is((await store.getSnitch(owner.id, token))?.state.status, 'healthy');
  clock.now += SECOND;
  await sweeper.tick();
  assert.equal(await types(), ['service.blind'], 'nor later');
}

full('the sweep is the first write that works', async (world) => {
  const { disk, clock, sweeper } = world;
  disk.fill();
  await isRefused(world, DEADLINE - 4 * SECOND);
  await sweeper.tick();
  disk.free();
  clock.now = DEADLINE;
  await sweeper.tick();
  await assertExcused(world);
});

full('a check-in of another job is the first, and the space is gone again until the sweep', async (world) => {
  const { disk, clock, store, owner, sweeper } = world;
  const other = await healthySnitch(store, owner, { interval: 'weekly' }, DEADLINE - 9 * SECOND);
  disk.fill();
  await isRefused(world, DEADLINE - 4 * SECOND);
  disk.free();
  assert.ok(await checkIn(store, other.token, DEADLINE - 2 * SECOND));
  clock.now = DEADLINE;
  await sweeper.tick();
  await assertExcused(world);
});

full('the disk is full again between the window and what is due', async (world) => {
  const { disk, clock, store, token } = world;
  let refusedOnce = false;
  const between: Store = {
    ...store,
    rescheduleSlice: async (now) => {
      if (!refusedOnce) {
        refusedOnce = true;
        disk.fill();
        assert.instance(await rejection(checkIn(store, token, clock.now)), StoreUnavailable);
        disk.free();
      }
      return store.rescheduleSlice(now);
    },
  };
  const logger = pino({ level: 'silent' });
  const sweeper = new Sweeper({ store: between, clock: () => clock.now, monotonic: () => 0, logger });
  await sweeper.wake();
  clock.now = DEADLINE;
  await sweeper.tick();
  clock.now = DEADLINE + SECOND;
  await sweeper.tick();
  assert.ok(refusedOnce);
  await assertExcused({ ...world, sweeper }, DEADLINE);
});

full('the daemon stops while the disk is full, and starts when there is room', async (world) => {
  const { disk, clock, store, sweeper } = world;
  disk.fill();
  await isRefused(world, DEADLINE - 4 * SECOND);
  await sweeper.stop();
  await store.close();
  disk.free();
  clock.now = DEADLINE + 5 * SECOND;
  await open(world);
  await world.sweeper.tick();
  await assertExcused(world);
});

full('it stops after the space came back, before the window was opened', async (world) => {
  const { disk, clock, store, token, sweeper } = world;
  disk.fill();
  await isRefused(world, DEADLINE - 4 * SECOND);
  disk.free();
  clock.now = DEADLINE - SECOND;
  assert.ok(await store.getSnitch(world.owner.id, token));
  await sweeper.stop();
  await store.close();
  clock.now = DEADLINE + SECOND;
  await open(world);
  await world.sweeper.tick();
  await assertExcused(world);
});

runUnless(WITHOUT_SQLITE, full, 'a full disk up to a deadline');
