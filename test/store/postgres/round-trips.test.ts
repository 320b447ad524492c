/** How many round trips to the database a person's action takes: during each, the case is locked. */
import { rmSync } from 'node:fs';
import type pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { acting } from '../acting.ts';
import { HOUR, healthySnitch, NOW, newCase, newSnitch, sweep, temporaryDirectory } from '../fixture.ts';
import { poolOf } from './databases.ts';

const test = suite('round trips of acts');

/** Counts, for each session, how often a query is sent while none of its answers is pending. */
class RoundTrips {
  readonly #counts: { count: number }[] = [];

  watch(client: pg.PoolClient): void {
    const trips = { count: 0 };
    this.#counts.push(trips);
    let open = 0;
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
    const counted = (...given: unknown[]) => {
      if (open === 0) trips.count += 1;
      open += 1;
      const answered = () => {
        open -= 1;
      };
      const answer = query(...given);
      // A query that is passed as an object gets its answer through that object.
      const { answer: ofCommit } = given[0] as { answer?: Promise<unknown> };
      (ofCommit ?? answer).then(answered, answered);
      return answer;
    };
    Object.assign(client, { query: counted });
  }

  /** An act has one session. Signs of life of the store, which have another, take a round trip now and then. */
  async of(act: () => Promise<unknown>): Promise<number> {
    const before = this.#counts.map(({ count }) => count);
    await act();
    return Math.max(...this.#counts.map(({ count }, index) => count - (before[index] ?? 0)));
  }
}

test('many snitches that are due wait for the database as often as a few, and so do many deliveries', async () => {
  const dataDir = temporaryDirectory();
  const pool = await poolOf(dataDir);
  const trips = new RoundTrips();
  pool.on('connect', (client) => trips.watch(client));
  const store = acting(await openPostgresStore({ pool, clock: () => NOW }), () => NOW);
  const deliver = async (now: number) => {
    const request = { now, leaseUntil: now + HOUR, perTarget: 100, limit: 100, after: '', busy: [] };
    const claimed = await store.claimDeliveries({ ...request, channel: 'email' });
    const settled = { kind: 'delivered', at: now } as const;
    await Promise.all(claimed.map(({ id, fence }) => store.settleDelivery(id, fence, settled)));
    return claimed.length;
  };
  /** The round trips for this many snitches that go missing at once. */
  const counted = async (count: number, from: number) => {
    const owner = await newCase(store, { members: [`ann${count}@example.com`] });
    for (let index = 0; index < count; index += 1) await healthySnitch(store, owner, {}, from);
    await deliver(from);
    const now = from + 2 * HOUR;
    const due = await trips.of(async () => assert.is(await sweep(store, now), count));
    const claimed = await trips.of(async () => assert.is(await deliver(now), count));
    await store.deleteCase(owner.id);
    return { due, claimed };
  };
  try {
    await counted(2, NOW);
    const few = await counted(4, NOW + 10 * HOUR);
    const many = await counted(40, NOW + 20 * HOUR);
    assert.equal(many, few);
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('an act on a snitch waits for the database a few times, and not for each of its statements', async () => {
  const dataDir = temporaryDirectory();
  const pool = await poolOf(dataDir);
  const trips = new RoundTrips();
  pool.on('connect', (client) => trips.watch(client));
  const store = acting(await openPostgresStore({ pool, clock: () => NOW }), () => NOW);
  try {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { tags: ['a', 'b'] });
    const other = await newSnitch(store, owner);
    const counted = {
      create: await trips.of(() => newSnitch(store, owner)),
      'create with tags': await trips.of(() => newSnitch(store, owner, { tags: ['a', 'b', 'c'] })),
      rename: await trips.of(() => store.updateSnitch(owner.id, token, { name: 'other' }, NOW)),
      reschedule: await trips.of(() => store.updateSnitch(owner.id, token, { interval: 'daily' }, NOW)),
      tag: await trips.of(() => store.addTags(owner.id, token, ['c', 'd'])),
      untag: await trips.of(() => store.removeTag(owner.id, token, ['c'])),
      pause: await trips.of(() => store.pauseSnitch(owner.id, token, { kind: 'time', at: NOW + HOUR }, NOW)),
      unpause: await trips.of(() => store.unpauseSnitch(owner.id, token, NOW)),
      delete: await trips.of(() => store.deleteSnitch(owner.id, other.token)),
    };
    assert.equal(counted, {
      create: 3,
      'create with tags': 3,
      rename: 5,
      reschedule: 6,
      tag: 3,
      untag: 3,
      pause: 9,
      unpause: 5,
      delete: 4,
    });
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test.run();
