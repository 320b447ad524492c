/**
 * What several nodes do about one that is cut off from the database: what it claimed goes to another, it sends nothing of
 * that, and what it refused is answered for where nobody else could have taken it. Time limit: 180 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { BlindWindow } from '../../../../src/core/blind-window.ts';
import type { ClaimedDelivery } from '../../../../src/core/delivery.ts';
import type { ClaimRequest } from '../../../../src/store/deliveries.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import type { Store } from '../../acting.ts';
import { checkIn, healthySnitch, newCase, newSnitch, rejection } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { openNode } from './opened.ts';

interface Context {
  cluster: Cluster;
  database: string;
}

const test = suite<Context>('dead nodes');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.before.each(async (context) => {
  context.database = await context.cluster.newDatabase();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

/** Far longer than a test lasts. */
const LEASE = 3_600_000;

function request(): ClaimRequest {
  const now = Date.now();
  const most = { perTarget: 8, limit: 64, after: '', busy: [] };
  return { now, channel: 'email', leaseUntil: now + LEASE, ...most };
}

/** One delivery for each of two members is due. */
async function makeDue(store: Store) {
  const owner = await newCase(store, { members: ['ann@example.com', 'bob@example.com'] }, Date.now());
  await healthySnitch(store, owner, {}, Date.now());
  return owner;
}

const windowsOf = ({ cluster, database }: Context) =>
  cluster.query<{ count: string }>('SELECT count(*) FROM blind_windows', [], database);

test('what a node claimed that is cut off goes to another long before its lease ends, and it knows that it lost it', async (context) => {
  const { cluster, database } = context;
  await using link = await openLink(cluster.port);
  await using lives = await openNode(cluster.port, database);
  await using cutOff = await openNode(link.port, database);
  await makeDue(lives.store);
  const claimedAt = performance.now();
  const claimed = await cutOff.store.claimDeliveries(request());
  assert.is(claimed.length, 2);
  assert.ok((cutOff.store.node?.heldSince() ?? 0) <= claimedAt);
  assert.equal(await lives.store.claimDeliveries(request()), [], 'they are not its own yet');
  link.hang();
  const taken: ClaimedDelivery[] = [];
  await until(async () => {
    const found = await lives.store.claimDeliveries(request());
    // Whatever is claimed by the other, this one had stopped sending before.
    assert.ok(found.length === 0 || cutOff.store.node?.heldSince() === Number.POSITIVE_INFINITY);
    return taken.push(...found) === 2;
  }, 'the other has them');
  assert.equal(taken.map(({ id }) => id).sort(), claimed.map(({ id }) => id).sort());
  assert.equal(lives.told, ['1 freed']);
  link.restore();
  const heldSince = () => cutOff.store.node?.heldSince() ?? 0;
  await until(() => Number.isFinite(heldSince()), 'its signs go on');
  assert.ok(heldSince() > claimedAt, 'what it had claimed before is lost');
  for (const { id, fence } of claimed) {
    const settlement = { kind: 'delivered', at: Date.now() } as const;
    assert.is(await cutOff.store.settleDelivery(id, fence, settlement), false);
  }
  assert.equal(await windowsOf(context), [{ count: '0' }]);
});

test('what a node has left that ends in order goes to another at once', async ({ cluster, database }) => {
  await using lives = await openNode(cluster.port, database);
  await makeDue(lives.store);
  const heard: string[] = [];
  lives.store.onChange(({ kind }) => heard.push(kind));
  {
    await using ends = await openNode(cluster.port, database);
    assert.is((await ends.store.claimDeliveries(request())).length, 2);
  }
  assert.is((await lives.store.claimDeliveries(request())).length, 2);
  await until(() => heard.includes('deliveries'), 'it is told that there is something to send');
  // Once it has been silent for long enough, nothing has to be released by hand.
  const dead = 'SELECT id FROM nodes WHERE stopped_at IS NOT NULL AND freed_at IS NULL';
  assert.equal(await cluster.query(dead, [], database), []);
});

test('deliveries that a dead node is still writing are passed over, and released when that has ended', async ({
  cluster,
  database,
}) => {
  await using lives = await openNode(cluster.port, database);
  await using dead = await openNode(cluster.port, database);
  await makeDue(lives.store);
  const claimed = await dead.store.claimDeliveries(request());
  assert.is(claimed.length, 2);
  await dead.store.node?.leave();
  await using writing = await cluster.connected(database);
  await writing.query('BEGIN');
  await writing.query('SELECT id FROM deliveries WHERE id = $1 FOR UPDATE', [claimed[0]?.id]);
  const free = async () => (await lives.store.claimDeliveries(request())).length;
  await until(async () => (await free()) === 1, 'the one that nobody writes is free');
  assert.equal(lives.told, []);
  await writing.query('COMMIT');
  await until(async () => (await free()) === 1, 'the other is free too');
  await until(() => lives.told.includes('1 freed'), 'it is done with that node');
});

