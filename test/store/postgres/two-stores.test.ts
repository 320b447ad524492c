/** Two stores at work on one database at once: what each promises holds for both together. Time limit: 180 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EVERYTHING } from '../../../src/core/channel.ts';
import type { NewChannel } from '../../../src/store/channels.ts';
import type { ImportedSnitch } from '../../../src/store/ownership.ts';
import { ending } from '../../closing.ts';
import { until } from '../../until.ts';
import type { Store } from '../acting.ts';
import { checkIn, HOUR, healthySnitch, MINUTE, NOW, newCase, newSnitch, sweep } from '../fixture.ts';
import { poolOf } from './databases.ts';
import { openPair, outcomes } from './pair.ts';

const test = suite('two stores on one database');

const LEASE = 3 * MINUTE;

interface Counted {
  states: number;
  log: number;
  twice: number;
  broken: number;
}

/** Check-ins as the states count them and as the log has them, and whether the chains of the log are whole. */
const COUNTED = `SELECT (SELECT SUM(check_in_count) FROM snitch_states) AS states,
  (SELECT COUNT(*) FROM check_ins) AS log,
  (SELECT COUNT(*) FROM (SELECT 1 FROM check_ins GROUP BY snitch_id, number HAVING COUNT(*) > 1) AS x) AS twice,
  (SELECT COUNT(*) FROM check_ins AS x JOIN check_ins AS p ON p.id = x.previous_id
   WHERE p.snitch_id <> x.snitch_id OR p.number <> x.number - 1 OR p.id > x.id) AS broken`;

test('the limit of a plan holds, however many make snitches at once', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one, { maxSnitches: 10 });
  const calls = Array.from({ length: 40 }, (_, index) =>
    newSnitch(pair.both[index % 2] as Store, owner, { name: `n${index}` }),
  );
  const all = await outcomes(calls);
  assert.is(all.filter((one) => one === 'done').length, 10);
  assert.ok(
    all.every((one) => one === 'done' || one === 'PlanLimitReached'),
    all.join(),
  );
  const [row] = await pair.query<{ count: number }>('SELECT COUNT(*) AS count FROM snitches');
  assert.is(row?.count, 10);
});

test('what two nodes are asked for by name at once is made once', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one);
  const imported: ImportedSnitch = {
    name: 'nightly',
    notes: '',
    tags: [],
    alertEmail: [],
    interval: 'daily',
    alertType: 'basic',
    token: null,
  };
  const batch = { imported: [imported], owner: 'web', known: [] };
  const fields = { settings: { topic: 'ops' }, events: [], tags: [] };
  const channel: NewChannel = { kind: 'ntfy', name: 'ops', fields, known: [] };
  const at = (index: number) => pair.both[index % 2] as Store;
  const each = <T>(call: (store: Store) => Promise<T>) =>
    outcomes(Array.from({ length: 10 }, (_, index) => call(at(index))));
  for (const made of [
    await each((store) => store.importSnitches(owner.id, batch, NOW)),
    await each((store) => store.createChannel(owner.id, channel, NOW)),
  ]) {
    assert.equal(made.sort(), [...Array.from({ length: 9 }, () => 'Invalid'), 'done']);
  }
  assert.is((await pair.one.listChannels(owner.id)).length, 1);
});

test('tags that are added at once are all there, and so are entries about it, each with its number', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one);
  const { token } = await newSnitch(pair.one, owner);
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      (pair.both[index % 2] as Store).addTags(owner.id, token, [`tag-${index}`]),
    ),
  );
  assert.is((await pair.one.getSnitch(owner.id, token))?.tags.length, 12);
  const numbers = await pair.query<{ number: number }>(
    'SELECT number FROM activity WHERE case_id = ? ORDER BY number',
    owner.id,
  );
  assert.equal(
    numbers.map(({ number }) => number),
    numbers.map((_, index) => index + 1),
  );
});

