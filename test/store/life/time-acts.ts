/** What happens as time goes by, and what the daemon does about it. */
import { checkIn, DAY, HOUR, MINUTE, SECOND } from '../fixture.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';
import type { World } from './world.ts';

export function timeActs(team: Team): Act[] {
  const { world } = team;
  return [
    { often: 14, name: 'the daemon sweeps', run: () => world.sweep() },
    { often: 6, name: 'a deadline comes', run: () => toNextDue(world) },
    { often: 2, name: 'the daemon looks ahead', run: () => moveLooks(world) },
    { often: 2, name: 'the daemon was away', run: () => beAway(world) },
    { often: 1, name: 'the daemon was away while jobs ran', run: () => beAwayWhileJobsRun(team) },
    { often: 1, name: 'the clock came back', run: () => setAnew(world) },
    { often: 1, name: 'what is old is deleted', run: () => prune(world) },
  ];
}

/** To the millisecond of the first deadline, or to the one before. */
async function toNextDue(world: World): Promise<void> {
  const { firstDueAt } = await world.store.census();
  if (firstDueAt !== null && firstDueAt > world.now && firstDueAt < world.now + 12 * HOUR) {
    world.pass(firstDueAt - world.now - world.dice.oneOf([0, 0, 0, 1]));
  }
  await world.sweep();
}

async function moveLooks(world: World): Promise<void> {
  let after = null;
  do after = await world.ask('moveLooks', world.now + world.dice.oneOf([0, 10 * MINUTE, 2 * HOUR]), after);
  while (after);
}

async function beAway(world: World): Promise<void> {
  const start = world.now - world.dice.oneOf([0, 0, SECOND, MINUTE]);
  world.pass(world.dice.oneOf([SECOND, 30 * SECOND, 61 * SECOND, 10 * MINUTE, 2 * HOUR]));
  await world.ask('openBlindWindow', { start, end: world.now });
  while (await world.ask('postponeSlice', world.now));
  await world.ask('recordLiveness', world.now, ...(world.dice.isHit(0.3) ? [{ socket: 'the socket' }] : []));
}

async function beAwayWhileJobsRun(team: Team): Promise<void> {
  const { world } = team;
  for (const token of team.tokensOf(team.someCase())) {
    await checkIn(world.store, token, world.now, { outcome: 'start' });
  }
  world.say('they begin');
  await beAway(world);
  const { caseId, token } = team.someSnitch();
  await world.ask('listPostponements', caseId, token, 2);
}

/** What was set while the clock ran ahead is set anew. */
async function setAnew(world: World): Promise<void> {
  if (world.dice.isHit(0.5)) world.pass(-world.dice.oneOf([2 * HOUR, 2 * DAY]));
  let after: number | null = 0;
  do after = await world.store.setAnewSlice(world.now, after);
  while (after !== null);
  await world.sweep();
}

async function prune(world: World): Promise<void> {
  const { now, dice } = world;
  const limits = {
    checkIns: dice.oneOf([2, 5, 20]),
    olderThan: now - dice.oneOf([6 * HOUR, DAY, 5 * DAY]),
    now,
  };
  while (await world.ask('prune', limits));
}
