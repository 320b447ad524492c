/**
 * Several nodes on one PostgreSQL database lose what may be lost: nodes, their time, their way to the database, and each
 * other. CHAOS=full makes the rounds many and the pauses long. Time limit: 600 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EMAIL_LIMITS } from '../../src/delivery/channels/email.ts';
import { type Mailbox, startMailbox } from '../end-to-end/mailbox.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../end-to-end/webhook-receiver.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';
import { quantile, rounded } from './latency.ts';
import { Jobs } from './nodes/jobs.ts';
import { type Network, openNetwork } from './nodes/network.ts';
import { explainedDuplicates, missingOf, ofMails, ofPosts, verifyTold } from './nodes/sendings.ts';
import { Team } from './nodes/team.ts';
import { Traffic } from './nodes/traffic.ts';

const IS_FULL = process.env.CHAOS === 'full';

const KILLS = IS_FULL ? 20 : 2;
const SIZES = IS_FULL ? [2, 3] : [3];
const WORKING = IS_FULL ? 24 : 3;
const PER_ROUND = IS_FULL ? 500 : 30;
const STOPPED_FOR = IS_FULL ? 60_000 : 0;
const DIGEST = IS_FULL ? 5_000 : 150;
const DUE = IS_FULL ? 10_000 : 150;
const MEASURED_FOR = IS_FULL ? 10_000 : 500;

/** Jobs that are missing in each round, and back in the next. */
const ABSENT = 5;

/** Thousands take long on a busy host. In milliseconds. */
const SENT_WITHIN = 300_000;

/** The claims of a dead node go to another after ten seconds, and not after their lease of 75. In milliseconds. */
const TAKEN_OVER_WITHIN = 60_000;

interface Context {
  cluster: Cluster;
  database: string;
  network: Network;
  mailbox: Mailbox;
  team: Team;
}

const test = suite<Context>('several nodes in trouble');

test.before(async (context) => {
  context.cluster = await startCluster();
  context.database = await context.cluster.newDatabase();
  context.network = await openNetwork(context.cluster.port);
  context.mailbox = await startMailbox();
  const direct = context.cluster.url(context.database);
  const far = direct.replace(`:${context.cluster.port}/`, `:${context.network.port}/`);
  context.team = new Team({
    urls: [direct, direct, far],
    env: {
      SNITCH_RETENTION_CHECK_INS: '1000000',
      SNITCH_SMTP_URL: context.mailbox.url,
      SNITCH_SMTP_FROM: 'snitch@example.com',
    },
  });
  await context.team.start(0, 1, 2);
  await known(context);
});

/**
 * Of one that is killed before its next sign, a node that has just begun does not know that it lived beside it, and takes
 * the moment between the two for a silence.
 */
function known({ cluster, database }: Context): Promise<void> {
  const unsure = () => cluster.query('SELECT 1 FROM nodes WHERE unsure_from IS NOT NULL', [], database);
  return until(async () => (await unsure()).length === 0, 'each has lived beside the others');
}

