/**
 * A row that somebody else holds, as who looks into the database by hand: it keeps back what needs that row, and is no
 * outage for anybody else. Time limit: 120 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../../src/core/errors.ts';
import { NoAnswer } from '../../../../src/store/postgres/faults.ts';
import { type Holder, inspectPostgres } from '../../../../src/store/postgres/inspect.ts';
import { ownDirectory } from '../../../data-directory.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { checkIn, healthySnitch, newCase, rejection } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf } from '../hosts/fixture.ts';
import { openNode } from './opened.ts';

const test = suite<{ cluster: Cluster }>('a busy row');

test.before(async (context) => {
  context.cluster = await startCluster({ configuration: ['max_prepared_transactions = 4'] });
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

/** What calls wait for an answer, in milliseconds. */
const DEADLINE = 1_500;

test('a change that was refused because its row is held is no blind time, and refuses no check-in', async ({
  cluster,
}) => {
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database, { deadline: DEADLINE });
  const { store } = node;
  const owner = await newCase(store, {}, Date.now());
  const { token } = await healthySnitch(store, owner, {}, Date.now());
  await using holder = await cluster.connected(database);
  await holder.query('BEGIN');
  await holder.query('SELECT id FROM cases FOR UPDATE');
  const refused = await rejection(store.updateCase(owner.id, { name: 'other' }, Date.now()));
  assert.instance(refused, NoAnswer);
  assert.is(store.refused(), null);
  assert.is(await store.node?.answerForRefused(), null);
  assert.is(store.health().failingSince, null);
  await holder.query('ROLLBACK');
  assert.is(await checkIn(store, token, Date.now()), true);
});

test('what a table or a right of one call is missing for is no blind time either', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database, { deadline: DEADLINE });
  const { store } = node;
  const owner = await newCase(store, {}, Date.now());
  const { token } = await healthySnitch(store, owner, {}, Date.now());
  await cluster.query('ALTER TABLE alerts RENAME TO taken_away', [], database);
  const pruned = () => store.prune({ checkIns: 100, olderThan: 0, now: Date.now() });
  assert.instance(await rejection(pruned()), StoreUnavailable);
  assert.is.not(store.health().failingSince, null, 'it is told');
  assert.instance(
    await rejection(store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, Date.now())),
    StoreUnavailable,
  );
  assert.is(await store.node?.answerForRefused(), null);
  assert.is(await checkIn(store, token, Date.now()), true);
});

test('who holds what Snitch waits for is found', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using holder = await cluster.connected(database);
  await holder.query(`SET application_name = 'psql'`);
  await using waits = await cluster.connected(database);
  await waits.query(`SET application_name = 'snitch'`);
  using place = ownDirectory();
  const holders = async () =>
    (await inspectPostgres(addressOf([cluster.port], { database }), place.path)).holders;
  await holder.query('BEGIN');
  const { rows } = await holder.query('SELECT pg_backend_pid() AS process, pg_advisory_xact_lock(1)');
  assert.equal(await holders(), []);
  const waiting = waits.query('SELECT pg_advisory_xact_lock(1)');
  let found: Holder[] = [];
  await until(async () => {
    found = await holders();
    return found.length > 0;
  }, 'it waits');
  const [{ heldMs, ...who }] = found as [Holder];
  assert.equal(who, { process: rows[0]?.process, user: 'postgres', program: 'psql', from: '127.0.0.1' });
  assert.ok(heldMs >= 0);
  await holder.query('COMMIT');
  await waiting;
  assert.equal(await holders(), []);
});

test('who has a table to himself is found as well, without the counts that need it', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using _ = await openNode(cluster.port, database);
  await using holder = await cluster.connected(database);
  await holder.query(`SET application_name = 'psql'`);
  await using waits = await cluster.connected(database);
  await waits.query(`SET application_name = 'snitch'`);
  using place = ownDirectory();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE snitches');
  const waiting = waits.query('SELECT count(*) FROM snitches');
  const { content, holders } = await inspectPostgres(addressOf([cluster.port], { database }), place.path);
  assert.is(content, 'held');
  assert.equal(
    holders.map(({ program }) => program),
    ['psql'],
  );
  await holder.query('COMMIT');
  await waiting;
});

test('a transaction that was prepared and left is found, by its name', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using _ = await openNode(cluster.port, database);
  using place = ownDirectory();
  await using waits = await cluster.connected(database);
  await waits.query(`SET application_name = 'snitch'`);
  await cluster.query(`BEGIN; LOCK TABLE snitches; PREPARE TRANSACTION 'left'`, [], database);
  await cluster.query(`BEGIN; SELECT pg_advisory_xact_lock(1); PREPARE TRANSACTION 'innocent'`, [], database);
  const waiting = waits.query('SELECT count(*) FROM snitches');
  const { content, holders, prepared } = await inspectPostgres(
    addressOf([cluster.port], { database }),
    place.path,
  );
  assert.is(content, 'held');
  assert.equal(holders, []);
  assert.equal(
    prepared.map(({ heldMs, ...what }) => what),
    [{ name: 'left', user: 'postgres' }],
  );
  for (const name of ['left', 'innocent']) await cluster.query(`ROLLBACK PREPARED '${name}'`, [], database);
  await waiting;
});

runUnless(WITHOUT_POSTGRES, test, 'a busy row');
