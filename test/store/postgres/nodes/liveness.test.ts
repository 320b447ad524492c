/** The cluster is blind while no node lives, and that is one window, whichever node notices it. Time limit: 240 s. */
import pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clockWarning } from '../../../../src/store/postgres/nodes/clock-warning.ts';
import { Liveness, type LivenessOptions } from '../../../../src/store/postgres/nodes/liveness.ts';
import { noteWaiting } from '../../../../src/store/postgres/nodes/older.ts';
import { NODES } from '../../../../src/store/postgres/nodes/schema.ts';
import {
  CLOCK,
  giveSign,
  listNodes,
  maySweep,
  type OpenWindow,
} from '../../../../src/store/postgres/nodes/signs.ts';
import { Trust } from '../../../../src/store/postgres/nodes/trust.ts';
import { lostWrites, verdictOn } from '../../../../src/store/postgres/nodes/verdict.ts';
import { ending } from '../../../closing.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf, primaryAmong, sessionOptions } from '../hosts/fixture.ts';

interface Context {
  cluster: Cluster;
  database: string;
}

const test = suite<Context>('liveness');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.before.each(async (context) => {
  context.database = await context.cluster.newDatabase();
  await makeTables(context);
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

const query = <Row = Record<string, string>>(
  { cluster, database }: Context,
  sql: string,
  values: unknown[] = [],
) => cluster.query<Row>(sql, values, database);

async function makeTables(context: Context): Promise<void> {
  await query(context, NODES);
  await query(
    context,
    'CREATE TABLE blind_windows (id BIGSERIAL PRIMARY KEY, started_at BIGINT, ended_at BIGINT, cursor BIGINT)',
  );
}

/** Longer than a busy machine ever takes between two statements of a test. */
const THRESHOLD = 120_000;
const HOUR = 3_600_000;

const open: OpenWindow = async (client, { start, end }) => {
  await client.query('INSERT INTO blind_windows (started_at, ended_at, cursor) VALUES ($1, $2, 0)', [
    start,
    end,
  ]);
};

const nodeOf = (id: string) => ({ id, name: `host-${id}`, version: '1.0.0', schemaVersion: 19 });

async function connected({ cluster, database }: Context) {
  const client = new pg.Client({ connectionString: cluster.url(database) });
  client.on('error', () => undefined);
  await client.connect();
  return ending(client, () => client.end());
}

async function sign(client: pg.Client, id: string) {
  return (await answerTo(client, id)).verdict;
}

function answerTo(client: pg.Client, id: string, isFirst = false) {
  return giveSign(client, { node: nodeOf(id), threshold: THRESHOLD, ownNow: Date.now, open, isFirst });
}

/** All signs of life lie so much further back than they did. */
const age = (context: Context, ms: number) =>
  query(context, 'UPDATE nodes SET alive_at = alive_at - $1::bigint', [ms]);

/** The same for all that is written, but nobody who had given no sign before has given one meanwhile. */
const passWithoutSigns = (context: Context, ms: number) =>
  query(
    context,
    `UPDATE nodes SET started_at = started_at - $1::bigint, unsure_from = unsure_from - $1::bigint,
       alive_at = CASE WHEN unsure_from IS NULL THEN alive_at - $1::bigint ELSE alive_at END`,
    [ms],
  );

const windows = (context: Context) =>
  query<{ length: number }>(context, 'SELECT (ended_at - started_at)::float8 AS length FROM blind_windows');

function livenessOf(
  { cluster, database }: Context,
  id: string,
  options: Partial<LivenessOptions> = {},
): Liveness {
  const primary = primaryAmong([cluster.port], { address: addressOf([cluster.port], { database }) });
  return new Liveness({ primary, node: nodeOf(id), threshold: THRESHOLD, open, every: 20, ...options });
}

test('a silence is a blind window from its threshold on, and a clock that was set back is none', () => {
  assert.equal(verdictOn(null, 5_000, 1_000), { kind: 'alive' });
  assert.equal(verdictOn(4_000, 5_000, 1_000), { kind: 'alive' });
  assert.equal(verdictOn(3_999, 5_000, 1_000), { kind: 'blind', window: { start: 3_999, end: 5_000 } });
  assert.equal(verdictOn(6_000, 5_000, 1_000), { kind: 'alive' });
  assert.equal(verdictOn(6_001, 5_000, 1_000), { kind: 'clock set back' });
});

test('an older sign than was answered is a loss, and not where another node set it back with the clock', () => {
  const lost = (kept: number | null, now: number, elapsed: number) =>
    lostWrites({ known: 100_000, elapsed, kept, now }, 7_000);
  assert.is(lost(100_000, 101_000, 1_000), null);
  assert.is(lost(null, 101_000, 1_000), null, 'its row was deleted');
  assert.equal(lost(98_000, 130_000, 30_000), { start: 98_000, end: 130_000 });
  // Servers differ by a few seconds.
  assert.equal(lost(98_000, 97_000, 1_000), { start: 98_000, end: 100_000 });
  // Another node found the clock 9 s back, and this one asks 3 s after its own last sign.
  assert.is(lost(92_500, 94_000, 3_000), null);
});

test('what a node claimed is its own while its signs go on, and a silent one is dead only for who lived all the while', () => {
  const at = (monotonic: number, wall = monotonic) => ({ monotonic, wall });
  const usual = { wasFreed: false, isUsual: true };
  const trust = new Trust({ provesFor: 7_000, deadAfter: 10_000 });
  assert.is(trust.heldSince(at(0)), Number.POSITIVE_INFINITY);
  trust.signed(at(100), at(150), usual);
  assert.is(trust.heldSince(at(7_099)), 150);
  assert.is(trust.heldSince(at(7_100)), Number.POSITIVE_INFINITY);
  // A virtual machine that stood still: only the wall clock knows.
  assert.is(trust.heldSince(at(200, 60_200)), Number.POSITIVE_INFINITY);
  trust.signed(at(60_000), at(60_050), usual);
  assert.is(trust.heldSince(at(60_060)), 150, 'nobody had taken it over');
  assert.not(trust.mayBury(at(69_999)));
  assert.ok(trust.mayBury(at(70_000)));
  trust.signed(at(70_000), at(70_050), { wasFreed: true, isUsual: true });
  assert.is(trust.heldSince(at(70_060)), 70_050);
  trust.failed();
  assert.not(trust.mayBury(at(71_000)));
  trust.signed(at(71_000), at(71_010), usual);
  trust.signed(at(72_000), at(72_010), { wasFreed: false, isUsual: false });
  assert.not(trust.mayBury(at(81_999)));
  assert.ok(trust.mayBury(at(82_000)));
});

/** From and to this many milliseconds ago. */
const livedIn = (context: Context) => (id: string, from: number, to: number) =>
  query(
    context,
    `INSERT INTO nodes (id, name, version, started_at, alive_at, freed_at)
     SELECT $1, $1, '', now - $2::bigint, now - $3::bigint, CASE WHEN $1 = 'claimed' THEN NULL ELSE 0 END
     FROM (SELECT ${CLOCK} AS now) AS c`,
    [id, from, to],
  );

test('where each node dies soon after its start, their lives together tell that a silent one is dead', async (context) => {
  const lived = livedIn(context);
  await lived('claimed', 2 * HOUR, HOUR);
  await lived('before', 3 * HOUR, HOUR + 1_000);
  await lived('first', HOUR / 2, HOUR / 2 - 4_000);
  await using client = await connected(context);
  await answerTo(client, 'own', true);
  assert.equal(await deadBy(client), { hasDead: true, hasProven: false });
  await lived('second', HOUR / 3, HOUR / 3 - 6_000);
  assert.equal(await deadBy(client), { hasDead: true, hasProven: true });
});

test('time that several nodes lived at once is counted once, and that in which the database was away is not', async (context) => {
  const lived = livedIn(context);
  await lived('claimed', 2 * HOUR, HOUR);
  for (const id of ['a', 'b', 'c', 'd']) await lived(id, HOUR / 2, HOUR / 2 - 3_000);
  await lived('e', HOUR / 2 - 1_000, HOUR / 2 - 5_000);
  await using client = await connected(context);
  await answerTo(client, 'own', true);
  assert.equal(await deadBy(client), { hasDead: true, hasProven: false });
  await lived('through an outage', HOUR / 3, HOUR / 3 - 30_000);
  await query(
    context,
    `INSERT INTO blind_windows (started_at, ended_at) SELECT now - $1::bigint, now - $2::bigint FROM (SELECT ${CLOCK} AS now) AS c`,
    [HOUR / 3 - 2_000, HOUR / 3 - 28_000],
  );
  assert.equal(await deadBy(client), { hasDead: true, hasProven: false });
  await lived('again', HOUR / 4, HOUR / 4 - 4_000);
  assert.equal(await deadBy(client), { hasDead: true, hasProven: true });
});

async function deadBy(client: pg.Client) {
  const { hasDead, hasProven } = await answerTo(client, 'own');
  return { hasDead, hasProven };
}

test('the first node of a new database has missed nothing', async (context) => {
  await using client = await connected(context);
  assert.not(await maySweep(client, THRESHOLD));
  assert.equal(await sign(client, 'a'), { kind: 'alive' });
  assert.ok(await maySweep(client, THRESHOLD));
  assert.equal(await windows(context), []);
  const [node] = await listNodes(client);
  assert.equal([node?.name, node?.version, node?.stoppedAt], ['host-a', '1.0.0', null]);
});

test('where one node lives, the silence of another is nothing', async (context) => {
  await using client = await connected(context);
  await sign(client, 'a');
  await sign(client, 'b');
  await query(context, `UPDATE nodes SET alive_at = alive_at - ${HOUR} WHERE id = 'a'`);
  assert.equal(await sign(client, 'a'), { kind: 'alive' });
  assert.equal(await windows(context), []);
  const [a, b] = (await listNodes(client)).sort((one, other) => one.id.localeCompare(other.id));
  assert.ok((a?.aliveAt ?? 0) >= (b?.aliveAt ?? 0));
});

test('a node that waits for an upgrade is listed beside the others, until it is silent', async (context) => {
  await using client = await connected(context);
  await sign(client, 'a');
  await noteWaiting(client, nodeOf('b'));
  const listed = async () => (await listNodes(client)).map(({ id, waits }) => [id, waits]).sort();
  assert.equal(await listed(), [
    ['a', false],
    ['b', true],
  ]);
  await query(context, `UPDATE waiting_nodes SET alive_at = alive_at - ${HOUR}`);
  assert.equal(await listed(), [['a', false]]);
});

test('after an hour in which no node lived there is one window, however many come back at once', async (context) => {
  await using one = await connected(context);
  await using two = await connected(context);
  await using three = await connected(context);
  for (const [client, id] of [
    [one, 'a'],
    [two, 'b'],
    [three, 'c'],
  ] as const)
    await sign(client, id);
  await age(context, HOUR);
  // Who asks before the first sign must not accuse anybody, nor while the window is worked on.
  assert.not(await maySweep(two, THRESHOLD));
  const verdicts = await Promise.all([sign(one, 'a'), sign(two, 'b'), sign(three, 'new')]);
  assert.is(verdicts.filter(({ kind }) => kind === 'blind').length, 1);
  const found = await windows(context);
  assert.is(found.length, 1);
  assert.ok((found[0]?.length ?? 0) >= HOUR);
  assert.not(await maySweep(two, THRESHOLD));
  await query(context, 'UPDATE blind_windows SET cursor = NULL');
  assert.ok(await maySweep(two, THRESHOLD));
});

test('a node that begins right behind the last sign of another waits to know whether that one lives', async (context) => {
  await using client = await connected(context);
  await sign(client, 'killed');
  await age(context, 400);
  assert.equal((await answerTo(client, 'again', true)).verdict, { kind: 'alive' });
  assert.not(await maySweep(client, THRESHOLD), 'nobody is accused before that is known');
  assert.equal(await sign(client, 'again'), { kind: 'alive' });
  assert.not(await maySweep(client, THRESHOLD));
  assert.equal(await windows(context), []);
  await passWithoutSigns(context, 5_000);
  assert.is((await sign(client, 'again')).kind, 'blind');
  const [window, ...others] = await windows(context);
  assert.equal(others, []);
  assert.ok((window?.length ?? 0) >= 400, 'from the last sign of the one to the begin of the other');
  await query(context, 'UPDATE blind_windows SET cursor = NULL');
  assert.ok(await maySweep(client, THRESHOLD));
});

test('where another node goes on, one that begins has missed nothing, and knows it with the next sign of that one', async (context) => {
  await using client = await connected(context);
  await sign(client, 'lives');
  await age(context, 400);
  await answerTo(client, 'new', true);
  assert.not(await maySweep(client, THRESHOLD));
  await sign(client, 'lives');
  await sign(client, 'new');
  assert.ok(await maySweep(client, THRESHOLD));
  assert.equal(await windows(context), []);
});

test('who begins and is killed before that is known leaves it to the next one', async (context) => {
  await using client = await connected(context);
  await sign(client, 'killed');
  await age(context, 400);
  await answerTo(client, 'second', true);
  await answerTo(client, 'third', true);
  await passWithoutSigns(context, 5_000);
  assert.is((await sign(client, 'third')).kind, 'blind');
  assert.is((await windows(context)).length, 1);
  assert.equal(await query(context, 'SELECT id FROM nodes WHERE unsure_from IS NOT NULL'), []);
});

test('a silent node is reported until somebody has released its claims, and learns that with its next sign', async (context) => {
  await using client = await connected(context);
  await sign(client, 'silent');
  await sign(client, 'lives');
  assert.not((await answerTo(client, 'lives')).hasDead);
  await query(context, `UPDATE nodes SET alive_at = alive_at - 11000 WHERE id = 'silent'`);
  assert.ok((await answerTo(client, 'lives')).hasDead);
  await query(context, `UPDATE nodes SET freed_at = 1 WHERE id = 'silent'`);
  assert.not((await answerTo(client, 'lives')).hasDead);
  assert.ok((await answerTo(client, 'silent')).wasFreed);
  assert.not((await answerTo(client, 'silent')).wasFreed, 'it is told once');
});

test('a window whose opening fails is opened by the next sign', async (context) => {
  await using client = await connected(context);
  await sign(client, 'a');
  await age(context, HOUR);
  const failing = { node: nodeOf('a'), threshold: THRESHOLD, ownNow: Date.now };
  const failed = await giveSign(client, {
    ...failing,
    open: () => Promise.reject(new Error('no space')),
  }).catch((error: Error) => error.message);
  assert.is(failed, 'no space');
  assert.not(await maySweep(client, THRESHOLD));
  assert.is((await sign(client, 'a')).kind, 'blind');
  assert.is((await windows(context)).length, 1);
});

test('after the clock was set back the next silence is noticed at once again', async (context) => {
  await using client = await connected(context);
  await sign(client, 'a');
  await age(context, -HOUR);
  assert.not(await maySweep(client, THRESHOLD));
  assert.equal(await sign(client, 'b'), { kind: 'clock set back' });
  assert.ok(await maySweep(client, THRESHOLD));
  await age(context, 2 * THRESHOLD);
  assert.is((await sign(client, 'b')).kind, 'blind');
});

test('nodes of long ago are forgotten, but not when the last silence began', async (context) => {
  await using client = await connected(context);
  await sign(client, 'old');
  await age(context, 30 * 24 * HOUR);
  assert.is((await sign(client, 'new')).kind, 'blind');
  assert.ok(((await windows(context))[0]?.length ?? 0) >= 30 * 24 * HOUR - 1_000);
  assert.equal(
    (await listNodes(client)).map(({ id }) => id),
    ['new'],
  );
});

test('how far the clock of a host is ahead is written with the sign after it', async (context) => {
  await using client = await connected(context);
  const ahead = { node: nodeOf('a'), threshold: THRESHOLD, ownNow: () => Date.now() + HOUR, open };
  for (const _ of [1, 2, 3]) await giveSign(client, ahead);
  const [node] = await listNodes(client);
  assert.ok(Math.abs((node?.clockAheadMs ?? 0) - HOUR) < HOUR / 2);
  const { clockAheadMs } = await giveSign(client, ahead);
  assert.ok(Math.abs(clockAheadMs - HOUR) < HOUR / 2);
  const behind = await giveSign(client, { ...ahead, ownNow: () => Date.now() - HOUR });
  assert.ok(Math.abs(behind.clockAheadMs + HOUR) < HOUR / 2);
});

test('a host whose clock is off is reported at once and then each hour, but not for half a second', () => {
  const told: string[] = [];
  let now = 0;
  const at = clockWarning(
    (words) => told.push(words),
    () => now,
  );
  for (const ahead of [0, 500, -1_000, 1_000]) at(ahead);
  assert.equal(told, []);
  at(3 * HOUR);
  now += HOUR - 1;
  at(3 * HOUR);
  assert.is(told.length, 1);
  assert.match(told[0] ?? '', /this host is 3 h ahead of that of the database/);
  now += 1;
  at(-2_500);
  assert.match(told[1] ?? '', /this host is 2 s behind that of the database/);
  assert.is(told.length, 2);
});

test('each sign reports how far the clock is ahead', async (context) => {
  const told: number[] = [];
  const liveness = livenessOf(context, 'a', {
    clock: () => Date.now() + HOUR,
    onClock: (aheadMs) => told.push(aheadMs),
  });
  try {
    await liveness.start();
    await until(() => told.some((aheadMs) => Math.abs(aheadMs - HOUR) < HOUR / 2), 'it was told');
  } finally {
    await liveness.stop();
  }
});

test('the signs go on over a lost connection, and who goes in order says so', async (context) => {
  const liveness = livenessOf(context, 'a');
  await using client = await connected(context);
  const signs = async () => Number((await listNodes(client))[0]?.aliveAt);
  try {
    await liveness.start();
    const first = await signs();
    await until(async () => (await signs()) > first, 'the second sign is there');
    await query(
      context,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'snitch liveness' AND datname = current_database()`,
    );
    const lost = await signs();
    await until(async () => (await signs()) > lost + 100 && liveness.fault === null, 'the signs go on');
  } finally {
    await liveness.stop();
  }
  assert.is.not((await listNodes(client))[0]?.stoppedAt, null);
});

test('a node whose start was tried again gives no sign after its goodbye', async (context) => {
  const liveness = livenessOf(context, 'a');
  try {
    await liveness.start();
    await liveness.start();
  } finally {
    await liveness.stop();
  }
  await using client = await connected(context);
  const stopped = await listNodes(client);
  // A sign would come within one of these.
  for (let times = 0; times < 3; times += 1) await client.query('SELECT pg_sleep(0.1)');
  assert.equal(await listNodes(client), stopped);
  assert.is.not(stopped[0]?.stoppedAt, null);
});

test('a sign waits for the standby as a check-in does, so that a database that takes none does not look alive', async () => {
  await using cluster = await startCluster();
  const context = { cluster, database: 'postgres' };
  await makeTables(context);
  await using client = await connected(context);
  await sign(client, 'a');
  await cluster.set('synchronous_standby_names', 'nobody');
  // A process of the database that has yet to read the setting lets commits pass, which may take a while on a busy host.
  let [given, hanging] = [true, Promise.resolve()];
  for (let tries = 0; given && tries < 20; tries += 1) {
    given = false;
    hanging = sign(client, 'a').then(() => {
      given = true;
    });
    await cluster.query('SELECT pg_sleep(0.3)');
  }
  assert.not(given);
  await cluster.set('synchronous_standby_names', null);
  await hanging;
});

test('a partition between a node and the database is a fault of this node, and ends with it', async (context) => {
  await using link = await openLink(context.cluster.port);
  const address = addressOf([link.port], { database: context.database, options: 'connect_timeout=3' });
  const primary = primaryAmong([link.port], sessionOptions(address));
  const liveness = livenessOf(context, 'a', { primary });
  try {
    await liveness.start();
    link.cut();
    await until(() => liveness.fault !== null, 'the partition is noticed');
    link.restore();
    await until(() => liveness.fault === null, 'the signs go on');
  } finally {
    await liveness.stop();
  }
});

runUnless(WITHOUT_POSTGRES, test, 'liveness');
