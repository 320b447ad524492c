/**
 * After an outage of the database that was longer than a lease, the node that had sent something writes that down before
 * any other node takes it over. Time limit: 120 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { checkIn, HOUR, healthySnitch, MINUTE, newCase, snitchOf, sweep } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf } from '../hosts/fixture.ts';
import { openNode } from './opened.ts';

const test = suite<{ cluster: Cluster }>('nodes after an outage');

test.before(async (context) => {
  context.cluster = await startCluster({ access: ['host all changing 127.0.0.1/32 scram-sha-256'] });
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

/** Over before an outage is noticed, in milliseconds. */
const LEASE = 2_000;

function request(lease = 3_600_000) {
  const now = Date.now();
  return {
    now,
    channel: 'email',
    leaseUntil: now + lease,
    perTarget: 8,
    limit: 64,
    after: '',
    busy: [],
  } as const;
}

test('what another node leased is left to it for a while after an outage, and taken over in the end', async ({
  cluster,
}) => {
  const database = await cluster.newDatabase();
  await using link = await openLink(cluster.port);
  await using sender = await openNode(link.port, database);
  await using other = await openNode(link.port, database);
  const members = ['ann@example.com', 'bob@example.com'];
  const owner = await newCase(sender.store, { members }, Date.now());
  await healthySnitch(sender.store, owner, {}, Date.now());
  const [sent, lost, ...more] = await sender.store.claimDeliveries(request(LEASE));
  assert.ok(sent && lost && more.length === 0);
  link.hang();
  const isGone = () => sender.store.node?.problem() !== null && other.store.node?.problem() !== null;
  await until(isGone, 'both have noticed');
  link.restore();
  const isBack = () => sender.store.node?.problem() === null && other.store.node?.problem() === null;
  await until(isBack, 'both live again');
  const early = await other.store.claimDeliveries(request());
  assert.is(early.length, 0, 'the lease is over, but its node may live');
  const settlement = { kind: 'delivered', at: Date.now() } as const;
  assert.is(await sender.store.settleDelivery(sent.id, sent.fence, settlement), true);
  const taken: number[] = [];
  await until(async () => {
    taken.push(...(await other.store.claimDeliveries(request())).map(({ id }) => id));
    return taken.length > 0;
  }, 'what was never settled is taken over');
  assert.equal(taken, [lost.id]);
});

test('a node takes what it leased itself, as soon as that lease is over', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database);
  const owner = await newCase(node.store, { members: ['ann@example.com'] }, Date.now());
  await healthySnitch(node.store, owner, {}, Date.now());
  const [first] = await node.store.claimDeliveries(request(1));
  let again: readonly { id: number; fence: number }[] = [];
  await until(async () => {
    again = await node.store.claimDeliveries(request());
    return again.length > 0;
  }, 'it has it again');
  assert.equal(
    again.map(({ id, fence }) => ({ id, fence })),
    [{ id: first?.id, fence: (first?.fence ?? 0) + 1 }],
  );
});

test('a node accuses nobody until a blind window is worked off, and then as ever', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database);
  const { store } = node;
  const began = Date.now() - 3 * HOUR;
  const owner = await newCase(store, {}, began);
  const { token } = await healthySnitch(store, owner, {}, began);
  await store.openBlindWindow({ start: began + MINUTE, end: began + 2 * MINUTE });
  assert.is(await sweep(store, Date.now()), 0);
  while (await store.postponeSlice(Date.now()));
  assert.is(await sweep(store, Date.now()), 1);
  assert.is((await snitchOf(store, owner, token)).state.status, 'failed');
});

test('what was refused while no node lived is one blind window, and no two of them overlap', async ({
  cluster,
}) => {
  await cluster.query(`CREATE ROLE changing SUPERUSER LOGIN PASSWORD 'right'`);
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database, {
    address: { ...addressOf([cluster.port], { database }), user: 'changing', password: 'right' },
  });
  const { store } = node;
  const owner = await newCase(store, {}, Date.now());
  const { token } = await healthySnitch(store, owner, {}, Date.now());
  await cluster.query(`ALTER ROLE changing PASSWORD 'another'`);
  await cluster.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'changing'`);
  const stop = new AbortController();
  // As jobs do, and the sweep.
  const busily = async (work: () => Promise<unknown>) => {
    while (!stop.signal.aborted) {
      await work().catch(() => undefined);
      await sleep(50);
    }
  };
  const job = busily(() => checkIn(store, token, Date.now()));
  const sweep = busily(async () => store.node?.answerForRefused());
  try {
    await until(() => store.node?.problem() !== null, 'it notices');
    const since = performance.now();
    await until(
      () => performance.now() - since > 9_000,
      'no node has lived for longer than a silence may be',
    );
    await cluster.query(`ALTER ROLE changing PASSWORD 'right'`);
    await until(() => store.node?.problem() === null, 'it lives again');
    await until(
      () =>
        checkIn(store, token, Date.now()).then(
          () => true,
          () => false,
        ),
      'it takes check-ins',
    );
    await until(() => store.refused() === null, 'what was refused is answered for');
  } finally {
    stop.abort();
    await Promise.all([job, sweep]);
  }
  const windows = await cluster.query<{ from: number; to: number }>(
    'SELECT started_at::float8 AS from, ended_at::float8 AS to FROM blind_windows ORDER BY started_at',
    [],
    database,
  );
  assert.ok(windows.length > 0);
  const ends = windows.map(({ to }) => to);
  assert.ok(
    windows.every(({ from }, index) => index === 0 || from >= (ends[index - 1] ?? 0)),
    JSON.stringify(windows),
  );
  assert.is(windows.length, 1, JSON.stringify(windows));
});

runUnless(WITHOUT_POSTGRES, test, 'nodes after an outage');
