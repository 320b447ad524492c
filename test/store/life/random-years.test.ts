/**
 * Long random lives in which everything happens, of which only digests are written down (see `digests.ts`).
 * Alone in its process. Not with --fast. Time limit: 110 s.
 */
import { join } from 'node:path';
import { suite } from 'uvu';

import { checkIn, utc } from '../fixture.ts';
import { caseActs } from './case-acts.ts';
import { checkEach, checkHistories, checkNothingIsLeft, checkOutbox, checkSnitches } from './checks.ts';
import { digestsOf, TOGETHER } from './digests.ts';
import { fileActs } from './file-acts.ts';
import { jobActs } from './job-acts.ts';
import { assertKeptOnSqlite } from './kept-on-sqlite.ts';
import { type Life, live } from './live.ts';
import { outboxActs } from './outbox-acts.ts';
import { pageActs } from './page-acts.ts';
import { pauseActs, snitchActs } from './people-acts.ts';
import { silenceActs } from './silence-acts.ts';
import { targetActs } from './target-acts.ts';
import type { Team } from './team.ts';
import { timeActs } from './time-acts.ts';

const years = suite('random years');

const BEGINNINGS = ['2025-03-29T21:00:00', '2027-12-30T10:00:00'].map(utc);

async function setUp(team: Team): Promise<void> {
  const { world } = team;
  for (const timezone of ['Europe/Berlin', 'America/New_York']) {
    const made = await team.makeCase({ timezone });
    for (let count = 0; count < 4; count += 1) {
      const token = await team.makeSnitch(made?.id ?? '');
      if (token) await checkIn(world.store, token, world.now);
    }
    await world.ask(
      'putStatusPage',
      made?.id ?? '',
      { slug: `page-${team.cases.length}`, tags: ['*'] },
      world.now,
    );
  }
}

function lifeOf(begin: number, index: number): Life {
  return {
    seed: index + 61,
    begin,
    acts: 450,
    lookEvery: TOGETHER,
    setUp,
    actsOf: (team) => [
      ...[...jobActs(team), ...timeActs(team), ...silenceActs(team), ...targetActs(team)],
      ...[...outboxActs(team), ...snitchActs(team), ...pauseActs(team), ...fileActs(team), ...pageActs(team)],
      ...caseActs(team).filter(({ name }) => name !== 'somebody deletes a case'),
    ],
    check: async (team) => {
      await checkOutbox(team);
      if (!team.world.dice.isHit(0.2)) return;
      await checkSnitches(team);
      await checkEach(team);
      await checkHistories(team);
      await checkNothingIsLeft(team);
    },
  };
}

years('pass as they did', async () => {
  const lines: string[] = [];
  for (const life of BEGINNINGS.map(lifeOf)) lines.push(...(await live(life)));
  assertKeptOnSqlite(join(import.meta.dirname, 'random-years.txt'), digestsOf(lines));
});

years.run();