test('check-ins and edits of the same snitches lose nothing, and their logs stay whole', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one, { members: ['ops@example.com'] });
  const tokens: string[] = [];
  for (let index = 0; index < 20; index += 1) tokens.push((await healthySnitch(pair.one, owner)).token);
  const worker = async (store: Store, seed: number) => {
    let applied = 0;
    for (let index = 0; index < 40; index += 1) {
      const token = tokens[(index * 7 + seed) % tokens.length] as string;
      const kind = (index + seed) % 10;
      if (kind === 0) await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW);
      else if (kind === 1) await store.updateSnitch(owner.id, token, { notes: `${seed} ${index}` }, NOW);
      else {
        const outcome = kind === 2 ? 'error' : 'healthy';
        const output = kind === 3 ? 'printed' : null;
        assert.ok(await checkIn(store, token, NOW, { outcome, output }));
        applied += 1;
      }
    }
    return applied;
  };
  const applied = await Promise.all(
    pair.both.flatMap((store, which) =>
      Array.from({ length: 8 }, (_, index) => worker(store, which * 8 + index)),
    ),
  );
  const all = applied.reduce((sum, count) => sum + count, 0);
  const [counted] = await pair.query<Counted>(COUNTED);
  assert.equal(counted, { states: all + 20, log: all + 20, twice: 0, broken: 0 });
  const [shown] = await pair.query<{ off: number }>(
    `SELECT COUNT(*) AS off FROM (
       SELECT s.status, COUNT(*) AS actual FROM snitch_states AS s GROUP BY s.status) AS a
     JOIN status_counts AS c ON c.status = a.status WHERE c.count <> a.actual`,
  );
  assert.is(shown?.off, 0, 'the counts of each status');
});

test('a deadline that both sweep at once is applied once', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one, { members: ['ops@example.com'] });
  const tokens = await Promise.all(
    Array.from({ length: 300 }, (_, index) => newSnitch(pair.one, owner, { name: `n${index}` })),
  );
  await Promise.all(tokens.map(({ token }) => checkIn(pair.one, token, NOW)));
  const later = NOW + 3 * HOUR;
  const changed = await Promise.all(
    pair.both.flatMap((store) => [sweep(store, later, 20), sweep(store, later, 20)]),
  );
  const left = await sweep(pair.one, later);
  assert.is(changed.reduce((sum, count) => sum + count, 0) + left, 300);
  const [alerts] = await pair.query<{ alerts: number; tokens: number; deliveries: number }>(
    `SELECT COUNT(*) AS alerts, COUNT(DISTINCT token) AS tokens,
       (SELECT COUNT(*) FROM deliveries) AS deliveries FROM alerts WHERE type = 'snitch.missing'`,
  );
  // Each has told that it reported for the first time as well.
  assert.is(alerts?.alerts, 300);
  assert.is(alerts?.tokens, 300);
});

test('a delivery is claimed by one, and settled by who has it', async () => {
  await using pair = await openPair();
  const members = Array.from({ length: 30 }, (_, index) => `m${index}@example.com`);
  const owner = await newCase(pair.one, { members });
  for (let index = 0; index < 8; index += 1) await healthySnitch(pair.one, owner, { name: `n${index}` });
  await sweep(pair.one, NOW + 3 * HOUR);
  const now = NOW + 3 * HOUR;
  const request = {
    now,
    channel: 'email',
    leaseUntil: now + LEASE,
    perTarget: 5,
    limit: 16,
    after: '',
    busy: [],
  };
  const claims: { id: number; fence: number }[] = [];
  const claimer = async (store: Store) => {
    for (let empty = 0; empty < 3; ) {
      const claimed = await store.claimDeliveries(request as never);
      claims.push(...claimed);
      empty = claimed.length === 0 ? empty + 1 : 0;
    }
  };
  await Promise.all(pair.both.flatMap((store) => [claimer(store), claimer(store)]));
  const [row] = await pair.query<{ count: number }>(
    `SELECT COUNT(*) AS count FROM deliveries WHERE channel = 'email'`,
  );
  assert.is(claims.length, row?.count);
  assert.is(new Set(claims.map(({ id }) => id)).size, claims.length, 'none was claimed twice');
  const settled = await Promise.all(
    claims.flatMap(({ id, fence }) =>
      pair.both.map((store) => store.settleDelivery(id, fence, { kind: 'delivered', at: now })),
    ),
  );
  assert.is(settled.filter(Boolean).length, claims.length, 'and each settled once');
});