test.after(async ({ team, network, mailbox, cluster }) => {
  await team[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await mailbox.stop();
  await cluster[Symbol.asyncDispose]();
});

/** A new case with one member who gets mail and one webhook. */
async function withJobs(
  { cluster, database }: Context,
  work: (jobs: Jobs, receiver: WebhookReceiver) => Promise<void>,
): Promise<void> {
  const receiver = await startWebhookReceiver();
  try {
    await using jobs = await Jobs.open({
      url: cluster.url(database),
      query: (sql, values) => cluster.query(sql, values, database),
    });
    await work(jobs, receiver);
  } finally {
    await receiver.stop();
  }
}

const mailsTo = ({ mailbox }: Context, who: string) =>
  mailbox.mails.filter(({ recipients }) => recipients.includes(who));

async function allSent(jobs: Jobs): Promise<void> {
  await until(async () => (await jobs.pending()) === 0, 'all is sent', SENT_WITHIN);
}

for (const size of SIZES) {
  test(`${KILLS} times kill -9 of one of ${size} nodes under load`, (context) =>
    withJobs(context, async (jobs, receiver) => {
      const { team } = context;
      if (size === 2) await team.stop(2);
      const who = `kills-${size}@example.com`;
      const working = await jobs.make(WORKING, { name: 'working' });
      const absent = await jobs.make(ABSENT * KILLS, { name: 'absent' });
      await jobs.tell({ members: [who], webhook: receiver.url });
      const traffic = new Traffic(team, working);
      try {
        for (let round = 0; round < KILLS; round += 1) {
          const now = absent.slice(round * ABSENT, (round + 1) * ABSENT);
          await jobs.makeDue(now);
          await traffic.grown(PER_ROUND);
          await sleep(Math.random() * 400);
          const victim = Math.floor(Math.random() * size);
          await team.kill(victim);
          await traffic.grown(PER_ROUND);
          const areMissed = async () => new Set(now).isSubsetOf(await missingOf(jobs));
          await until(areMissed, 'those that are absent are missed', SENT_WITHIN);
          const back = team.up[0] as number;
          for (const token of now) assert.is(await team.checkIn(back, token), 202);
          await team.start(victim);
          await known(context);
        }
      } finally {
        await traffic.end();
        if (size === 2) await team.start(2);
      }
      await allSent(jobs);
      await traffic.verify(jobs);
      const alerts = await verifyTold(jobs, receiver.posts);
      const missing = await missingOf(jobs);
      assert.equal([...missing].sort(), [...absent].sort());
      const errored = new Set(
        receiver.posts
          .filter(({ body }) => body.type === 'snitch.errored')
          .map(({ body }) => body.data.snitch.token),
      );
      for (const token of traffic.failed) assert.ok(errored.has(token));
      const text = mailsTo(context, who)
        .map(({ message }) => message.text)
        .join('\n');
      for (const index of absent.keys()) assert.match(text, new RegExp(`\\babsent-${index}\\b`));
      const posted = explainedDuplicates(ofPosts(receiver.posts), team.lives);
      const mailed = explainedDuplicates(ofMails(mailsTo(context, who)), team.lives);
      console.log(
        `      ${traffic.acknowledged.size} check-ins acknowledged, answers ${JSON.stringify(traffic.counts())}; ${alerts.length} alerts, twice: ${JSON.stringify(posted)} of ${receiver.posts.length} webhooks, ${JSON.stringify(mailed)} of ${mailsTo(context, who).length} mails`,
      );
    }));
}

test('a node that was stopped for a while sends nothing that another took over', (context) =>
  withJobs(context, async (jobs, receiver) => {
    const { team } = context;
    const working = await jobs.make(WORKING, { name: 'working' });
    const failing = await jobs.make(40, { name: 'failing' });
    await jobs.tell({ members: [], webhook: receiver.url });
    const release = receiver.hold();
    await jobs.makeDue(failing);
    await receiver.waitFor(1, 60_000);
    const stopped = team.up.find((place) => team.life(place).address === receiver.posts[0]?.from) as number;
    const { address } = team.life(stopped);
    team.signal(stopped, 'SIGSTOP');
    // Whatever it had already sent to the network still arrives.
    await sleep(200);
    const before = receiver.posts.length;
    const others = team.up.filter((place) => place !== stopped);
    const traffic = new Traffic(team, working, others);
    try {
      release();
      const began = Date.now();
      const tokens = () => new Set(receiver.posts.map(({ body }) => body.data.snitch.token));
      await until(
        () => failing.every((token) => tokens().has(token)),
        'the others take over',
        TAKEN_OVER_WITHIN,
      );
      const tookOver = Date.now() - began;
      await sleep(Math.max(0, STOPPED_FOR - tookOver));
      team.signal(stopped, 'SIGCONT');
      await until(() => team.ready(stopped), 'it is ready again');
      assert.is(await team.checkIn(stopped, working[0] as string), 202);
      await allSent(jobs);
      console.log(
        `      taken over within ${rounded(tookOver)}; answers of the others ${JSON.stringify(traffic.counts())}`,
      );
    } finally {
      team.signal(stopped, 'SIGCONT');
      await traffic.end();
    }
    const late = receiver.posts.slice(before).filter(({ from }) => from === address);
    const taken = new Set(
      ofPosts(receiver.posts)
        .filter(({ from }) => from !== address)
        .map(({ id }) => id),
    );
    assert.equal(late.filter(({ headers }) => taken.has(String(headers['webhook-id']))).length, 0);
    const inFlight = receiver.posts.slice(0, before).length;
    const ids = ofPosts(receiver.posts).map(({ id }) => id);
    assert.ok(ids.length - new Set(ids).size <= inFlight, 'only what was in flight came twice');
    assert.equal(Object.keys(traffic.counts()), ['202'], 'the other nodes refuse nobody');
    await traffic.verify(jobs);
  }));

for (const how of ['hang', 'swallow'] as const) {
  const what = how === 'hang' ? 'hangs' : 'swallows all';
  test(`a node whose way to the database ${what} refuses, accuses nobody, and goes on afterwards`, (context) =>
    withJobs(context, async (jobs, receiver) => {
      const { team, network } = context;
      const far = 2;
      const [working, ...others] = await jobs.make(1 + ABSENT, { name: 'working' });
      await jobs.tell({ webhook: receiver.url });
      const token = working as string;
      assert.is(await team.checkIn(far, token), 202);
      const { pid } = team.node(far);
      await network[how]();
      try {
        const began = performance.now();
        assert.is(await team.checkIn(far, token), 503);
        const took = performance.now() - began;
        await until(async () => !(await team.ready(far)), 'it is not ready');
        const again = performance.now();
        assert.is(await team.checkIn(far, token), 503);
        console.log(
          `      503 after ${rounded(took)}, and later after ${rounded(performance.now() - again)}`,
        );
        // These check in at another node in time, unknown to the node that is cut off.
        await jobs.makeDue(others, 2_000);
        for (const other of others) assert.is(await team.checkIn(0, other), 202);
        assert.is(await team.checkIn(1, token), 202);
        await sleep(2_500);
      } finally {
        network.heal();
      }
      await until(() => team.ready(far), 'it is ready again', 60_000);
      assert.is(team.node(far).pid, pid);
      assert.is(await team.checkIn(far, token), 202);
      await allSent(jobs);
      assert.equal(await missingOf(jobs), new Set());
      assert.equal(await jobs.query('SELECT 1 FROM blind_windows'), [], 'the other nodes took check-ins');
      assert.is(receiver.posts.length, 0);
    }));
}

test(`a digest of ${DIGEST} for one person from three nodes is at most two mails`, (context) =>
  withJobs(context, async (jobs) => {
    const who = 'digest@example.com';
    const failing = await jobs.make(DIGEST, { name: 'failing' });
    await jobs.tell({ members: [who] });
    const at = await jobs.makeDue(failing);
    await until(async () => (await missingOf(jobs)).size === DIGEST, 'all are missed', SENT_WITHIN);
    await allSent(jobs);
    const mails = mailsTo(context, who);
    const told = mails.map(({ subject }) => Number(/^\[Digest\] (\d+) alerts/.exec(subject)?.[1] ?? 1));
    assert.is(
      told.reduce((sum, count) => sum + count, 0),
      DIGEST,
    );
    // A digest contains the alerts of its wait, and on a slow host the sweep takes longer than that.
    const [row] = await jobs.query<{ last: string }>(
      'SELECT max(at) AS last FROM alerts WHERE case_id = $1',
      jobs.caseId,
    );
    const most = 2 + Math.floor((Number(row?.last ?? at) - at) / EMAIL_LIMITS.groupWait);
    console.log(`      ${mails.length} mails: ${told.join(', ')}`);
    assert.ok(mails.length <= most, `${mails.length} mails: ${told.join(', ')}`);
  }));

test(`${DUE} due at once on ${IS_FULL ? 'two' : 'three'} nodes are told of once each, while check-ins go on`, (context) =>
  withJobs(context, async (jobs, receiver) => {
    const { team } = context;
    if (IS_FULL) await team.stop(2);
    const working = await jobs.make(4, { name: 'working' });
    const failing = await jobs.make(DUE, { name: 'failing' });
    await jobs.tell({ webhook: receiver.url });
    const idle = new Traffic(team, working);
    try {
      await sleep(MEASURED_FOR);
    } finally {
      await idle.end();
    }
    await jobs.makeDue(failing);
    const began = performance.now();
    const during = new Traffic(team, working);
    try {
      await until(async () => (await missingOf(jobs)).size === DUE, 'all are missed', SENT_WITHIN);
      console.log(`      all are decided after ${rounded(performance.now() - began)}`);
      await allSent(jobs);
    } finally {
      await during.end();
      await team.start(2);
    }
    const ids = ofPosts(receiver.posts.filter(({ body }) => body.type === 'snitch.missing')).map(
      ({ id }) => id,
    );
    assert.is(ids.length, DUE);
    assert.is(new Set(ids).size, DUE);
    await during.verify(jobs);
    const [calm, busy] = [idle, during].map(({ answers }) =>
      quantile(
        answers.map(({ took }) => took),
        0.99,
      ),
    ) as [number, number];
    console.log(
      `      all are told after ${rounded(performance.now() - began)}; p99 of check-ins ${busy.toFixed(1)} ms, idle ${calm.toFixed(1)} ms: ratio ${(busy / calm).toFixed(2)}`,
    );
  }));

test('all nodes are down for an hour: one blind window, no false alarm, one notice', (context) =>
  withJobs(context, async (jobs) => {
    const { team } = context;
    const HOUR = 3_600_000;
    const who = 'down@example.com';
    await known(context);
    await team.kill(...team.up);
    const top = Math.floor(Date.now() / HOUR) * HOUR;
    // They were due at the full hour within the hour that has passed.
    const tokens = await jobs.make(ABSENT, { name: 'unheard', at: top - 1.5 * HOUR });
    await jobs.tell({ members: [who] });
    await jobs.query('UPDATE nodes SET started_at = started_at - $1, alive_at = alive_at - $1', HOUR);
    await team.start(0, 1, 2);
    const windows = () =>
      jobs.query<{ length: number; cursor: number | null }>(
        'SELECT (ended_at - started_at)::int AS length, cursor FROM blind_windows',
      );
    await until(
      async () => (await windows()).some(({ cursor }) => cursor === null),
      'all deadlines are postponed',
    );
    await until(() => mailsTo(context, who).length > 0, 'the notice is sent');
    await allSent(jobs);
    for (const place of team.up) assert.is(await team.checkIn(place, tokens[0] as string), 202);
    const [window, ...more] = await windows();
    assert.equal(more, []);
    assert.ok((window?.length ?? 0) >= HOUR);
    assert.equal(await missingOf(jobs), new Set());
    // Their recoveries are sent as well.
    const notices = mailsTo(context, who)
      .map(({ subject }) => subject)
      .filter((subject) => !subject.includes('unheard'));
    assert.is(notices.length, 1, notices.join());
  }));

runUnless(WITHOUT_POSTGRES, test, 'several nodes in trouble');
