/**
 * The primary of the database is killed under load, and a standby is promoted: nothing that was acknowledged is lost, and
 * the old primary is not written to when it comes back. CHAOS=full makes the rounds five, and measures asynchronous
 * standbys too. Time limit: 300 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startWebhookReceiver } from '../end-to-end/webhook-receiver.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';
import { rounded } from './latency.ts';
import { Jobs } from './nodes/jobs.ts';
import { ofPosts, type Sending, verifyTold } from './nodes/sendings.ts';
import { Team } from './nodes/team.ts';
import { Traffic } from './nodes/traffic.ts';

const IS_FULL = process.env.CHAOS === 'full';

const WORKING = IS_FULL ? 32 : 8;
const PER_ROUND = IS_FULL ? 1_000 : 60;

/** How many check-ins must be refused for the test to believe that nobody writes to the old primary. */
const REFUSED = 4;

interface Variant {
  standby: string;
  synchronous: boolean;
  /** How long nothing reaches the standby before the primary is killed, in milliseconds. */
  lag: number;
  rounds: number;
}

const MEASURED: readonly Variant[] = [
  { standby: 'an asynchronous', synchronous: false, lag: 0, rounds: 5 },
  { standby: 'an asynchronous and late', synchronous: false, lag: 300, rounds: 3 },
];

const VARIANTS: readonly Variant[] = [
  { standby: 'a synchronous', synchronous: true, lag: 0, rounds: IS_FULL ? 5 : 1 },
  ...(IS_FULL ? MEASURED : []),
];

const test = suite('failover under load');

/** Two clusters, one of them the primary. */
class Pair {
  primary: Cluster;
  standby: Cluster;
  readonly url: string;
  readonly #database: string;

  constructor(primary: Cluster, standby: Cluster, database: string) {
    this.primary = primary;
    this.standby = standby;
    this.#database = database;
    const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join();
    this.url = `postgres://postgres@${hosts}/${database}`;
  }

  query = <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
    this.primary.query<Row>(sql, values, this.#database);

  /** @returns when the primary was killed, and when the standby was promoted */
  async failOver({ lag }: Variant): Promise<{ killed: number; promoted: number }> {
    if (lag > 0) {
      this.primary.server.signalProcesses('walsender', 'SIGSTOP');
      await sleep(lag);
    }
    const killed = Date.now();
    await this.primary.server.kill();
    await this.standby.promote();
    [this.primary, this.standby] = [this.standby, this.primary];
    return { killed, promoted: Date.now() };
  }

  async countOfOld(): Promise<number> {
    const [row] = await this.standby.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM check_ins',
      [],
      this.#database,
    );
    return row?.count ?? 0;
  }
}

/** The old primary accepts writes again while the new one is away: neither must be mistaken for the other. */
async function expectOldRefused(pair: Pair, team: Team, token: string): Promise<void> {
  const { primary, standby: old } = pair;
  old.server.configure([`synchronous_standby_names = ''`], 'postgresql.auto.conf');
  await old.server.start();
  assert.not(await old.isStandby());
  const before = await pair.countOfOld();
  await primary.server.stop('SIGQUIT');
  try {
    for (let refused = 0; refused < REFUSED; ) {
      const statuses = await Promise.all(team.up.map((place) => team.checkIn(place, `${token}?m=refused`)));
      assert.equal(statuses, [503, 503]);
      refused += statuses.length;
    }
  } finally {
    await primary.server.start();
  }
  assert.is(await pair.countOfOld(), before, 'nothing is written to the old primary');
}

for (const variant of VARIANTS) {
  const { standby, synchronous, lag, rounds } = variant;
  test(`${rounds} times kill -9 of the primary with ${standby} standby`, async () => {
    const receiver = await startWebhookReceiver();
    try {
      await using cluster = await startCluster();
      const database = await cluster.newDatabase();
      const pair = new Pair(cluster, await cluster.standby({ synchronous }), database);
      await using team = new Team({
        urls: [pair.url, pair.url],
        env: { SNITCH_RETENTION_CHECK_INS: '1000000' },
      });
      await team.start(0, 1);
      await using jobs = await Jobs.open(pair);
      const [extra, ...working] = await jobs.make(1 + WORKING, { name: 'working' });
      await jobs.tell({ webhook: receiver.url });
      const traffic = new Traffic(team, working);
      const outages: Outage[] = [];
      try {
        for (let round = 0; round < rounds; round += 1) {
          await traffic.grown(PER_ROUND);
          const times = await pair.failOver(variant);
          await traffic.grown(PER_ROUND);
          tell(traffic, times);
          const lost = await traffic.lost(jobs);
          if (synchronous) assert.equal(lost, []);
          else console.log(`      lost so far: ${lost.length} of ${traffic.acknowledged.size}`);
          await expectOldRefused(pair, team, extra as string);
          await until(async () => (await ready(team)).every(Boolean), 'the nodes are ready again', 60_000);
          outages.push({ start: times.killed, end: Date.now() });
          await pair.standby.rejoin(pair.primary, { synchronous });
        }
      } finally {
        await traffic.end();
      }
      await until(async () => (await jobs.pending()) === 0, 'all is sent', 240_000);
      const answers = Object.keys(traffic.counts());
      assert.equal(
        answers.filter((status) => !['202', '503'].includes(status)),
        [],
      );
      console.log(`      ${traffic.acknowledged.size} acknowledged, ${JSON.stringify(traffic.counts())}`);
      if (synchronous) {
        await traffic.verify(jobs);
        await verifyTold(jobs, receiver.posts);
        const twice = cutShort(ofPosts(receiver.posts), outages);
        console.log(`      ${twice.length} of ${receiver.posts.length} webhooks came again`);
      }
      assert.ok(lag > 0 || traffic.acknowledged.size > rounds * PER_ROUND);
    } finally {
      await receiver.stop();
    }
  });
}

interface Outage {
  start: number;
  end: number;
}

/** A sending that began so long before an outage may not have been written down when that began, in milliseconds. */
const IN_FLIGHT = 5_000;

/** What arrived more than once: each time except the last, the database went away before it was recorded. */
function cutShort(sendings: readonly Sending[], outages: readonly Outage[]): Sending[] {
  const repeated = [...Map.groupBy(sendings, ({ id }) => id).values()].flatMap((same) => same.slice(0, -1));
  const isCutShort = ({ at }: Sending) =>
    outages.some(({ start, end }) => at > start - IN_FLIGHT && at < end);
  assert.equal(
    repeated.filter((one) => !isCutShort(one)),
    [],
  );
  return repeated;
}

function ready(team: Team): Promise<boolean[]> {
  return Promise.all(team.up.map((place) => team.ready(place)));
}

/** The longest time after the kill without an acknowledged check-in. */
function tell({ answers }: Traffic, { killed, promoted }: { killed: number; promoted: number }): void {
  const acknowledged = answers.filter(({ status }) => status === 202).map(({ at }) => at);
  const stretches = acknowledged
    .slice(1)
    .map((end, index) => ({ end, length: end - (acknowledged[index] ?? end) }))
    .filter(({ end, length }) => end > killed && end - length < promoted);
  const longest = stretches.reduce((one, other) => (other.length > one.length ? other : one));
  const refused = answers.filter(({ status, at }) => status !== 202 && at > killed).length;
  console.log(
    `      promoted ${rounded(promoted - killed)} after the kill; none acknowledged for ${rounded(longest.length)}, until ${rounded(longest.end - killed)} after the kill; ${refused} refused`,
  );
}

runUnless(WITHOUT_POSTGRES, test, 'failover under load');
