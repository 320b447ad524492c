/** What is known of snitches that check in often, and check-ins that are written without being read first. Time limit: 120 s. */
import type pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { RecalledStates } from '../../../src/store/postgres/recalled-states.ts';
import type { RulesOfCase, SetRow } from '../../../src/store/postgres/set-statements.ts';
import { until } from '../../until.ts';
import { acting, type Store } from '../acting.ts';
import { checkIn, HOUR, healthySnitch, NOW, newCase, newSnitch, temporaryDirectory } from '../fixture.ts';
import { HERE, poolOf } from './databases.ts';
import { openPair } from './pair.ts';

const test = suite('states that are known');

/** What `pg` writes to. */
interface Wire {
  bind(bound: { statement: string }): void;
  sync(): void;
}

/** The names of the statements that go to the server, those together that are answered together. */
function watch(pool: pg.Pool): string[][] {
  const sent: string[][] = [];
  pool.on('connect', (client) => {
    const { connection } = client as unknown as { connection: Wire };
    const bind = connection.bind.bind(connection);
    const sync = connection.sync.bind(connection);
    let names: string[] = [];
    Object.assign(connection, {
      bind: (bound: { statement: string }) => {
        names.push(bound.statement);
        bind(bound);
      },
      sync: () => {
        sent.push(names);
        names = [];
        sync();
      },
    });
  });
  return sent;
}

const READ = 'snitch_set_states';
const WRITTEN = 'snitch_recalled_write';

interface Opened extends AsyncDisposable {
  store: Store;
  aside: pg.Pool;
  /** What was sent since it was asked the last time. */
  sent(): string[];
}

async function opened(): Promise<Opened> {
  const dataDir = temporaryDirectory();
  const pool = await poolOf(dataDir);
  const messages = watch(pool);
  const store = acting(await openPostgresStore({ pool, clock: () => NOW }), () => NOW);
  const aside = await poolOf(dataDir, { max: 2 });
  return {
    store,
    aside,
    sent: () => messages.splice(0).map((names) => names.join(' ')),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await aside.end();
    },
  };
}

interface Plan {
  'Rows Removed by Join Filter'?: number;
  Plans?: Plan[];
}

/** What the server says of each statement that it has run for `pool`: the text, and how it came to its rows. */
function explained(pool: pg.Pool): { text: string; plan: Plan }[] {
  const said: { text: string; plan: Plan }[] = [];
  pool.on('connect', (client) => {
    void client.query(`LOAD 'auto_explain';
      SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
      SET auto_explain.log_format = 'json'; SET client_min_messages = 'log'`);
    client.on('notice', ({ message = '' }) => {
      const [, json] = /plan:\s*(\{.*)/s.exec(message) ?? [];
      if (!json) return;
      const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: Plan };
      said.push({ text, plan });
    });
  });
  return said;
}

/** Pairs of rows that were examined without need. */
function inVain({ 'Rows Removed by Join Filter': removed = 0, Plans: plans = [] }: Plan): number {
  return plans.reduce((sum, plan) => sum + inVain(plan), removed);
}

async function often(store: Store, token: string, times = 5): Promise<void> {
  for (let count = 0; count < times; count += 1) assert.ok(await checkIn(store, token, NOW));
}

const LOG = `SELECT COUNT(*) AS count, COUNT(DISTINCT number) AS numbers, MAX(number) AS newest,
    SUM(CASE WHEN c.previous_id < c.id OR c.previous_id IS NULL THEN 0 ELSE 1 END) AS descending,
    SUM(CASE WHEN c.id = s.last_check_in_id AND c.number <> s.check_in_count THEN 1 ELSE 0 END) AS wrong
  FROM check_ins AS c JOIN snitch_states AS s ON s.id = c.snitch_id`;

test('a snitch that checks in often is written in one message', async () => {
  await using one = await opened();
  const { store } = one;
  const owner = await newCase(store);
  const { token } = await newSnitch(store, owner);
  await often(store, token);
  one.sent();
  await often(store, token, 3);
  const message = `snitch_begin snitch_recalled_hold ${WRITTEN} snitch_commit`;
  assert.equal(one.sent(), [message, message, message]);
});

test('the end of a run is written in one message where its start was read a while before', async () => {
  await using one = await opened();
  const { store } = one;
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner, { interval: 'daily' });
  await checkIn(store, token, NOW + 24 * HOUR, { outcome: 'start' });
  one.sent();
  await checkIn(store, token, NOW + 24 * HOUR + 240_000);
  const sent = one.sent().join(' ');
  assert.ok(sent.includes(WRITTEN) && !sent.includes(READ), sent);
  const [last] = (await store.listCheckIns(owner.id, token, { limit: 1, before: null })) ?? [];
  assert.equal([last?.outcome, last?.durationMs], ['healthy', 240_000]);
});

