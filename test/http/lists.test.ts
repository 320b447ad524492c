/** Long lists: made while they are read, no further than they are read, and by turns. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert } from '../../src/api/wire.ts';
import { answerError } from '../../src/http/endpoint/errors.ts';
import { Lists } from '../../src/http/endpoint/lists.ts';
import type { ImportedSnitch } from '../../src/store/ownership.ts';
import { ending } from '../closing.ts';
import type { Store } from '../store/acting.ts';
import { checkIn } from '../store/fixture.ts';
import { basic, Client } from './client.ts';
import { ok } from './expect.ts';
import { type Fixture, MINUTE, newSnitch, startFixture } from './fixture.ts';

interface Context extends Fixture {
  /** Reads of alerts, and how many were read. */
  reads: { calls: number; alerts: number };
  token: string;
}

const test = suite<Context>('long lists');

test.before.each(async (context) => {
  const reads = { calls: 0, alerts: 0 };
  const through = (store: Store): Store => ({
    ...store,
    listAlerts: async (...given) => {
      const listed = await store.listAlerts(...given);
      reads.calls += 1;
      reads.alerts += listed.length;
      return listed;
    },
  });
  Object.assign(context, await startFixture({ through }), { reads });
  const { token } = await newSnitch(context.acme, { notes: '€'.repeat(10_000) });
  context.token = token;
});

test.after.each((context) => context.close());

/**
 * As many alerts of the snitch, two at each instant and few in an hour, and a check-in for each. They are made in the
 * store, and committed together in their order: thousands of requests would take most of the time of these tests.
 */
async function alerts({ store, clock, token }: Context, count: number): Promise<void> {
  const done = Array.from({ length: count }, (_, index) => {
    clock.now += (index % 2) * 20 * MINUTE;
    const outcome = index % 2 === 0 ? 'error' : 'healthy';
    return checkIn(store, token, clock.now, { outcome, message: String(index) });
  });
  assert.ok((await Promise.all(done)).every(Boolean));
}

/** Requests the list of alerts and reads nothing of the answer. */
async function begin({ port, key }: Client): Promise<IncomingMessage> {
  const headers = { authorization: basic(key ?? '') };
  const path = '/v1/alerts?limit=1000';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ host: '127.0.0.1', port, path, headers, agent: false }, resolve).on('error', reject).end();
  const response = await promise;
  response.on('error', () => undefined);
  return response.pause();
}

/** Waits until nothing more is read. */
async function standstill({ reads }: Context): Promise<number> {
  for (let [before, same] = [-1, 0]; same < 10; ) {
    await sleep(20);
    same = reads.alerts === before ? same + 1 : 0;
    before = reads.alerts;
  }
  return reads.alerts;
}

test('a list in slices is the list, in its order, whatever page is asked for', async (context) => {
  const { acme, store, token } = context;
  await alerts(context, 90);
  const all = await store.listAlerts(acme.id, null, { limit: 1_000, before: null });
  assert.is(all.length, 90);
  const ids = async (path: string) => ok<{ id: string }[]>(await acme.read.get(path)).map(({ id }) => id);
  const expected = all.map(({ alert }) => alert.id);
  const middle = new Date(all[9]?.alert.at ?? 0).toISOString();
  const behind = expected.filter((_, index) => (all[index]?.alert.at ?? 0) < (all[9]?.alert.at ?? 0));
  assert.equal(await ids('/v1/alerts?limit=1000'), expected);
  assert.equal(await ids('/v1/alerts?limit=61'), expected.slice(0, 61));
  assert.equal(await ids(`/v1/alerts?limit=1000&before=${expected[9]}`), expected.slice(10));
  assert.equal(await ids(`/v1/alerts?before=${middle}`), behind);
  assert.equal(await ids(`/v1/snitches/${token}/alerts?limit=70`), expected.slice(0, 70));
  assert.ok(context.reads.calls > 20, 'they were read in slices');
});

