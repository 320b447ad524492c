/**
 * Random lives of cases, written down: people, files and jobs make, change, own and delete snitches and whole cases.
 * Alone in its process. Time limit: 110 s.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import { assertKept } from '../../kept-text.ts';
import { utc } from '../fixture.ts';
import { caseActs, keyActs } from './case-acts.ts';
import { checkEach, checkHistories, checkNothingIsLeft, checkSnitches } from './checks.ts';
import { fileActs } from './file-acts.ts';
import { jobActs } from './job-acts.ts';
import { type Life, live } from './live.ts';
import { pauseActs, snitchActs } from './people-acts.ts';
import type { Team } from './team.ts';
import { timeActs } from './time-acts.ts';

const cases = suite('random cases');

/** Before a leap day, and before the end of a year. */
const BEGINNINGS = ['2028-02-28T09:00:00', '2026-12-31T17:30:00'].map(utc);

async function setUp(team: Team): Promise<void> {
  for (const timezone of ['UTC', 'Asia/Kathmandu']) {
    const made = await team.makeCase({ timezone });
    for (let count = 0; count < 3; count += 1) await team.makeSnitch(made?.id ?? '');
  }
}

function lifeOf(begin: number, index: number): Life {
  return {
    seed: index + 31,
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
      ...caseActs(team),
      ...keyActs(team),
      ...fileActs(team),
    ],
    check: async (team) => {
      await checkSnitches(team);
      await checkEach(team);
      await checkHistories(team);
      await checkNothingIsLeft(team);
    },
  };
}

cases('live as they did', async () => {
  const lines: string[] = [];
  for (const life of BEGINNINGS.map(lifeOf)) lines.push(...(await live(life)));
  assertKept(join(import.meta.dirname, 'random-cases.txt'), lines);
});

cases.run();
