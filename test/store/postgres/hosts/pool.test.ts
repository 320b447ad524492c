/** Sessions are lent to one caller at a time, a bounded number of them, and nobody waits for ever. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../../src/core/errors.ts';
import { ConnectionFault } from '../../../../src/store/postgres/hosts/faults.ts';
import {
  type PooledClient,
  type PoolOptions,
  SessionPool,
} from '../../../../src/store/postgres/hosts/pool.ts';
import type { Session } from '../../../../src/store/postgres/hosts/session.ts';
import { ending } from '../../../closing.ts';
import { until } from '../../../until.ts';

const test = suite('the pool of sessions');

/** A primary that answers as the test says, and counts. */
class Staged {
  opened = 0;
  open = 0;
  fault: Error | null = null;
  readonly sessions: { breaks(error: Error): void }[] = [];

  async connect(): Promise<Session> {
    await new Promise(setImmediate);
    if (this.fault) throw this.fault;
    this.opened += 1;
    this.open += 1;
    return this.#session();
  }

  #session(): Session {
    const listeners: ((error: Error) => void)[] = [];
    const state = { isBroken: false };
    const breaks = (error: Error) => {
      if (state.isBroken) return;
      state.isBroken = true;
      this.open -= 1;
      for (const listener of listeners) listener(error);
    };
    this.sessions.push({ breaks });
    const host = HOST;
    return {
      client: {},
      host,
      facts: { cluster: '1', timeline: 1 },
      isPooled: false,
      get isBroken() {
        return state.isBroken;
      },
      onBroken: (listener: (error: Error) => void) => void listeners.push(listener),
      end: async () => breaks(new Error('ended')),
      destroy: (error = new Error('destroyed')) => breaks(error),
    } as unknown as Session;
  }
}

const HOST = { host: 'a', port: 1 };

async function refused(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => new Error('it was served'),
    (caught: unknown) => caught,
  );
  if (!(error instanceof StoreUnavailable)) throw error;
  return (error.cause as Error).message;
}

/** A pool that ends with its block. */
function poolOf(primary: Staged, options: Partial<PoolOptions> = {}) {
  const pool = new SessionPool({ primary, size: 2, waitMs: 60_000, ...options });
  return ending(pool, () => {
    for (const session of primary.sessions) session.breaks(new Error('over'));
  });
}

test('no more sessions are opened than allowed, and the next caller gets the one that is returned', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 2, waitMs: 60_000 });
  const [one, two] = await Promise.all([pool.connect(), pool.connect()]);
  const order: string[] = [];
  const served = (name: string) => (client: PooledClient) => {
    order.push(name);
    return client;
  };
  const third = pool.connect().then(served('third'));
  const fourth = pool.connect().then(served('fourth'));
  one.release();
  assert.is(await third, one);
  two.release();
  assert.is(await fourth, two);
  assert.equal(order, ['third', 'fourth']);
  assert.is(primary.opened, 2);
  one.release();
  assert.is(await pool.connect(), one);
  assert.throws(() => two.release() ?? two.release(), /already/);
  one.release();
  await pool.end();
  assert.is(primary.open, 0);
});

test('a thousand callers at once are all served by two', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 2, waitMs: 60_000 });
  let most = 0;
  let now = 0;
  const call = async () => {
    const client = await pool.connect();
    now += 1;
    most = Math.max(most, now);
    await new Promise(setImmediate);
    now -= 1;
    client.release();
  };
  await Promise.all(Array.from({ length: 1_000 }, call));
  assert.is(most, 2);
  assert.is(primary.opened, 2);
  await pool.end();
});

test('it counts the callers that use a session, that wait, and that have waited', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 2, waitMs: 60_000 });
  const [one, two] = await Promise.all([pool.connect(), pool.connect()]);
  const third = pool.connect();
  const { waits, waitedMs, ...now } = pool.figures;
  assert.equal(now, { inUse: 2, idle: 0, waiting: 1, size: 2 });
  assert.is(waits, 2, 'those for whom a session was opened');
  one.release();
  await third;
  two.release();
  const after = pool.figures;
  assert.equal([after.inUse, after.idle, after.waiting, after.waits], [1, 1, 0, 3]);
  assert.ok(after.waitedMs > waitedMs);
});

