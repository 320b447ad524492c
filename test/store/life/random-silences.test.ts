/**
 * Random lives with silences, written down: planned and recurring ones, over snitches that need each other, while people
 * pause and acknowledge, and the daemon is away now and then. Alone in its process. Time limit: 110 s.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import { assertKept } from '../../kept-text.ts';
import { checkIn, utc } from '../fixture.ts';
import { checkEach, checkNothingIsLeft, checkSnitches } from './checks.ts';
import { jobActs } from './job-acts.ts';
import { type Life, live } from './live.ts';
import { pauseActs, snitchActs } from './people-acts.ts';
import { silenceActs } from './silence-acts.ts';
import type { Team } from './team.ts';
import { timeActs } from './time-acts.ts';

const silences = suite('random silences');

/** Before the clocks of New York are set forward, and on a day like others. */
const BEGINNINGS = ['2026-03-07T20:10:00', '2026-07-15T06:00:00'].map(utc);

/** Often due, also in a silence of some hours. */
const HOURLY = { interval: 'hourly', alertType: 'basic', schedule: null } as const;

async function setUp(team: Team): Promise<void> {
  const one = await team.makeCase({ timezone: 'America/New_York', reminders: 'daily' });
  const other = await team.makeCase({ members: ['cy@x.org'] });
  for (const made of [one, one, one, one, other, other]) {
    const token = await team.makeSnitch(made?.id ?? '', { ...HOURLY, needs: [] });
    if (token) await checkIn(team.world.store, token, team.world.now);
  }
  const [needed = '', tagged = '', dependent = '', last = ''] = team.tokensOf(one?.id ?? '');
  const { world } = team;
  await world.ask('updateSnitch', one?.id ?? '', tagged, { tags: ['db'] }, world.now);
  await world.ask('updateSnitch', one?.id ?? '', dependent, { needs: [needed, 'tag:db'] }, world.now);
  await world.ask('updateSnitch', one?.id ?? '', last, { needs: [dependent] }, world.now);
}

function lifeOf(begin: number, index: number): Life {
  return {
    seed: index + 11,
    begin,
    acts: 150,
    lookEvery: 8,
    digested: ['deliveries', 'activity', 'check_ins', 'snitch_values', 'snitch_tags'],
    setUp,
    actsOf: (team) => [
      ...jobActs(team),
      ...timeActs(team),
      ...snitchActs(team),
      ...pauseActs(team),
      ...silenceActs(team),
    ],
    check: async (team) => {
      await checkSnitches(team);
      await checkEach(team);
      await checkNothingIsLeft(team);
    },
  };
}

silences('live as they did', async () => {
  const lines: string[] = [];
  for (const life of BEGINNINGS.map(lifeOf)) lines.push(...(await live(life)));
  assertKept(join(import.meta.dirname, 'random-silences.txt'), lines);
});

silences.run();