test('a host whose clock is far ahead takes nothing that another node has claimed', async ({
  cluster,
  database,
}) => {
  await using one = await openNode(cluster.port, database);
  await using ahead = await openNode(cluster.port, database, { clock: () => Date.now() + 3 * LEASE });
  await makeDue(one.store);
  assert.is((await one.store.claimDeliveries({ ...request(), limit: 1 })).length, 1);
  const early = request();
  const late = { ...early, now: early.now + 3 * LEASE, leaseUntil: early.leaseUntil + 3 * LEASE };
  const others = await ahead.store.claimDeliveries(late);
  assert.is(others.length, 1, 'the recipient that nobody serves');
  assert.equal(await ahead.store.claimDeliveries(late), []);
  const [{ leases } = { leases: 0 }] = await cluster.query<{ leases: string }>(
    `SELECT count(*) AS leases FROM deliveries WHERE leased = 1 AND next_attempt_at
       < (extract(epoch FROM now()) * 1000 + $1)::bigint`,
    [2 * LEASE],
    database,
  );
  assert.is(Number(leases), 2, 'it leases by the clock that all share');
});

const DISK_FULL = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$`;

test('a check-in that the database refused lies in a blind window, though other nodes live', async (context) => {
  const { cluster, database } = context;
  await using one = await openNode(cluster.port, database);
  await using other = await openNode(cluster.port, database);
  const owner = await newCase(one.store, {}, Date.now());
  const { token } = await newSnitch(one.store, owner, {}, Date.now());
  await cluster.query(DISK_FULL, [], database);
  const trigger = 'CREATE TRIGGER refusing BEFORE INSERT ON check_ins EXECUTE FUNCTION refuse()';
  await cluster.query(trigger, [], database);
  const before = Date.now();
  const refused = await rejection(checkIn(one.store, token, before));
  assert.is((refused as Error).name, 'SnitchError');
  const after = Date.now();
  assert.is(await other.store.node?.answerForRefused(), null, 'it has refused nothing');
  const window = await one.store.node?.answerForRefused();
  // The call itself came a moment after it was given its time.
  assert.ok(window && window.start <= after && window.end >= before, JSON.stringify(window));
  assert.equal(await windowsOf(context), [{ count: '1' }]);
  assert.is(await one.store.node?.answerForRefused(), null, 'once');
  await cluster.query('DROP TRIGGER refusing ON check_ins', [], database);
  assert.is(await checkIn(other.store, token, Date.now()), true);
});

test('a node that stops in order reports all that it refused', async (context) => {
  const { cluster, database } = context;
  await using _ = await openNode(cluster.port, database);
  {
    await using one = await openNode(cluster.port, database);
    const owner = await newCase(one.store, {}, Date.now());
    const { token } = await newSnitch(one.store, owner, {}, Date.now());
    await cluster.query(DISK_FULL, [], database);
    for (const table of ['check_ins', 'blind_windows'])
      await cluster.query(
        `CREATE TRIGGER refusing BEFORE INSERT ON ${table} EXECUTE FUNCTION refuse()`,
        [],
        database,
      );
    await rejection(checkIn(one.store, token, Date.now()));
    await rejection(Promise.resolve(one.store.node?.answerForRefused()));
    await cluster.query('DROP TRIGGER refusing ON blind_windows', [], database);
  }
  assert.equal(await windowsOf(context), [{ count: '1' }]);
});

test('what a node refused that alone was cut off is no blind time, and it opens one where it was the only one', async (context) => {
  const { cluster, database } = context;
  await using link = await openLink(cluster.port);
  await using cutOff = await openNode(link.port, database, { deadline: 500 });
  const owner = await newCase(cutOff.store, {}, Date.now());
  const { token } = await newSnitch(cutOff.store, owner, {}, Date.now());
  const refuse = async () => {
    link.hang();
    await rejection(checkIn(cutOff.store, token, Date.now()));
    link.restore();
    await until(() => cutOff.store.node?.problem() === null, 'it gives signs again');
    let window: BlindWindow | null | undefined;
    await until(async () => {
      window = await cutOff.store.node?.answerForRefused().catch(() => undefined);
      return window !== undefined;
    }, 'it can write again');
    return window;
  };
  {
    await using other = await openNode(cluster.port, database);
    assert.is(await refuse(), null);
    assert.is(await checkIn(other.store, token, Date.now()), true, 'where it should have been sent');
  }
  assert.is.not(await refuse(), null);
});

runUnless(WITHOUT_POSTGRES, test, 'dead nodes');
