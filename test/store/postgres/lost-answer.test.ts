/** A check-in whose commit is done and whose answer is lost: nobody knows of it, and it is not applied again. */
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { acting, type Store } from '../acting.ts';
import {
  checkIn,
  healthySnitch,
  NOW,
  newCase,
  newSnitch,
  rejection,
  temporaryDirectory,
} from '../fixture.ts';
import { poolOf } from './databases.ts';

const test = suite('an answer that is lost');

/** What the server answers a commit with. */
const COMMITTED = 'COMMIT\0';

/** What writes a check-in, with its commit, is known by this name. */
const SENT = 'snitch_recalled_write';

/** What PgBouncer answers when it has lost the server, whether or not the server had committed. */
const SERVER_WENT = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '08P01',
  M: 'server closed the connection unexpectedly',
});

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const words = Object.entries(fields).map(([type, value]) => `${type}${value}\0`);
  const body = Buffer.from(`${words.join('')}\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

interface Way extends AsyncDisposable {
  /** How often it was broken. */
  broken: number;
  /** The next commit is done, and its connection is cut instead of answering. */
  loseNext(): void;
  /** As `loseNext`, but a pooler between says that its server went away, as PgBouncer does. */
  loseNextBehindPooler(): void;
  /** The connection is cut while the next commit of a check-in is on its way to the server. */
  loseNextOnItsWay(): void;
  /** Like `loseNext`, and the given number of later connections end at once. */
  loseNextAndRefuse(connections: number): void;
}

/** A way to the server that listens at `socket`. */
async function openWay(socket: string, server: string): Promise<Way> {
  let loses = false;
  let losesOnItsWay = false;
  let says: Buffer | null = null;
  let refuses = 0;
  const listening = createServer((client) => {
    if (!loses && refuses > 0) {
      refuses -= 1;
      client.destroy();
      return;
    }
    const other = connect(server);
    for (const [one, peer] of [
      [client, other],
      [other, client],
    ] as const) {
      one.on('error', () => peer.destroy());
      one.on('close', () => peer.destroy());
    }
    client.on('data', (chunk: Buffer) => {
      if (!losesOnItsWay || !chunk.includes(SENT)) {
        other.write(chunk);
        return;
      }
      losesOnItsWay = false;
      way.broken += 1;
      client.destroy();
    });
    other.on('data', (chunk: Buffer) => {
      if (!loses || !chunk.includes(COMMITTED)) {
        client.write(chunk);
        return;
      }
      loses = false;
      way.broken += 1;
      if (says === null) client.destroy();
      else client.end(says, () => client.destroy());
      says = null;
    });
  });
  await new Promise<void>((resolve) => listening.listen(socket, resolve));
  const way: Way = {
    broken: 0,
    loseNext: () => {
      loses = true;
    },
    loseNextBehindPooler: () => {
      loses = true;
      says = SERVER_WENT;
    },
    loseNextAndRefuse: (connections) => {
      loses = true;
      refuses = connections;
    },
    loseNextOnItsWay: () => {
      losesOnItsWay = true;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => listening.close(() => resolve())),
  };
  return way;
}

/** A store whose way to the server can be broken, and another one that counts the rows of a table. */
async function withStore<T>(
  work: (store: Store, way: Way, count: (table: string) => Promise<number>) => Promise<T>,
): Promise<T> {
  const dataDir = temporaryDirectory();
  const clock = () => NOW;
  const aside = await poolOf(dataDir, { max: 1 });
  try {
    const { host, port } = aside.options as { host: string; port: number };
    const name = `.s.PGSQL.${port}`;
    await using way = await openWay(join(dataDir, name), join(host, name));
    const pool = await poolOf(dataDir, { host: dataDir });
    const store = acting(await openPostgresStore({ pool, clock }), clock);
    try {
      return await work(store, way, async (table) => {
        const { rows } = await aside.query<{ count: number }>(`SELECT COUNT(*)::int AS count FROM ${table}`);
        return rows[0]?.count ?? 0;
      });
    } finally {
      await store.close();
    }
  } finally {
    await aside.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** @param before check-ins of the same snitch that come through */
function recordedBehind(before: number): Promise<number> {
  return withStore(async (store, way, count) => {
    const { token } = await newSnitch(store, await newCase(store));
    for (let times = 0; times < before; times += 1) assert.ok(await checkIn(store, token, NOW));
    const known = await count('check_ins');
    way.loseNext();
    assert.instance(await rejection(checkIn(store, token, NOW)), StoreUnavailable);
    assert.is(way.broken, 1);
    const recorded = (await count('check_ins')) - known;
    assert.ok(await checkIn(store, token, NOW), 'the next one finds another connection');
    return recorded;
  });
}

test('an everyday check-in is recorded once if the connection breaks after its commit, and not reported as stored', async () => {
  assert.is(await recordedBehind(4), 1);
});

test('one that never came to the server goes there again, with those beside it', async () => {
  await withStore(async (store, way, count) => {
    const owner = await newCase(store);
    const snitches = [await newSnitch(store, owner), await newSnitch(store, owner)];
    const both = () => Promise.all(snitches.map(({ token }) => checkIn(store, token, NOW)));
    for (let times = 0; times < 4; times += 1) await both();
    for (let times = 1; times <= 3; times += 1) {
      const known = await count('check_ins');
      way.loseNextOnItsWay();
      assert.equal(await both(), [true, true]);
      assert.is(way.broken, times);
      assert.is(await count('check_ins'), known + 2);
      await both();
      await both();
    }
  });
});

test('one that may be recorded is not recorded again where the next connection fails too', async () => {
  await withStore(async (store, way, count) => {
    const { token } = await newSnitch(store, await newCase(store));
    for (let times = 0; times < 4; times += 1) assert.ok(await checkIn(store, token, NOW));
    way.loseNextAndRefuse(1);
    assert.instance(await rejection(checkIn(store, token, NOW)), StoreUnavailable);
    assert.is(await count('check_ins'), 5);
  });
});

/** Several times, because the answers before that of the commit may arrive separately. */
const TIMES = 5;

test('so is the first one of a snitch, whose statements are sent one by one', async () => {
  for (let times = 0; times < TIMES; times += 1) assert.is(await recordedBehind(0), 1);
});

test('so is what people make', async () => {
  await withStore(async (store, way, count) => {
    const owner = await newCase(store);
    for (let times = 1; times <= TIMES; times += 1) {
      way.loseNext();
      assert.instance(await rejection(newSnitch(store, owner)), StoreUnavailable);
      assert.is(way.broken, times);
      assert.is(await count('snitches'), times);
    }
  });
});

test('nor is anything done again where a pooler says that its server went', async () => {
  await withStore(async (store, way, count) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const both = () => Promise.all([checkIn(store, token, NOW), checkIn(store, token, NOW)]);
    for (let times = 0; times < 4; times += 1) await both();
    for (let times = 1; times <= TIMES; times += 1) {
      const known = await count('check_ins');
      way.loseNextBehindPooler();
      assert.instance(await rejection(both()), StoreUnavailable);
      assert.is(await count('check_ins'), known + 2, 'two check-ins, which were read first');
      await both();
    }
    for (let times = 1; times <= TIMES; times += 1) {
      const known = await count('snitches');
      way.loseNextBehindPooler();
      assert.instance(await rejection(newSnitch(store, owner)), StoreUnavailable);
      assert.is(await count('snitches'), known + 1);
    }
    assert.is(way.broken, 2 * TIMES);
  });
});

test('deliveries claimed without an answer are claimed again at once, not when the lease ends', async () => {
  await withStore(async (store, way) => {
    const owner = await newCase(store, { members: ['ann@example.com', 'bob@example.com'] });
    await healthySnitch(store, owner);
    const most = { perTarget: 8, limit: 64, after: '', busy: [] };
    const request = { now: NOW, channel: 'email', leaseUntil: NOW + 180_000, ...most } as const;
    for (let times = 1; times <= 2; times += 1) {
      way.loseNext();
      assert.instance(await rejection(store.claimDeliveries(request)), StoreUnavailable);
      assert.is(way.broken, times);
    }
    const claimed = await store.claimDeliveries(request);
    const attempts = claimed.map(({ target, attempt }) => [target, attempt]);
    assert.equal(attempts, [
      ['ann@example.com', 1],
      ['bob@example.com', 1],
    ]);
    assert.equal(await store.claimDeliveries(request), [], 'what is known to be claimed is left alone');
    for (const { id, fence } of claimed)
      assert.ok(await store.settleDelivery(id, fence, { kind: 'delivered', at: NOW }));
  });
});

test.run();
