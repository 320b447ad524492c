/** Statements that are sent together, and arrays in their binary form, against a real server. Time limit: 120 s. */
import type { Socket } from 'node:net';
import type pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import type { Asked } from '../../../src/store/postgres/batch.ts';
import {
  bigintArray,
  byteaArray,
  textArray,
  ValueOutOfRange,
} from '../../../src/store/postgres/binary-arrays.ts';
import { NoAnswer, Unreachable, unavailable } from '../../../src/store/postgres/faults.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { Session } from '../../../src/store/postgres/session.ts';
import { until } from '../../until.ts';
import { acting } from '../acting.ts';
import { checkIn, healthySnitch, NOW, newCase, rejection, temporaryDirectory } from '../fixture.ts';
import { HERE, poolOf } from './databases.ts';

const test = suite('statements that are sent together');

const PATIENCE = 10_000;

async function inSession<T>(work: (session: Session, pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = await poolOf(temporaryDirectory(), { max: 2 });
  try {
    const session = await Session.open(pool, PATIENCE);
    try {
      return await work(session, pool);
    } finally {
      await session.rollback();
      session.release();
    }
  } finally {
    await pool.end();
  }
}

const asked = (name: string, text: string, ...values: Asked['values'][number][]): Asked => ({
  statement: { name: `test_${name}`, text },
  values,
});

test('arrays arrive as they are: the largest numbers, nulls, every script, and nothing at all', async () => {
  const numbers = [0, -1, 1, 2 ** 32, -(2 ** 32) - 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null];
  const texts = ['', 'a', '{"b",\\c}', 'NULL', 'Grüße 🚀', 'x\0y', "it's", null];
  const bytes = [new Uint8Array(), new Uint8Array([0, 1, 255]), null];
  await inSession(async (session) => {
    const column = async (type: string, array: Buffer) => {
      const statement = { name: `column_${type}`, text: `SELECT v FROM unnest($1::${type}[]) AS u (v)` };
      return (await session.query<{ v: unknown }>(statement, [array])).rows.map(({ v }) => v);
    };
    assert.equal(await column('bigint', bigintArray(numbers)), numbers);
    assert.equal(
      await column('text', textArray(texts)),
      texts.map((text) => text?.replace('\0', '\uFFFD') ?? null),
    );
    assert.equal(
      (await column('bytea', byteaArray(bytes))).map((value) => value && [...(value as Buffer)]),
      bytes.map((value) => value && [...value]),
    );
    assert.equal(await column('bigint', bigintArray([])), []);
    assert.equal(await column('text', textArray([])), []);
  });
  for (const wrong of [0.5, 2 ** 53, Number.NaN, 'a'])
    assert.throws(
      () => bigintArray([wrong]),
      (error: unknown) => error instanceof ValueOutOfRange,
    );
});

test('they are answered in their order, the first time one by one and then together', async () => {
  await inSession(async (session) => {
    const all = [
      asked('one', 'SELECT $1::bigint AS v', 1),
      asked('none', 'SELECT 1 AS v WHERE false'),
      asked('many', 'SELECT v FROM unnest($1::text[]) AS u (v)', textArray(['a', 'b'])),
    ];
    for (let times = 0; times < 3; times += 1) {
      const results = await session.together(all);
      assert.equal(
        results.map(({ rows }) => rows),
        [[{ v: 1 }], [], [{ v: 'a' }, { v: 'b' }]],
      );
    }
  });
});

test('statements after a failed one are not executed, and nor is the commit', async () => {
  await inSession(async (session, pool) => {
    await pool.query('CREATE TABLE kept (v bigint)');
    const insert = (v: number) => asked('insert', 'INSERT INTO kept VALUES (8 / $1::bigint)', v);
    for (let times = 0; times < 2; times += 1) {
      await session.control('BEGIN');
      await session.commit([insert(1)]);
    }
    await session.control('BEGIN');
    const error = await rejection(session.commit([insert(2), insert(0), insert(4)]));
    assert.match(String(error), 'division by zero');
    await session.rollback();
    const { rows } = await pool.query('SELECT v::int FROM kept');
    assert.equal(rows, [{ v: 8 }, { v: 8 }]);
    assert.equal((await session.together([insert(8)])).length, 1, 'the connection can be used as before');
  });
});

test('a connection that breaks without a word may have committed; one whose end is told has not', async () => {
  const pool = await poolOf(temporaryDirectory(), { max: 3 });
  const wait = (seconds: number) => asked('wait', 'SELECT pg_sleep($1::int)', seconds);
  const outcome = async (breaks: (client: pg.PoolClient, pid: number) => unknown) => {
    const client = await pool.connect();
    client.on('error', () => {});
    const session = await Session.open({ connect: async () => client, end: async () => {} }, PATIENCE);
    await session.together([wait(0)]);
    await session.control('BEGIN');
    await session.commit([wait(0)]);
    const { pid } = (await session.control('SELECT pg_backend_pid() AS pid')).rows[0] as { pid: number };
    await session.control('BEGIN');
    const committed = rejection(session.commit([wait(30)]));
    await until(async () => {
      const seen = `SELECT 1 FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`;
      return (await pool.query(seen)).rows.length > 0;
    }, 'the statement runs');
    await breaks(client, pid);
    const error = await committed;
    client.release(true);
    return error;
  };
  try {
    const told = await outcome((_, pid) => pool.query(`SELECT pg_terminate_backend(${pid})`));
    assert.instance(unavailable(told), Unreachable, 'it may be done again');
    for (const [syscall, code] of [
      ['read', 'ECONNRESET'],
      // As all of it is sent together, the commit may have arrived.
      ['write', 'EPIPE'],
    ] as const) {
      const untold = await outcome((client) => {
        (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy(
          Object.assign(new Error(`${syscall} ${code}`), { code, syscall }),
        );
      });
      assert.instance(untold, StoreUnavailable);
      assert.not.instance(unavailable(untold), Unreachable, 'it must not be done again');
    }
  } finally {
    // The pool of `pg` waits for ever for the goodbye of a connection that was cut.
    void pool.end();
  }
});

test('check-ins whose server goes in the middle of their set are applied once', async () => {
  const dataDir = temporaryDirectory();
  const clock = () => NOW;
  const pool = await poolOf(dataDir);
  const store = acting(await openPostgresStore({ pool, clock }), clock);
  const aside = await poolOf(dataDir, { max: 2 });
  try {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    for (let times = 0; times < 3; times += 1) assert.ok(await checkIn(store, token, NOW));
    const before = await aside.query('SELECT COUNT(*)::int AS count FROM check_ins');
    const holder = await aside.connect();
    await holder.query('BEGIN; LOCK TABLE check_ins IN SHARE ROW EXCLUSIVE MODE');
    const answer = checkIn(store, token, NOW);
    await until(async () => {
      const ended = await aside.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks
         WHERE NOT granted AND relation = 'check_ins'::regclass AND ${HERE}`,
      );
      return ended.rows.length > 0;
    }, 'the set waits for the log, and its server process is ended');
    await holder.query('ROLLBACK');
    holder.release();
    assert.ok(await answer);
    const after = await aside.query('SELECT COUNT(*)::int AS count FROM check_ins');
    assert.is(after.rows[0].count, before.rows[0].count + 1);
  } finally {
    await aside.end();
    await store.close();
  }
});

test('the time limit of the server is recognised even if this process got no time right after its request', async () => {
  const client = {
    on: () => client,
    // As if 20 of the 900 ms that the server waits had passed before this process was looked at again. Its timer begins behind
    // them, so that a host which takes longer over that changes nothing.
    query: () =>
      new Promise((_, reject) =>
        setTimeout(() => reject(Object.assign(new Error('cancelled'), { code: '57014' })), 880),
      ),
  } as unknown as pg.PoolClient;
  const session = await Session.open({ connect: async () => client, end: async () => {} }, 1_000);
  assert.instance(await rejection(session.control('SELECT 1')), NoAnswer);
});

test.run();
