/** The shared client and a server that limits its calls: it keeps below the limit, and waits when it is asked to. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApiError, createClient } from '../../src/api/client.ts';
import type { Patience, Wait } from '../../src/api/turns.ts';
import { RateLimiter } from '../../src/http/endpoint/rate-limit.ts';
import { newSnitch, startFixture } from '../http/fixture.ts';

const test = suite('patience of the client');

const OK = { status: 200, headers: {}, body: [] as unknown };

interface Scripted {
  url: string;
  /** When each call came, in milliseconds. */
  calls: number[];
  stop(): Promise<void>;
}

/** Answers each call with the next of `answers`, and with an empty list when they are used up. */
async function scripted(
  ...answers: { status: number; headers: Record<string, string> }[]
): Promise<Scripted> {
  const calls: number[] = [];
  const rest = [...answers];
  const server = createServer((_request, response) => {
    calls.push(performance.now());
    const { status, headers } = rest.shift() ?? OK;
    response.writeHead(status, headers).end(status === 200 ? '[]' : '{"type":"x","error":"Later."}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

function clientOf({ url }: { url: string }, patience?: Patience) {
  return createClient({ url, apiKey: 'k', ...(patience ? { patience } : {}) });
}

async function refusalOf(call: Promise<unknown>): Promise<number> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
  throw new Error('it was not refused');
}

test('bulk work of several at once stays below the limit of the key', async () => {
  const limiter = new RateLimiter({ perMinute: 3_000, burst: 20, blockS: 60 });
  const fixture = await startFixture({ limiter });
  try {
    const { token } = await newSnitch(fixture.acme);
    const { key } = await fixture.store.createApiKey(
      { caseId: fixture.acme.id, name: 'k', scope: 'write' },
      0,
    );
    const client = createClient({ url: `http://127.0.0.1:${fixture.port}`, apiKey: key });
    let left = 70;
    const answers: unknown[] = [];
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        answers.push(await client.pause(token).catch(({ status }: ApiError) => status));
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    assert.equal(
      answers,
      Array(70).fill(422),
      'what is pending cannot be paused, and none was refused for the limit',
    );
  } finally {
    await fixture.close();
  }
});

test('a blocked key is waited for, once for all calls, and the call is sent again', async () => {
  const server = await scripted({ status: 429, headers: { 'retry-after': '1' } });
  try {
    const waits: Wait[] = [];
    const client = clientOf(server, { rateLimitedS: 5, unavailableS: 0, onWait: (wait) => waits.push(wait) });
    assert.equal(await client.listSnitches(), []);
    const [first = 0, second = 0] = server.calls;
    assert.ok(second - first >= 990, String(second - first));
    assert.equal(waits, [{ seconds: 1, reason: 'rate_limited', perMinute: null }]);
  } finally {
    await server.stop();
  }
});

test('a wait longer than the patience is a refusal at once, and so is every wait without patience', async () => {
  const later = { status: 429, headers: { 'retry-after': '60' } };
  const closed = { status: 503, headers: { 'retry-after': '1' } };
  const server = await scripted(later, closed, later, { status: 503, headers: {} });
  try {
    const patient = clientOf(server, { rateLimitedS: 59, unavailableS: 0 });
    assert.is(await refusalOf(patient.listSnitches()), 429);
    assert.is(await refusalOf(patient.listSnitches()), 503);
    assert.is(await refusalOf(clientOf(server).listSnitches()), 429);
    assert.is(await refusalOf(clientOf(server, { rateLimitedS: 9, unavailableS: 9 }).listSnitches()), 503);
    assert.is(server.calls.length, 4);
  } finally {
    await server.stop();
  }
});

test('a server that asks again and again is given up when the patience is used up', async () => {
  const again = { status: 503, headers: { 'retry-after': '0' } };
  const server = await scripted(again, again, again, again, again);
  try {
    const client = clientOf(server, { rateLimitedS: 0, unavailableS: 2 });
    assert.is(await refusalOf(client.listSnitches()), 503);
    assert.is(server.calls.length, 3);
  } finally {
    await server.stop();
  }
});

test('a signal ends the wait', async () => {
  const server = await scripted({ status: 429, headers: { 'retry-after': '100' } });
  try {
    const stopping = new AbortController();
    const patience = {
      rateLimitedS: 100,
      unavailableS: 0,
      onWait: () => stopping.abort(new Error('stopped')),
      signal: stopping.signal,
    };
    await clientOf(server, patience)
      .listSnitches()
      .then(
        () => assert.unreachable('it was answered'),
        (error: Error) => assert.is(error.message, 'stopped'),
      );
  } finally {
    await server.stop();
  }
});

test.run();
