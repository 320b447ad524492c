/**
 * After an outage of the database that was longer than a lease, the node that had sent something writes that down before
 * any other node takes it over. Time limit: 120 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { healthySnitch, newCase } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { openNode } from './opened.ts';

const test = suite<{ cluster: Cluster }>('nodes after an outage');

test.before(async (context) => {
  context.cluster = await startCluster();
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

runUnless(WITHOUT_POSTGRES, test, 'nodes after an outage');