test('check-ins, deliveries, snitches and owners come in slices too, and none is missing', async (context) => {
  const { acme, store, token } = context;
  await acme.write.patch('/v1/case', { members: ['a@example.com', 'b@example.com'] });
  await alerts(context, 120);
  const records = (await store.listCheckIns(acme.id, token, { limit: 1_000, before: null })) ?? [];
  const deliveries = await store.listDeliveries(acme.id, { state: null, limit: 1_000, before: null });
  assert.equal([records.length, deliveries.length], [120, 240]);
  const ids = async (path: string) =>
    ok<{ id: string }[]>(await acme.read.get(path)).map(({ id }) => Number(id));
  const [ofRecords, ofDeliveries] = [records.map(({ id }) => id), deliveries.map(({ id }) => id)];
  const recordsAt = `/v1/snitches/${token}/check_ins`;
  assert.equal(await ids(`${recordsAt}?limit=1000`), ofRecords);
  assert.equal(await ids(`${recordsAt}?limit=90&before=${ofRecords[5]}`), ofRecords.slice(6, 96));
  assert.equal(await ids('/v1/deliveries?limit=1000&state=pending'), ofDeliveries);
  assert.equal(await ids(`/v1/deliveries?limit=1000&before=${ofDeliveries[3]}`), ofDeliveries.slice(4));
  const until = records[30];
  const older = records.filter(({ at }) => at < (until?.at ?? 0)).map(({ id }) => id);
  assert.equal(await ids(`${recordsAt}?limit=1000&before=${new Date(until?.at ?? 0).toISOString()}`), older);

  const names = Array.from({ length: 130 }, (_, index) => `job ${index}`);
  for (const name of names) await newSnitch(acme, { name, tags: name.endsWith('7') ? ['seven'] : ['other'] });
  const listed = async (query: string) =>
    ok<{ name: string }[]>(await acme.read.get(`/v1/snitches${query}`)).map(({ name }) => name);
  assert.equal(await listed(''), ['nightly-backup', ...names]);
  assert.equal(
    await listed('?tags=seven'),
    names.filter((name) => name.endsWith('7')),
  );
  assert.equal(await listed('?tags=nothing'), []);
  const tokens = ok<{ token: string }[]>(await acme.read.get('/v1/snitches')).map((snitch) => snitch.token);
  await store.setOwnership(acme.id, tokens, 'a file');
  const owned = ok<{ token: string }[]>(await acme.read.get('/v1/ownership'));
  assert.equal(
    owned.map((one) => one.token),
    tokens,
  );
});

test('no slice has many items, however small they are', async () => {
  const counts: number[] = [];
  const through = (store: Store): Store => ({
    ...store,
    listOwnership: async (...given) => {
      const read = await store.listOwnership(...given);
      counts.push(read.owned.length);
      return read;
    },
  });
  const context = await startFixture({ through });
  try {
    const { acme, store, clock } = context;
    const imported = Array.from(
      { length: 1_000 },
      (_, index): ImportedSnitch => ({
        ...{ name: `job ${index}`, notes: '', tags: [], alertEmail: [] },
        ...{ interval: 'daily', alertType: 'basic', token: null },
      }),
    );
    await store.importSnitches(acme.id, { imported, owner: 'a file' }, clock.now);
    assert.is(ok<unknown[]>(await acme.read.get('/v1/ownership')).length, 1_000);
    assert.is(Math.max(...counts), 200);
  } finally {
    await context.close();
  }
});

test('a short list has its length, and the head of a long one comes at once', async (context) => {
  const { acme } = context;
  await alerts(context, 90);
  const short = await acme.read.get('/v1/alerts?limit=2');
  assert.is(Number(short.headers['content-length']), Buffer.byteLength(short.text));
  const head = await acme.read.ask('HEAD', '/v1/alerts?limit=1000');
  assert.is(head.status, 200);
  assert.is(head.headers['content-type'], 'application/json; charset=utf-8');
  assert.is(head.text, '');
  assert.ok(context.reads.alerts < 90);
});

