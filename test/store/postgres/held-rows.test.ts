/**
 * Rows that somebody else holds: whoever is told that a check-in was refused is told the truth, and a node that stands still
 * in the middle of a transaction holds up nobody for as long as the others wait. Time limit: 120 s.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { NoAnswer, Unreachable } from '../../../src/store/postgres/faults.ts';
import { Session } from '../../../src/store/postgres/session.ts';
import { until } from '../../until.ts';
import { checkIn, healthySnitch, NOW, newCase, rejection } from '../fixture.ts';
import { startCluster } from './clusters/cluster.ts';
import { openLink } from './clusters/link.ts';
import { poolOf } from './databases.ts';
import { openNode } from './nodes/opened.ts';
import { openWithDeadline } from './with-deadline.ts';

const test = suite('rows that are held');

/** What calls wait for an answer, in milliseconds. */
const DEADLINE = 3_000;

/** The same if the transaction that stands still was given `DEADLINE`. */
const SOONER = 2_200;

async function countOf(aside: pg.Pool): Promise<number> {
  const { rows } = await aside.query<{ count: number }>('SELECT COUNT(*)::int AS count FROM check_ins');
  return rows[0]?.count ?? 0;
}

/** Resolves when the server does nothing for anybody else in this database. */
async function quiet(aside: pg.Pool): Promise<void> {
  await until(async () => {
    const { rows } = await aside.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE pid <> pg_backend_pid() AND datname = current_database() AND state <> 'idle'`,
    );
    return rows.length === 0;
  }, 'the server is at rest');
}

for (const [what, before, atOnce] of [
  ['read first', 0, 20],
  ['written at once', 4, 1],
] as const) {
  test(`a check-in that is ${what} and was refused because its row is held is not written later`, async () => {
    await using opened = await openWithDeadline(DEADLINE);
    const { store, aside } = opened;
    const { token } = await healthySnitch(store, await newCase(store));
    for (let times = 0; times < before; times += 1) assert.ok(await checkIn(store, token, NOW));
    const known = await countOf(aside);
    const holder = await aside.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT id FROM snitch_states FOR UPDATE');
      const behind = Array.from({ length: atOnce }, () => rejection(checkIn(store, token, NOW)));
      for (const error of await Promise.all(behind)) assert.instance(error, NoAnswer);
      assert.is.not(store.refused(), null, 'it owes a blind window');
      await holder.query('ROLLBACK');
      await quiet(aside);
    } finally {
      holder.release();
    }
    assert.is(await countOf(aside), known);
    assert.ok(await checkIn(store, token, NOW), 'and the next one is taken');
  });
}

/** Another process, which locks all rows in a transaction and is then stopped until it is woken. */
async function standingStill(settings: pg.PoolConfig) {
  const held = spawn(process.execPath, [join(import.meta.dirname, 'held-rows-holder.ts'), String(DEADLINE)], {
    env: { ...process.env, SETTINGS: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  held.stdout.setEncoding('utf8');
  const [said] = (await once(held.stdout, 'data')) as [string];
  assert.is(said, 'holds\n');
  return held;
}

test('a node that is stopped between BEGIN and COMMIT holds nobody up, and knows that nothing was committed', async () => {
  await using opened = await openWithDeadline(SOONER);
  const { store, aside, dataDir } = opened;
  const { token } = await healthySnitch(store, await newCase(store));
  const place = await poolOf(dataDir, { max: 1 });
  const held = await standingStill(place.options);
  try {
    process.kill(held.pid ?? 0, 'SIGSTOP');
    assert.ok(await checkIn(store, token, NOW), 'within the time that a client is given');
    const known = await countOf(aside);
    const said = once(held.stdout, 'data');
    process.kill(held.pid ?? 0, 'SIGCONT');
    process.kill(held.pid ?? 0, 'SIGUSR2');
    assert.equal(await said, ['Unreachable\n']);
    assert.is(await countOf(aside), known);
  } finally {
    held.kill('SIGKILL');
    await place.end();
  }
});

test('a node whose network goes silent between BEGIN and COMMIT holds nobody up either', async () => {
  await using opened = await openWithDeadline(SOONER);
  const { store, dataDir } = opened;
  const { token } = await healthySnitch(store, await newCase(store));
  const place = await poolOf(dataDir, { max: 1 });
  await using link = await openLink((place.options as { port: number }).port);
  const held = await standingStill({ ...place.options, host: '127.0.0.1', port: link.port });
  try {
    link.hang();
    assert.ok(await checkIn(store, token, NOW), 'within the time that a client is given');
  } finally {
    held.kill('SIGKILL');
    await place.end();
  }
});

for (const [what, isNoticed, way] of [
  ['was noticed before', true, {}],
  ['is told at the commit', false, { host: '127.0.0.1' }],
  ['shows at the commit', false, {}],
] as const) {
  test(`where the server ended the connection before the commit, and that ${what}, it is known that nothing was committed`, async () => {
    await using opened = await openWithDeadline(DEADLINE);
    const { aside, dataDir } = opened;
    const pool = await poolOf(dataDir, { max: 1, ...way });
    const session = await Session.open(pool, DEADLINE);
    try {
      const { rows } = await session.control('SELECT pg_backend_pid() AS pid');
      await session.control('BEGIN');
      await session.control('CREATE TABLE committed (one INTEGER)');
      const { host, port, database } = aside.options as { host: string; port: number; database: string };
      const place = ['-h', host, '-p', String(port), '-U', 'postgres', '-d', database];
      // Nothing else goes on here until it has ended.
      execFileSync('psql', [...place, '-qAtc', `SELECT pg_terminate_backend(${rows[0]?.pid}, 10000)`]);
      if (isNoticed) await until(() => session.isBroken, 'it is noticed');
      assert.instance(await rejection(session.commit()), Unreachable);
      const { rows: found } = await aside.query(`SELECT to_regclass('committed') AS found`);
      assert.equal(found, [{ found: null }]);
    } finally {
      session.release();
      await pool.end();
    }
  });
}

test('what waits for a standby that is away is given up by the server too, so that connections do not run out', async () => {
  await using cluster = await startCluster();
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database, { deadline: 1_500 });
  const { store } = node;
  const owner = await newCase(store, {}, Date.now());
  const { token } = await healthySnitch(store, owner, {}, Date.now());
  for (let times = 0; times < 4; times += 1) assert.ok(await checkIn(store, token, Date.now()));
  await cluster.query(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  await cluster.query('SELECT pg_reload_conf()');
  const refusals: unknown[] = [];
  await until(async () => {
    const error = await rejection(checkIn(store, token, Date.now())).catch(() => null);
    if (error) refusals.push(error);
    return refusals.length === 3;
  }, 'check-ins are refused');
  assert.ok(refusals.every((error) => error instanceof StoreUnavailable));
  await cluster.query('ALTER SYSTEM RESET ALL');
  const waiting = await cluster.query<{ since: number }>(
    `SELECT extract(epoch FROM clock_timestamp() - state_change)::float8 AS since FROM pg_stat_activity
     WHERE wait_event = 'SyncRep' AND application_name = 'snitch'`,
  );
  assert.ok(
    waiting.every(({ since }) => since < 2.5),
    `nothing waits for longer than its caller did: ${JSON.stringify(waiting)}`,
  );
  await cluster.query('SELECT pg_reload_conf()');
});

test.run();
