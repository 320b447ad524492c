/** A database that hangs, breaks off, or does not know whether it has what it was given. Time limit: 180 s. */
import pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { Unreachable, unavailable } from '../../../src/store/postgres/faults.ts';
import { Session } from '../../../src/store/postgres/session.ts';
import { until } from '../../until.ts';
import {
  checkIn,
  healthySnitch,
  NOW,
  newCase,
  newSnitch,
  rejection,
  temporaryDirectory,
} from '../fixture.ts';
import { startCluster } from './clusters/cluster.ts';
import { poolOf } from './databases.ts';
import { queryOnPostgres } from './open.ts';
import { openWithDeadline } from './with-deadline.ts';

const test = suite('faults of the database');

test('whatever the system says of a connection that is gone, another one may be better', () => {
  // The code of the first looks like one of the server's own.
  for (const code of ['EPIPE', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH'])
    assert.instance(
      unavailable(Object.assign(new Error(`write ${code}`), { code, syscall: 'write' })),
      Unreachable,
    );
  const refused = Object.assign(new Error('a timeout of the job must be positive'), { code: '23514' });
  assert.is(unavailable(refused), null, 'the server speaks of one value');
});

for (const [what, away, back] of [
  ['table', 'ALTER TABLE check_ins RENAME TO gone', 'ALTER TABLE gone RENAME TO check_ins'],
  [
    'column',
    'ALTER TABLE snitch_states RENAME COLUMN moved_from TO gone',
    'ALTER TABLE snitch_states RENAME COLUMN gone TO moved_from',
  ],
] as const) {
  test(`where somebody took a ${what} away, check-ins are refused, and it owes a blind window for them`, async () => {
    await using opened = await openWithDeadline(10_000);
    const { store, aside } = opened;
    const { token } = await healthySnitch(store, await newCase(store));
    for (let times = 0; times < 3; times += 1) assert.ok(await checkIn(store, token, NOW));
    await aside.query(away);
    assert.instance(await rejection(checkIn(store, token, NOW)), StoreUnavailable);
    assert.is.not(store.refused(), null);
    assert.is.not(store.health().failingSince, null, 'it is not ready');
    await aside.query(back);
    assert.is(await checkIn(store, token, NOW), true);
  });
}

test('what hangs is refused within the time limit, with all that waits behind it, and nothing of it is lost later', async () => {
  await using opened = await openWithDeadline(1_000);
  const { store, aside, dataDir } = opened;
  const { token } = await healthySnitch(store, await newCase(store));
  const holder = await aside.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT id FROM snitch_states FOR UPDATE');
    const refusals = await Promise.all(
      Array.from({ length: 200 }, () => rejection(checkIn(store, token, NOW))),
    );
    assert.ok(refusals.every((error) => error instanceof StoreUnavailable));
    assert.is.not(store.refused(), null, 'it owes a blind window');
    assert.instance(await rejection(store.applyDue(NOW, null, 10)), StoreUnavailable);
    await holder.query('ROLLBACK');
  } finally {
    holder.release();
  }
  await store.openBlindWindow({ start: NOW, end: NOW });
  assert.is(store.refused(), null);
  assert.ok(await checkIn(store, token, NOW));
  const [row] = await queryOnPostgres<{ states: number; log: number }>(
    dataDir,
    'SELECT check_in_count AS states, (SELECT COUNT(*) FROM check_ins) AS log FROM snitch_states',
  );
  assert.is(row?.states, row?.log, 'the log has what the state counts');
});

test('connections that the server ends are replaced, and callers do not notice', async () => {
  await using opened = await openWithDeadline(8_000);
  const { store, aside } = opened;
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner);
  for (let round = 0; round < 3; round += 1) {
    await aside.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE pid <> pg_backend_pid() AND datname = current_database()`,
    );
    assert.ok(await checkIn(store, token, NOW));
    assert.ok(await store.getSnitch(owner.id, token));
  }
});

test('a process that stops in the middle of a transaction does not hold up others for long', async () => {
  await using opened = await openWithDeadline(15_000);
  const { store, dataDir } = opened;
  const { token } = await healthySnitch(store, await newCase(store));
  const pool = await poolOf(dataDir, { max: 1 });
  try {
    const stopped = await Session.open(pool, 500);
    await stopped.control('BEGIN');
    await stopped.control('SELECT id FROM snitch_states FOR UPDATE');
    assert.ok(await checkIn(store, token, NOW));
    await rejection(stopped.control('SELECT 1'));
    assert.ok(stopped.isBroken);
    stopped.release();
  } finally {
    await pool.end();
  }
});

test('a commit is answered when it is on the disk, whatever is usual on the server', async () => {
  const pool = await poolOf(temporaryDirectory(), { max: 1, options: '-c synchronous_commit=off' });
  try {
    const session = await Session.open(pool, 5_000);
    const { rows } = await session.control('SHOW synchronous_commit');
    session.release();
    assert.equal(rows, [{ synchronous_commit: 'on' }]);
  } finally {
    await pool.end();
  }
});

test('a value that the database refuses fails its own call and no other', async () => {
  await using opened = await openWithDeadline(8_000);
  const { store } = opened;
  const owner = await newCase(store);
  const tokens: string[] = [];
  for (let index = 0; index < 10; index += 1) tokens.push((await newSnitch(store, owner)).token);
  // No column for a whole number takes it.
  const bad = { exitStatus: 1.5 };
  const settled = await Promise.allSettled(
    tokens.map((token, index) => checkIn(store, token, NOW, index === 4 ? bad : {})),
  );
  assert.equal(
    settled.map(({ status }) => status),
    tokens.map((_, index) => (index === 4 ? 'rejected' : 'fulfilled')),
  );
});

test('a NUL is kept as the sign for what cannot be shown, and finds nothing', async () => {
  await using opened = await openWithDeadline(8_000);
  const { store } = opened;
  const owner = await newCase(store);
  const { token } = await newSnitch(store, owner, { name: 'a\0b' });
  assert.is((await store.getSnitch(owner.id, token))?.name, 'a\uFFFDb');
  assert.is(await checkIn(store, 'no\0token', NOW), false);
  assert.ok(await checkIn(store, token, NOW, { message: 'm\0', output: 'o\0' }));
  const [logged] = (await store.listCheckIns(owner.id, token, { limit: 1, before: null })) ?? [];
  assert.equal([logged?.message, logged?.output], ['m\uFFFD', 'o\uFFFD']);
});

test('a commit after a failed statement does not count as a commit', async () => {
  const pool = await poolOf(temporaryDirectory(), { max: 1 });
  try {
    const session = await Session.open(pool, 5_000);
    void session.control('BEGIN');
    void session.control('SELECT 1 / 0');
    assert.instance(await rejection(session.commit()), StoreUnavailable);
    session.release();
  } finally {
    await pool.end();
  }
});

async function cancelWaiting(admin: pg.Pool): Promise<void> {
  await admin.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
}

/** What `promise` is rejected with, or null; does `meanwhile` again and again until then. */
async function outcomeOf(promise: Promise<unknown>, meanwhile: () => Promise<void>): Promise<unknown> {
  let settled: { error: unknown } | null = null;
  promise.then(
    () => {
      settled = { error: null };
    },
    (error: unknown) => {
      settled = { error };
    },
  );
  await until(async () => {
    await meanwhile();
    return settled !== null;
  }, 'the commit is answered');
  return (settled as { error: unknown } | null)?.error ?? null;
}

test('a commit that is cut short while it waits for a standby is not acknowledged', async () => {
  await using own = await startCluster();
  const pool = new pg.Pool({ connectionString: own.url(), max: 1 });
  const admin = new pg.Pool({ connectionString: own.url(), max: 1 });
  try {
    const session = await Session.open(pool, 20_000);
    await session.control('CREATE TABLE kept (one INTEGER)');
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
    await admin.query('SELECT pg_reload_conf()');
    // The processes of the server hear of the setting one after the other: until all have, a commit waits for nobody.
    let failure: unknown = null;
    await until(async () => {
      void session.control('BEGIN');
      void session.control('INSERT INTO kept VALUES (1)');
      failure = await outcomeOf(session.commit(), () => cancelWaiting(admin));
      return failure !== null;
    }, 'a commit is cut short');
    assert.match(String((failure as unknown as Error).cause), 'standby');
    assert.ok(session.isBroken, 'and nobody else gets that connection');
    session.release();
  } finally {
    await Promise.all([pool.end(), admin.end()]);
  }
});

test.run();