test('it is made no further than it is read, and ends with its reader', async (context) => {
  await alerts(context, 1_000);
  await using response = ending(await begin(context.acme.read), (one) => one.destroy());
  const read = await standstill(context);
  assert.ok(read < 1_000, `${read} were read for a client that takes nothing`);
  response.destroy();
  assert.is(await standstill(context), read);
  const whole = await begin(context.acme.read);
  assert.is(((await json(whole)) as WireAlert[]).length, 1_000);
});

test('a key has few lists under way, the others wait, and other keys go past', async (context) => {
  const { acme, rival, reads } = context;
  await alerts(context, 1_000);
  const stalled: IncomingMessage[] = [];
  for (let count = 0; count < 4; count += 1) stalled.push(await begin(acme.read));
  await standstill(context);
  const calls = reads.calls;
  const fifth = begin(acme.read);
  // If the test fails before it gets here, the server's end must not count as another failure.
  fifth.catch(() => undefined);
  const asked = request({
    ...{ host: '127.0.0.1', port: acme.read.port, path: '/v1/alerts?limit=1000', agent: false },
    headers: { authorization: basic(acme.read.key ?? '') },
  });
  await using left = ending(asked, () => asked.destroy());
  left.on('error', () => undefined).end();
  await standstill(context);
  assert.is(reads.calls, calls, 'it waits');
  left.destroy();
  assert.is(ok<unknown[]>(await acme.write.get('/v1/alerts?limit=30')).length, 30);
  assert.equal(ok(await rival.read.get('/v1/alerts')), []);
  stalled[0]?.destroy();
  const response = await fifth;
  assert.is(((await json(response)) as WireAlert[]).length, 1_000);
  for (const one of stalled) one.destroy();
});

test('a key that is deleted learns no more from a list that is under way or waits', async (context) => {
  const { acme, store, clock, port } = context;
  await alerts(context, 1_000);
  const { apiKey, key } = await store.createApiKey({ caseId: acme.id, name: 'x', scope: 'read' }, clock.now);
  using client = new Client(port, key);
  const begun: IncomingMessage[] = [];
  for (let count = 0; count < 4; count += 1) begun.push(await begin(client));
  const stays = await begin(acme.read);
  const waiting = client.get('/v1/alerts?limit=1000').then(
    ({ status }) => status,
    () => 'ended',
  );
  await standstill(context);
  assert.is((await acme.write.delete(`/v1/api_keys/${apiKey.id}`)).status, 204);
  const { alerts: read } = context.reads;
  const ended = begun.map((response) => new Promise((resolve) => response.on('close', resolve).resume()));
  await Promise.all(ended);
  assert.is(await waiting, 'ended');
  assert.is(await standstill(context), read);
  for (const response of begun) assert.not(response.complete);
  assert.is(((await json(stays)) as WireAlert[]).length, 1_000);
});

test('a client that takes nothing for long is gone, and who waits for long is told to come back', async () => {
  const app = Fastify();
  app.setErrorHandler(answerError);
  const patient = new Lists({ onChange() {} }, { turnWithin: 20, look: 60_000 });
  const brisk = new Lists({ onChange() {} }, { turnWithin: 60_000, look: 20 });
  const endless = async () => ({ items: ['x'.repeat(100_000)], next: 1 });
  let left = 0;
  app.get('/patient', async (request, reply) => patient.send(request, reply, endless));
  app.get('/brisk', async (request, reply) => {
    reply.raw.on('close', () => {
      left += 1;
    });
    return brisk.send(request, reply, endless);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const get = async (path: string) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.on('error', () => undefined).pause();
  };
  try {
    for (let count = 0; count < 4; count += 1) assert.is((await get('/patient')).statusCode, 200);
    const late = await get('/patient');
    assert.is(late.statusCode, 429);
    assert.ok(Number(late.headers['retry-after']) > 0);
    for (let count = 0; count < 6; count += 1)
      assert.is((await get('/brisk')).statusCode, 200, 'the fifth, when one is gone');
    while (left < 6) await sleep(10);
  } finally {
    app.server.closeAllConnections();
    await app.close();
  }
});

test.run();
