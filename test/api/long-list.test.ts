/** The client reads a list while it arrives: what it does with items, wrong answers and answers that break off. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AnswerNotUnderstood, type Client, createClient, Unreachable } from '../../src/api/client.ts';

const test = suite('a long list');

const SNITCH = {
  token: 't',
  name: 'Nächtliche Sicherung',
  tags: ['},{"token":'],
  notes: '',
  status: 'healthy',
  checked_in_at: null,
  check_in_url: 'http://localhost/t',
  interval: 'daily',
  alert_type: 'basic',
  alert_email: [],
  expect: [],
  created_at: '2026-01-01T00:00:00.000Z',
};

/** Several megabytes. */
const MANY = Array.from({ length: 20_000 }, (_, index) => ({
  ...SNITCH,
  token: `t${index}`,
  status: index % 1_000 === 0 ? 'failed' : 'healthy',
}));

async function answered<T>(
  answer: (response: ServerResponse) => unknown,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const server = createServer((_request, response) => void answer(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await use(createClient({ url: `http://127.0.0.1:${port}`, apiKey: 'k' }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function refused(answer: (response: ServerResponse) => unknown): Promise<Error> {
  try {
    await answered(answer, (client) => client.listSnitches());
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not refused');
}

test('is read whole and in order', async () => {
  const all = await answered(
    (response) => response.end(JSON.stringify(MANY)),
    (client) => client.listSnitches(),
  );
  assert.equal(all, MANY);
});

test('keeps only what is wanted', async () => {
  const failed = await answered(
    (response) => response.end(JSON.stringify(MANY)),
    (client) => client.listSnitches([], undefined, { keep: ({ status }) => status === 'failed' }),
  );
  assert.equal(
    failed,
    MANY.filter(({ status }) => status === 'failed'),
  );
});

test('is ended when enough was read, even if the server has more to say', async () => {
  let closed: Promise<unknown> = Promise.reject(new Error('nobody asked'));
  closed.catch(() => {});
  const first = await answered(
    (response) => {
      closed = once(response, 'close');
      // It never ends on its own.
      response.write(JSON.stringify(MANY).slice(0, -1));
    },
    async (client) => {
      const some = await client.listSnitches([], undefined, { most: 10 });
      await closed;
      return some;
    },
  );
  assert.equal(first, MANY.slice(0, 10));
});

test('that breaks off is no answer', async () => {
  const error = await refused((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(JSON.stringify(MANY).slice(0, 3_000_000), () => response.destroy());
  });
  assert.instance(error, Unreachable);
  assert.ok((error as Unreachable).broken);
});

for (const [what, text, fault] of [
  ['that ends too early', JSON.stringify(MANY).slice(0, 3_000_000), 'is not JSON'],
  ['with more behind it', `${JSON.stringify(MANY)}]`, 'is not JSON'],
  ['that is an object', JSON.stringify({ snitches: MANY }), 'has no list'],
  ['of something else', '[{"token":"t"}]', 'has no text at [0].name'],
  [
    'with one that is something else',
    JSON.stringify(MANY.with(19_999, { ...SNITCH, name: 1 } as never)),
    'has no text at [19999].name',
  ],
] as const) {
  test(`${what} is not understood`, async () => {
    const error = await refused((response) => response.end(text));
    assert.instance(error, AnswerNotUnderstood);
    assert.ok(error.message.endsWith(`its answer to GET /v1/snitches ${fault}`), error.message);
  });
}

test.run();