test('what is more than everyday is read first, and nothing of it is done twice', async () => {
  await using one = await opened();
  const { store } = one;
  const owner = await newCase(store, { members: ['ops@example.com'] });
  const { token } = await healthySnitch(store, owner);
  await often(store, token);
  await checkIn(store, token, NOW, { output: 'printed' });
  await often(store, token);
  await checkIn(store, token, NOW, { outcome: 'error' });
  assert.is((await store.getSnitch(owner.id, token))?.state.status, 'errored');
  await often(store, token);
  assert.is((await store.getSnitch(owner.id, token))?.state.status, 'healthy');
  const { rows } = await one.aside.query(
    `SELECT (SELECT COUNT(*)::int FROM check_ins) AS logged, (SELECT COUNT(*)::int FROM alerts
       WHERE type = 'snitch.errored') AS alerts, (SELECT COUNT(*)::int FROM check_in_outputs) AS outputs`,
  );
  assert.equal(rows, [{ logged: 18, alerts: 1, outputs: 1 }]);
});

test('what another node did in between counts: its check-ins, its edits, and its rules of the case', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one);
  const { token } = await healthySnitch(pair.one, owner, { interval: 'hourly' });
  const due = async () =>
    (await pair.query<{ due: number }>('SELECT due_at AS due FROM snitch_states'))[0]?.due;
  await often(pair.one, token);
  const before = await due();
  await pair.other.updateSnitch(owner.id, token, { interval: 'daily' }, NOW);
  await often(pair.one, token);
  const daily = await due();
  assert.ok(Number(daily) > Number(before));
  await pair.other.updateCase(owner.id, { timezone: 'America/New_York' }, NOW);
  await often(pair.one, token, 1);
  assert.is(Number(await due()) - Number(daily), 4 * HOUR, 'the day of the new zone ends later');
  await pair.other.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW);
  await often(pair.one, token, 1);
  assert.is((await pair.one.getSnitch(owner.id, token))?.state.status, 'paused');
  for (let times = 0; times < 10; times += 1) {
    await often(pair.one, token, 3);
    await often(pair.other, token, 2);
  }
  const [log] = await pair.query(LOG);
  assert.equal(log, { count: 63, numbers: 63, newest: 63, descending: 0, wrong: 0 });
});

test('rules that change while a set waits for its snitches are those that it is decided by', async () => {
  await using one = await opened();
  const { store, aside } = one;
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner, { interval: 'daily' });
  await often(store, token);
  const due = async () => Number((await aside.query('SELECT due_at FROM snitch_states')).rows[0].due_at);
  const before = await due();
  one.sent();
  const holder = await aside.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM snitch_states FOR UPDATE');
    await holder.query(`UPDATE cases SET timezone = 'America/New_York'`);
    const answer = checkIn(store, token, NOW);
    await until(async () => {
      const { rows } = await aside.query(`SELECT 1 FROM pg_locks WHERE NOT granted AND ${HERE}`);
      return rows.length > 0;
    }, 'the set waits for the snitch');
    await holder.query('COMMIT');
    assert.ok(await answer);
  } finally {
    holder.release();
  }
  const sent = one.sent();
  assert.ok(sent[0]?.includes(WRITTEN) && sent.some((names) => names.includes(READ)), sent.join('; '));
  assert.is((await due()) - before, 4 * HOUR);
});

test('several of one snitch at once go together, as those of a snitch that is not known do', async () => {
  await using one = await opened();
  const { store } = one;
  const { token } = await newSnitch(store, await newCase(store));
  await often(store, token);
  one.sent();
  await Promise.all(Array.from({ length: 20 }, () => checkIn(store, token, NOW)));
  const sent = one.sent();
  assert.is(sent.length, 2, sent.join('; '));
});

test('many at once of few snitches, by two nodes, are each applied once and in their order', async () => {
  await using pair = await openPair();
  const owner = await newCase(pair.one);
  const tokens: string[] = [];
  for (let index = 0; index < 6; index += 1) tokens.push((await healthySnitch(pair.one, owner)).token);
  const calls: Promise<boolean>[] = [];
  for (let round = 0; round < 20; round += 1) {
    for (const token of tokens) calls.push(checkIn(pair.one, token, NOW), checkIn(pair.one, token, NOW));
    await (round % 4 === 0
      ? Promise.all(tokens.map((token) => checkIn(pair.other, token, NOW)))
      : calls.at(-1));
  }
  assert.ok((await Promise.all(calls)).every(Boolean));
  const [log] = await pair.query<Record<string, number>>(LOG);
  assert.equal(log, { count: 276, numbers: 46, newest: 46, descending: 0, wrong: 0 });
});

