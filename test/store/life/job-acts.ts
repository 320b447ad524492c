/** What jobs do: check in, early, late, twice, with or without a start, and report numbers. */
import type { CheckIn } from '../../../src/core/check-in.ts';
import { HOUR, MINUTE, SECOND } from '../fixture.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';

/** Runs of one job that overlap are told apart by these. */
const RUNS = ['6f1c9a52-95c3-4b8e-9b1f-0d6a3c1e7a01', '6f1c9a52-95c3-4b8e-9b1f-0d6a3c1e7a02'];

const PLAIN = { exitStatus: null, message: null, source: null, runId: null, output: null };

type Said = Omit<CheckIn, 'token' | 'now' | 'at'>;

export function jobActs(team: Team): Act[] {
  const { world } = team;
  const { dice } = world;
  const checkIn = async (said: Said, at = world.now) => {
    const { token } = team.someSnitch();
    await world.ask('applyCheckIn', { token, now: world.now, at, ...said });
  };
  return [
    { often: 10, name: 'a job is well', run: () => checkIn(well(team)) },
    { often: 4, name: 'a job fails', run: () => checkIn(failed(team)) },
    { often: 4, name: 'a job begins', run: () => checkIn({ ...PLAIN, ...runOf(team), outcome: 'start' }) },
    { often: 1, name: 'a job notes', run: () => checkIn({ ...PLAIN, outcome: 'log', message: 'half done' }) },
    {
      often: 2,
      name: 'a job reports late',
      run: () => checkIn(dice.isHit(0.7) ? well(team) : failed(team), world.now - dice.oneOf(DELAYS)),
    },
    { often: 2, name: 'one job checks in often', run: () => storm(team) },
    { often: 3, name: 'all jobs of a case are well', run: () => everybody(team) },
  ];
}

const DELAYS = [1, SECOND, 5 * MINUTE, HOUR, 7 * HOUR];

function well(team: Team): Said {
  const { dice } = team.world;
  return {
    ...PLAIN,
    ...runOf(team),
    outcome: 'healthy',
    ...(dice.isHit(0.4) ? { reported: reportOf(team) } : {}),
    source: dice.oneOf([null, '192.0.2.7']),
  };
}

function failed(team: Team): Said {
  const { dice } = team.world;
  const exitStatus = dice.oneOf([1, 2, null]);
  return {
    ...PLAIN,
    ...runOf(team),
    outcome: 'error',
    exitStatus,
    message: dice.oneOf([null, 'disk full']),
    output: dice.oneOf([null, 'the last\nlines']),
  };
}

function runOf({ world: { dice } }: Team): Pick<CheckIn, 'runId'> {
  return { runId: dice.isHit(0.3) ? dice.oneOf(RUNS) : null };
}

function reportOf({ world: { dice } }: Team): NonNullable<CheckIn['reported']> {
  const values = { rows: dice.oneOf([5, 50, 51, 52, 4_000]), bytes: dice.oneOf([100, 110, 120, 1_000]) };
  return {
    values: dice.isHit(0.3) ? { bytes: values.bytes } : values,
    dropped: dice.isHit(0.1) ? ['X'] : [],
  };
}

/** One after the other, now well and now failing, as a job that flaps does: maybe within one millisecond. */
async function storm(team: Team): Promise<void> {
  const { world } = team;
  const pause = world.dice.oneOf([0, 1, SECOND]);
  const { token } = team.someSnitch();
  for (let count = world.dice.whole(2, 9); count > 0; count -= 1) {
    const outcome = count % 2 === 0 ? 'error' : 'healthy';
    await world.ask('applyCheckIn', { token, now: world.now, at: world.now, ...PLAIN, outcome });
    world.pass(pause);
  }
}

async function everybody(team: Team): Promise<void> {
  const { world } = team;
  for (const token of team.tokensOf(team.someCase())) {
    await world.ask('applyCheckIn', { token, now: world.now, at: world.now, ...PLAIN, outcome: 'healthy' });
  }
}
