/**
 * Random lives of jobs, written down: they check in, fail, come late, flap and go missing, while people change their
 * snitches. Alone in its process. Time limit: 110 s.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import { assertKept } from '../../kept-text.ts';
import { checkIn, utc } from '../fixture.ts';
import { checkEach, checkHistories, checkNothingIsLeft, checkSnitches } from './checks.ts';
import { jobActs } from './job-acts.ts';
import { type Life, live } from './live.ts';
import { pauseActs, snitchActs } from './people-acts.ts';
import type { Team } from './team.ts';
import { timeActs } from './time-acts.ts';

const jobs = suite('random jobs');

/** Before the clocks of Europe are set back, and before the end of a month. */
const BEGINNINGS = ['2025-10-25T21:40:00', '2026-02-27T08:00:00'].map(utc);

async function setUp(team: Team): Promise<void> {
  const one = await team.makeCase({ timezone: 'Europe/Berlin' });
  const other = await team.makeCase({ reminders: 'hourly', members: ['cy@x.org'] });
  for (const made of [one, one, one, one, other, other]) {
    const token = await team.makeSnitch(made?.id ?? '');
    if (token) await checkIn(team.world.store, token, team.world.now);
  }
}

function lifeOf(begin: number, index: number): Life {
  return {
    seed: index + 1,
    begin,
    acts: 150,
    lookEvery: 10,
    digested: ['deliveries', 'activity', 'status_counts', 'snitch_tags'],
    setUp,
    actsOf: (team) => [...jobActs(team), ...timeActs(team), ...snitchActs(team), ...pauseActs(team)],
    check: async (team) => {
      await checkSnitches(team);
      await checkEach(team);
      await checkHistories(team);
      await checkNothingIsLeft(team);
    },
  };
}

jobs('live as they did', async () => {
  const lines: string[] = [];
  for (const life of BEGINNINGS.map(lifeOf)) lines.push(...(await live(life)));
  assertKept(join(import.meta.dirname, 'random-jobs.txt'), lines);
});

jobs.run();