test('a channel that refuses two deliveries at once is refused once, and told of once', async () => {
  await using pair = await openPair();
  const { one, both, dataDir, query } = pair;
  const owner = await newCase(one, { members: ['ann@example.com'] });
  const fields = { settings: { topic: 'ops' }, ...EVERYTHING };
  await one.createChannel(owner.id, { kind: 'ntfy', name: 'ops', fields }, NOW);
  for (const name of ['a', 'b']) await healthySnitch(one, owner, { name });
  const request = {
    now: NOW,
    channel: 'ntfy',
    leaseUntil: NOW + LEASE,
    perTarget: 2,
    limit: 2,
    after: '',
    busy: [],
  };
  const claims = await one.claimDeliveries(request as never);
  assert.is(claims.length, 2);
  await using pool = ending(await poolOf(dataDir), (given) => given.end());
  const holder = await pool.connect();
  const waiting = async () =>
    (
      await query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).length;
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT id FROM channels FOR UPDATE');
    const refused = { kind: 'dead', error: '403 Forbidden', refusedAt: NOW } as const;
    const settled = claims.map(({ id, fence }, index) => both[index]?.settleDelivery(id, fence, refused));
    await until(async () => (await waiting()) === 2, 'both wait for the channel');
    await holder.query('ROLLBACK');
    assert.equal(await Promise.all(settled), [true, true]);
  } finally {
    holder.release();
  }
  const notices = await query(`SELECT id FROM alerts WHERE type LIKE 'service.%'`);
  assert.is(notices.length, 1);
});

test('a new time zone, a blind window and a deleted case go with check-ins at once, and nobody waits in a circle', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one);
  const gone = await newCase(pair.one);
  const tokens: string[] = [];
  for (const each of [owner, gone]) {
    const fields = {
      name: 'n',
      notes: '',
      tags: [],
      alertEmail: [],
      interval: 'hourly',
      alertType: 'basic',
    } as const;
    const imported = Array.from({ length: 100 }, () => ({
      ...fields,
      tags: [],
      alertEmail: [],
      token: null,
    }));
    const made = await pair.one.importSnitches(each.id, { imported, owner: null }, NOW);
    tokens.push(...made.map(({ token }) => token));
  }
  let stopped = false;
  const load = pair.both.flatMap((store, which) =>
    Array.from({ length: 8 }, async (_, index) => {
      for (let count = which * 8 + index; !stopped; count += 1) {
        await checkIn(store, tokens[(count * 31) % tokens.length] as string, NOW);
      }
    }),
  );
  try {
    for (const timezone of ['Europe/Berlin', 'UTC', 'America/New_York']) {
      await pair.one.updateCase(owner.id, { timezone }, NOW);
      await Promise.all(
        pair.both.map(async (store) => {
          while (await store.rescheduleSlice(NOW));
        }),
      );
    }
    await pair.one.openBlindWindow({ start: NOW - 2 * HOUR, end: NOW - HOUR });
    await Promise.all(
      pair.both.map(async (store) => {
        while (await store.postponeSlice(NOW));
      }),
    );
    await pair.other.deleteCase(gone.id);
  } finally {
    stopped = true;
    await Promise.all(load);
  }
  const [left] = await pair.query<{ count: number }>(
    'SELECT COUNT(*) AS count FROM snitch_states WHERE case_id = ?',
    gone.id,
  );
  assert.is(left?.count, 0);
  const [counted] = await pair.query<Counted>(COUNTED);
  assert.equal([counted?.twice, counted?.broken], [0, 0]);
});

test('two stores that are opened at once make one schema and one key', async () => {
  await using pair = await openPair();
  await Promise.all(
    pair.both.map((store) => store.provideAdminKey('first', 'snk_adm_0123456789abcdef', NOW)),
  );
  assert.is((await pair.one.listApiKeys(null)).length, 1);
});

test('one token that two cases import at once is given to one', async () => {
  await using pair = await openPair();
  const owners = [await newCase(pair.one), await newCase(pair.one)];
  const fields = {
    name: 'n',
    notes: '',
    tags: [],
    alertEmail: [],
    interval: 'hourly',
    alertType: 'basic',
  } as const;
  const all = await outcomes(
    owners.map(({ id }, index) =>
      (pair.both[index] as Store).importSnitches(
        id,
        { imported: [{ ...fields, tags: [], alertEmail: [], token: 'c2354d53d2' }], owner: null },
        NOW,
      ),
    ),
  );
  assert.equal(all.toSorted(), ['Invalid', 'done']);
});

test.run();
