/**
 * Random lives of what others look at, written down: status pages, badges, and the lists that monitoring reads, while
 * jobs check in and people silence them. Alone in its process. Time limit: 110 s.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import { assertKept } from '../../kept-text.ts';
import { checkIn, utc } from '../fixture.ts';
import { checkEach, checkNothingIsLeft, checkSnitches } from './checks.ts';
import { jobActs } from './job-acts.ts';
import { type Life, live } from './live.ts';
import { pageActs } from './page-acts.ts';
import { pauseActs, snitchActs } from './people-acts.ts';
import { silenceActs } from './silence-acts.ts';
import type { Team } from './team.ts';
import { timeActs } from './time-acts.ts';

const pages = suite('random pages');

/** Before the clocks of New York are set back, and on a day like others. */
const BEGINNINGS = ['2026-10-31T22:00:00', '2026-04-14T03:00:00'].map(utc);

async function setUp(team: Team): Promise<void> {
  for (const timezone of ['America/New_York', 'UTC']) {
    const made = await team.makeCase({ timezone });
    for (let count = 0; count < 3; count += 1) await team.makeSnitch(made?.id ?? '', { tags: ['db', 'web'] });
  }
  await putOneByOne(team);
}

/** Each has a page, one from the beginning, and the other after its jobs failed and recovered. */
async function putOneByOne({ world, cases: [one = '', other = ''], snitches }: Team): Promise<void> {
  await world.ask('putStatusPage', one, { slug: 'acme', tags: ['*'] }, world.now);
  for (const outcome of ['healthy', 'error', 'healthy', 'error'] as const) {
    for (const { token } of snitches) await checkIn(world.store, token, world.now, { outcome });
    if (outcome === 'healthy') world.pass(1_000);
  }
  await world.ask('putStatusPage', other, { slug: 'shop', tags: ['db'] }, world.now + 1);
}

function lifeOf(begin: number, index: number): Life {
  return {
    seed: index + 51,
    begin,
    acts: 220,
    lookEvery: 10,
    digested: [
      'deliveries',
      'snitch_states',
      'check_ins',
      'snitch_values',
      'alerts',
      'snitch_tags',
      'status_counts',
    ],
    setUp,
    actsOf: (team) => [
      ...jobActs(team),
      ...timeActs(team),
      ...snitchActs(team),
      ...pauseActs(team).filter(({ name }) => name !== 'somebody follows a link'),
      ...silenceActs(team).filter(({ name }) => name === 'somebody makes a silence'),
      ...pageActs(team),
    ],
    check: async (team) => {
      await checkSnitches(team);
      await checkEach(team);
      await checkNothingIsLeft(team);
    },
  };
}

pages('live as they did', async () => {
  const lines: string[] = [];
  for (const life of BEGINNINGS.map(lifeOf)) lines.push(...(await live(life)));
  assertKept(join(import.meta.dirname, 'random-pages.txt'), lines);
});

pages.run();