test('a caller that waits too long, or comes when too many wait, is told to come back', async () => {
  await using pool = poolOf(new Staged(), { size: 1, waitMs: 30, mostWaiting: 1 });
  const held = await pool.connect();
  const late = pool.connect();
  assert.is(await refused(pool.connect()), 'too many calls wait');
  assert.is(await refused(late), 'no connection was free within 0.03 s');
  held.release();
  await pool.end();
});

test('a session that is returned as broken is replaced, and the others stay', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 2, waitMs: 60_000 });
  const [one, two] = await Promise.all([pool.connect(), pool.connect()]);
  two.release();
  one.release(true);
  assert.is(primary.open, 1);
  assert.is(await pool.connect(), two);
  assert.not(await pool.connect().then((client) => client === one));
  assert.is(primary.opened, 3);
});

test('if the network loses one session, the idle ones are not tried one after the other', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 3, waitMs: 60_000 });
  const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  for (const client of clients.slice(1)) client.release();
  primary.sessions[0]?.breaks(new ConnectionFault('a:1 did not answer within 5 s'));
  assert.is(primary.open, 0);
  clients[0]?.release();
  assert.not(clients.includes(await pool.connect()));
});

test('a short outage is waited for, a longer one is refused at once, and its end is found', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 4, waitMs: 300 });
  primary.fault = new ConnectionFault('a:1 is a standby');
  const waiting = [pool.connect(), pool.connect()];
  await until(() => pool.fault !== null, 'the outage is noticed');
  primary.fault = null;
  for (const client of await Promise.all(waiting)) client.release(true);
  assert.is(pool.fault, null);

  primary.fault = new ConnectionFault('a:1 is gone');
  assert.is(await refused(pool.connect()), 'a:1 is gone');
  const since = pool.fault?.since ?? 0;
  await until(() => performance.now() - since > 300, 'the outage is a long one');
  const begun = primary.opened;
  assert.is(await refused(pool.connect()), 'a:1 is gone');
  primary.fault = null;
  await pool.connect();
  assert.is(primary.opened, begun + 1);
});

test('if the server allows no more sessions, the existing ones serve everybody', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 3, waitMs: 1_000 });
  const only = await pool.connect();
  const crowded = Object.assign(new Error('sorry, too many clients already'), { code: '53300' });
  primary.fault = new ConnectionFault('crowded', { cause: crowded, isLasting: true });
  const callers = Array.from({ length: 50 }, async () => (await pool.connect()).release());
  await until(() => pool.fault !== null, 'another one was refused');
  only.release();
  await Promise.all(callers);
  assert.is(primary.opened, 1);
  primary.sessions[0]?.breaks(new Error('lost'));
  assert.is(await refused(pool.connect()), 'crowded');
});

test('callers wait through a short outage, however long ago the server last had no room for another session', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 2, waitMs: 500 });
  const only = await pool.connect();
  const crowded = Object.assign(new Error('sorry, too many clients already'), { code: '53300' });
  primary.fault = new ConnectionFault('crowded', { cause: crowded });
  const second = pool.connect();
  await until(() => pool.fault !== null, 'another one was refused');
  only.release();
  (await second).release();
  const { since } = pool.fault ?? { since: 0 };
  await until(() => performance.now() - since > 1_600, 'it does not try any more');
  primary.fault = new ConnectionFault('a:1 is a standby');
  primary.sessions[0]?.breaks(new Error('lost'));
  const waiting = pool.connect();
  await until(() => pool.fault?.error === primary.fault, 'the outage is noticed');
  primary.fault = null;
  (await waiting).release();
});

test('what only a person can mend is not waited for', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 4, waitMs: 2 ** 30 });
  primary.fault = new ConnectionFault('password authentication failed', { isLasting: true });
  assert.is(await refused(pool.connect()), 'password authentication failed');
});

test('the end refuses who waits, and waits for what is lent, but not for ever', async () => {
  const primary = new Staged();
  await using pool = poolOf(primary, { size: 2, waitMs: 50 });
  const returned = await pool.connect();
  await pool.connect();
  const waiting = refused(pool.connect());
  const ended = pool.end();
  assert.is(await waiting, 'the store is closed');
  assert.is(await refused(pool.connect()), 'the store is closed');
  returned.release();
  await ended;
  assert.is(primary.open, 0);
});

test.run();
