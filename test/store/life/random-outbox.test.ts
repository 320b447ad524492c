/**
 * Random lives of deliveries, the first ones written down, the long ones as digests: alerts go to members, webhooks and
 * channels, some at once, some later, some never, while senders claim, fail, end and begin anew.
 * Alone in its process. Not with --fast. Time limit: 110 s.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import { CHANNEL_EVENTS } from '../../../src/core/channel.ts';

import { checkIn, utc } from '../fixture.ts';
import { checkHistories, checkNothingIsLeft, checkOutbox } from './checks.ts';
import { digestsOf, TOGETHER } from './digests.ts';
import { jobActs } from './job-acts.ts';
import { assertKeptOnSqlite } from './kept-on-sqlite.ts';
import { type Life, live } from './live.ts';
import { outboxActs } from './outbox-acts.ts';
import { pauseActs } from './people-acts.ts';
import { KINDS, OFFICE, targetActs } from './target-acts.ts';
import type { Team } from './team.ts';
import { timeActs } from './time-acts.ts';

const outbox = suite('random outbox');

const BEGINNINGS = ['2026-01-30T15:00:00', '2026-05-11T05:00:00'].map(utc);

/** A webhook and a channel of each kind in the first case, so that from the beginning alerts go everywhere. */
async function setUp(team: Team): Promise<void> {
  const one = await team.makeCase();
  const other = await team.makeCase({ members: ['cy@x.org'], timezone: 'Asia/Kathmandu' });
  const id = one?.id ?? '';
  const { world } = team;
  for (const kind of KINDS) {
    const fields = { settings: { url: `https://${kind}.org/` }, events: CHANNEL_EVENTS, tags: [] };
    await world.ask('createChannel', id, { kind, name: kind, fields }, world.now);
    world.pass(1_000);
  }
  await world.ask('createWebhook', id, 'https://h.org/', world.now, { notices: true });
  await world.ask('updateRoute', id, { channel: 'email', target: 'bob@x.org' }, { after: 1_800 });
  await world.ask(
    'updateRoute',
    other?.id ?? '',
    { channel: 'email', target: 'cy@x.org' },
    { hours: OFFICE },
  );
  for (const made of [one, one, other]) {
    const hourly = { interval: 'hourly', alertType: 'basic', schedule: null } as const;
    const token = await team.makeSnitch(made?.id ?? '', hourly);
    if (token) await checkIn(world.store, token, world.now);
  }
}

/** What makes alerts. */
const CAUSES = [
  'a job is well',
  'a job fails',
  'all jobs of a case are well',
  'the daemon sweeps',
  'a deadline comes',
];

function lifeOf(begin: number, index: number): Life {
  return {
    seed: index + 21,
    begin,
    acts: 110,
    lookEvery: 10,
    digested: [
      'activity',
      'check_ins',
      'snitch_values',
      'snitch_states',
      'snitch_tags',
      'alerts',
      'status_counts',
    ],
    setUp,
    actsOf: (team) => [
      ...[...jobActs(team), ...timeActs(team)].filter(({ name }) => CAUSES.includes(name)),
      ...timeActs(team).filter(({ name }) => /deleted|away$|came back/.test(name)),
      ...pauseActs(team),
      ...targetActs(team),
      ...outboxActs(team),
    ],
    check: async (team) => {
      await checkOutbox(team);
      await checkHistories(team);
      await checkNothingIsLeft(team);
    },
  };
}

outbox('lives as it did', async () => {
  const lines: string[] = [];
  for (const life of BEGINNINGS.map(lifeOf)) lines.push(...(await live(life)));
  assertKeptOnSqlite(join(import.meta.dirname, 'random-outbox.txt'), lines);
});

outbox('lives long as it did', async () => {
  const lines: string[] = [];
  for (const seed of [25, 26]) {
    const begin = utc('2026-02-02T09:00:00');
    lines.push(...(await live({ ...lifeOf(begin, 0), seed, acts: 300, lookEvery: TOGETHER })));
  }
  assertKeptOnSqlite(join(import.meta.dirname, 'random-outbox-years.txt'), digestsOf(lines));
});

outbox.run();
