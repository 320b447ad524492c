/** Who can read a stream, and until when: it ends when its key is deleted. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Store } from '../store/acting.ts';
import { Client } from './client.ts';
import { informed, open, refusal, type Stream } from './event-stream.ts';
import { empty, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, startFixture, type Team } from './fixture.ts';

const test = suite<Fixture>('streams and their keys');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** One more key of the case, besides those of the fixture, and its id. */
async function newKey(
  { store, port, clock }: Fixture,
  { id }: Team,
): Promise<{ client: Client; id: string }> {
  const { apiKey, key } = await store.createApiKey({ caseId: id, name: 'other', scope: 'read' }, clock.now);
  return { client: new Client(port, key), id: apiKey.id };
}

/** The tokens of the snitches in a stream's events, up to the event about `last`. */
async function toldOf(stream: Stream, last: string | undefined): Promise<Set<unknown>> {
  const told = new Set<unknown>();
  while (!told.has(last)) {
    for (const { data } of (await informed(stream)).events) told.add(data.token);
  }
  return told;
}

async function opened(client: Client): Promise<Stream> {
  const stream = await open(client);
  assert.is((await stream.next()).event, 'reset');
  return stream;
}

test('a key that is deleted takes its streams along, and no others', async (context) => {
  const { acme } = context;
  const key = await newKey(context, acme);
  const [gone, stays] = [await opened(key.client), await opened(acme.read)];
  const { token: known } = await newSnitch(acme);
  await informed(gone);
  await informed(stays);
  empty(await acme.write.delete(`/v1/api_keys/${key.id}`));
  const { token } = await newSnitch(acme);
  await informed(stays);
  assert.match(stays.text, token);
  assert.not.match(gone.text, token, 'before it could be seen that it ended');
  await gone.ended;
  assert.match(gone.text, known);
  assert.not.match(gone.text, token);
});

for (const [what, change] of [
  ['deleted', ({ admin, rival }: Fixture) => admin.delete(`/v1/cases/${rival.id}`)],
  ['put on hold', ({ admin, rival }: Fixture) => admin.patch(`/v1/cases/${rival.id}`, { on_hold: true })],
] as const) {
  test(`a case that is ${what} takes its streams along, and no others`, async (context) => {
    const { acme, rival } = context;
    const [first, second, stays] = [
      await opened(rival.read),
      await opened(rival.write),
      await opened(acme.read),
    ];
    const { token } = await newSnitch(rival);
    await informed(first);
    assert.ok((await change(context)).status < 300);
    await context.nobody.get(`/c/${token}`);
    await newSnitch(acme);
    await informed(stays);
    await first.ended;
    await second.ended;
    assert.not.match(first.text, '"status":"healthy"', 'the check-in came after the end');
  });
}

test('maintenance withdraws no key: a stream that is open goes on telling of check-ins', async (context) => {
  const { acme, admin } = context;
  const { token } = await newSnitch(acme);
  const stream = await opened(acme.read);
  ok(await admin.put('/v1/maintenance', { enabled: true }));
  await checkIn(context, token);
  const { events } = await informed(stream);
  assert.is(events[0]?.data.status, 'healthy');
  ok(await admin.put('/v1/maintenance', { enabled: false }));
});

test('a key that is deleted while its stream begins gets none', async () => {
  let deleting: (() => Promise<unknown>) | null = null;
  const through = (store: Store): Store => ({
    ...store,
    getApiKey: async (id) => {
      await deleting?.();
      return store.getApiKey(id);
    },
  });
  const context = await startFixture({ through });
  try {
    const { client, id } = await newKey(context, context.acme);
    using _client = client;
    deleting = () => context.store.deleteApiKey(context.acme.id, id);
    refused(await client.get('/v1/stream'), 401, 'api_key_invalid');
  } finally {
    await context.close();
  }
});

test('a key has at most 20 streams, and one more when one of them is closed', async (context) => {
  const { acme } = context;
  const streams: Stream[] = [];
  for (let count = 0; count < 20; count += 1) streams.push(await opened(acme.read));
  const answer = await acme.read.get('/v1/stream');
  refused(answer, 429, 'rate_limited');
  assert.match(answer.text, '20 streams');
  assert.is(answer.headers['retry-after'], undefined, 'a dashboard reads the list then, and does not wait');
  await opened(acme.write);
  streams[0]?.close();
  while ((await refusal(acme.read)) !== null);
  const { token } = await newSnitch(acme);
  await informed(streams[19] as Stream);
  assert.match(streams[19]?.text ?? '', token);
});

test('no case can shut other cases out, and no key the other keys of its case', async (context) => {
  const { acme, rival } = context;
  const first = await opened(acme.read);
  for (let count = 1; count < 20; count += 1) assert.is(await refusal(acme.read), null);
  for (let key = 1; key < 10; key += 1) {
    const { client } = await newKey(context, acme);
    for (let count = 0; count < 20; count += 1) assert.is(await refusal(client), null, `key ${key}`);
  }
  await opened(rival.read);
  await first.ended;
  const other = await newKey(context, acme);
  const own = await opened(other.client);
  const { token } = await newSnitch(acme);
  await informed(own);
  assert.match(own.text, token);
  assert.is(await refusal((await newKey(context, acme)).client), null);
});

test('a reader is told all of a burst that is larger than what may wait for it, at its own pace', async (context) => {
  const { acme, store, clock } = context;
  const [slow, quick] = [await opened(acme.read), await opened(acme.read)];
  slow.pause();
  const fields = {
    notes: 'é'.repeat(10_000),
    tags: [],
    alertEmail: [],
    interval: 'hourly',
    alertType: 'basic',
  } as const;
  const making = Array.from({ length: 1_000 }, (_, index) =>
    store.createSnitch(acme.id, { ...fields, name: `job ${index}`, tags: [], alertEmail: [] }, clock.now),
  );
  const tokens = (await Promise.all(making)).map(({ token }) => token);
  await Promise.all(tokens.map((token) => checkIn(context, token)));
  await toldOf(quick, tokens.at(-1));
  slow.resume();
  const told = await toldOf(slow, tokens.at(-1));
  assert.equal(
    tokens.filter((token) => !told.has(token)),
    [],
  );
});

test.run();
