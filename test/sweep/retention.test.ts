/** A clock that is months ahead for a moment must not delete what is kept for 30 days. */
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import { Retention } from '../../src/sweep/retention.ts';
import {
  checkIn,
  DAY,
  HOUR,
  healthySnitch,
  NOW,
  newCase,
  type Opened,
  openSqlite,
} from '../store/fixture.ts';

interface World extends Opened {
  retention: Retention;
  owner: Case;
  token: string;
}

const test = suite<World>('retention and the clock');

test.before.each(async (world) => {
  Object.assign(world, await openSqlite());
  const { store, clock } = world;
  const logger = pino({ level: 'silent' });
  const settings = { checkIns: 1_000, days: 30 };
  world.retention = new Retention({ store, clock: () => clock.now, logger, settings });
  world.owner = await newCase(store);
  world.token = (await healthySnitch(store, world.owner, {}, NOW - 20 * DAY)).token;
  await checkIn(store, world.token, NOW);
  await world.retention.pass();
});

test.after.each(({ dispose }) => dispose());

async function kept({ store, owner, token }: World): Promise<number> {
  return (await store.listCheckIns(owner.id, token, { limit: 100, before: null }))?.length ?? 0;
}

test('40 days ahead for a pass, it deletes nothing that is younger than a day less', async (world) => {
  const { clock, retention } = world;
  clock.now = NOW + 40 * DAY;
  await retention.pass();
  assert.is(await kept(world), 2);
  clock.now = NOW + HOUR;
  await retention.pass();
  clock.now = NOW + 9 * DAY;
  await retention.pass();
  assert.is(await kept(world), 2);
});

test('after a long time away it catches up a day with each pass', async (world) => {
  const { clock, retention } = world;
  clock.now = NOW + 40 * DAY;
  for (let pass = 0; pass < 10; pass += 1) await retention.pass();
  assert.is(await kept(world), 2);
  await retention.pass();
  assert.is(await kept(world), 1, 'the one of 31 days ago is gone');
});

test('from hour to hour it keeps exactly so many days', async (world) => {
  const { clock, retention } = world;
  for (clock.now = NOW; clock.now <= NOW + 10 * DAY; clock.now += 12 * HOUR) await retention.pass();
  assert.is(await kept(world), 2);
  clock.now = NOW + 10 * DAY + 1;
  await retention.pass();
  assert.is(await kept(world), 1);
});

test.run();