test('what was known before the server was gone is read again, whatever used the new connection first', async () => {
  await using one = await opened();
  const { store, aside } = one;
  const owner = await newCase(store);
  const { token } = await newSnitch(store, owner);
  await often(store, token);
  await aside.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid NOT IN (SELECT pid FROM pg_stat_activity WHERE pid = pg_backend_pid())`);
  await until(async () => {
    const { rows } = await aside.query(
      'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    return rows.length === 0;
  }, 'all are gone');
  assert.ok(await store.getSnitch(owner.id, token));
  one.sent();
  await often(store, token, 1);
  const sent = one.sent().join(' ');
  assert.ok(sent.includes(READ) && !sent.includes(WRITTEN), sent);
});

test('check-ins of other snitches are written while three sets wait for theirs', async () => {
  await using one = await opened();
  const { store, aside } = one;
  const owner = await newCase(store);
  const tokens: string[] = [];
  for (let index = 0; index < 4; index += 1) tokens.push((await healthySnitch(store, owner)).token);
  const [other = '', ...held] = tokens;
  const waiting = async () =>
    (await aside.query(`SELECT 1 FROM pg_locks WHERE NOT granted AND ${HERE}`)).rows.length;
  const answers: Promise<boolean>[] = [];
  const holder = await aside.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(
      `SELECT 1 FROM snitch_states WHERE id IN (SELECT id FROM snitches WHERE token = ANY($1)) FOR UPDATE`,
      [held],
    );
    for (const token of held) {
      answers.push(checkIn(store, token, NOW));
      await until(async () => (await waiting()) === answers.length, 'the set waits for its snitch');
    }
    assert.ok(await checkIn(store, other, NOW));
    assert.is(await waiting(), held.length);
    await holder.query('COMMIT');
    assert.equal(await Promise.all(answers), [true, true, true]);
  } finally {
    holder.release(true);
    await Promise.allSettled(answers);
  }
});

const row = (token: string) => ({ id: 1, token, case_id: 'case' }) as SetRow;

function known(states: RecalledStates, token: string): number | undefined {
  return states.get(token)?.version;
}

test('each snitch of a set is found by itself, also where the server knows nothing of the table yet', async () => {
  const pool = await poolOf(temporaryDirectory());
  const plans = explained(pool);
  await using store = Object.assign(
    acting(await openPostgresStore({ pool, clock: () => NOW }), () => NOW),
    {
      [Symbol.asyncDispose]: () => store.close(),
    },
  );
  const owner = await newCase(store);
  const made = await Promise.all(Array.from({ length: 400 }, () => newSnitch(store, owner)));
  for (let times = 0; times < 12; times += 1)
    await Promise.all(made.map(({ token }) => checkIn(store, token, NOW)));
  const written = plans.filter(({ text }) => text.startsWith('WITH ruled'));
  // The plan that a connection keeps for a statement is made when that has been run five times there.
  assert.ok(written.length > 30, `${written.length} sets were written`);
  for (const { plan } of written) assert.is(inVain(plan), 0);
});

test('what one server said is not believed of another, nor of one that is connected to anew', () => {
  const states = new RecalledStates();
  const [first, second, third] = [{}, {}, {}];
  states.meet('a', first);
  states.keep('a', { row: row('t'), version: 7 });
  states.keepRules('a', { id: 'case' } as RulesOfCase);
  assert.is(known(states, 't'), 7);
  states.meet('a', first);
  assert.is(known(states, 't'), 7);
  states.meet('b', second);
  assert.is(known(states, 't'), undefined);
  assert.is(states.rulesOf('case'), undefined);
  states.keep('a', { row: row('t'), version: 8 });
  assert.is(known(states, 't'), undefined, 'an answer that comes late, of the server before');
  states.keep('b', { row: row('t'), version: 9 });
  assert.is(known(states, 't'), 9);
  states.meet('b', third);
  assert.is(known(states, 't'), undefined);
});

test('where others take most of the check-ins in between, it is left for a while; and only so many are kept', () => {
  let now = 0;
  const states = new RecalledStates(() => now);
  states.meet('a', {});
  for (let times = 0; times < 20; times += 1) states.note(19, 20);
  states.keep('a', { row: row('t'), version: 7 });
  assert.is(known(states, 't'), 7, 'a few that are otherwise do not count');
  for (let times = 0; times < 20; times += 1) states.note(0, 20);
  states.keep('a', { row: row('t'), version: 8 });
  assert.is(known(states, 't'), undefined);
  now += 60_000;
  states.keep('a', { row: row('t'), version: 9 });
  assert.is(known(states, 't'), 9);
  for (let index = 0; index < 50_000; index += 1) states.keep('a', { row: row(`t${index}`), version: 1 });
  const kept = Array.from({ length: 50_000 }, (_, index) => known(states, `t${index}`)).filter(Boolean);
  assert.ok(kept.length >= 20_000 && kept.length <= 40_000, `${kept.length} are kept`);
  assert.is(known(states, 't49999'), 1);
});

test('a state is let go when it is of no use any more, however few are kept', () => {
  let now = 0;
  const states = new RecalledStates(() => now);
  states.meet('a', {});
  for (const [minute, token] of ['first', 'second', 'third', 'fourth'].entries()) {
    now = minute * 200_000;
    states.keep('a', { row: row(token), version: 1 });
  }
  assert.is(known(states, 'second'), 1, 'it may be of use yet');
  for (const [minute, token] of ['fifth', 'sixth'].entries()) {
    now = 900_000 + minute * 400_000;
    states.keep('a', { row: row(token), version: 1 });
  }
  const kept = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'].filter((token) =>
    known(states, token),
  );
  assert.equal(kept, ['sixth']);
});

test.run();
