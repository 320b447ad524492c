/** How a random life goes: one act after the other, each as often as it should be, and now and then a look at it all. */
import { HOUR, MINUTE, openEmpty, SECOND } from '../fixture.ts';
import { Team } from './team.ts';
import { type Beginning, World } from './world.ts';

/** One kind of thing that happens. */
export interface Act {
  /** How often it happens, compared with the others. */
  often: number;
  name: string;
  run: () => Promise<unknown>;
}

export interface Life extends Beginning {
  acts: number;
  /** What there is before the first act. */
  setUp: (team: Team) => Promise<void>;
  /** What can happen. */
  actsOf: (team: Team) => readonly Act[];
  /** What must be true whenever somebody looks. */
  check: (team: Team) => Promise<void>;
  /** How many acts there are between two looks at all rows. */
  lookEvery: number;
}

/** @returns what was done and answered, and how the rows changed */
export async function live(life: Life): Promise<string[]> {
  await using opened = await openEmpty();
  using world = new World(opened, life);
  const team = new Team(world);
  world.begin(`life ${life.seed} begins`);
  await life.setUp(team);
  const acts = life.actsOf(team);
  for (let count = 1; count <= life.acts; count += 1) {
    world.pass(pauseOf(world));
    const act = drawn(world, acts);
    world.begin(act.name);
    await act.run();
    if (count % life.lookEvery === 0) {
      await life.check(team);
      await world.sayRows();
    }
  }
  return world.lines;
}

/** Mostly the clock goes on, in steps of all sizes; seldom somebody sets it back. */
function pauseOf({ dice }: World): number {
  if (dice.isHit(0.02)) return -dice.oneOf([1, SECOND, 10 * MINUTE]);
  return dice.oneOf([0, 1, SECOND, 20 * SECOND, MINUTE, 5 * MINUTE, 20 * MINUTE, HOUR, 3 * HOUR]);
}

function drawn({ dice }: World, acts: readonly Act[]): Act {
  let left = dice.whole(
    1,
    acts.reduce((sum, { often }) => sum + often, 0),
  );
  for (const act of acts) {
    left -= act.often;
    if (left <= 0) return act;
  }
  throw new Error('there is nothing to do');
}
