/**
 * Whatever a client with a key sends, it is told what the contract says or another clear refusal, never a failure of
 * the server; a refusal leaves nothing behind, and a success leaves exactly what it answered with.
 */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { cases } from '../cases.ts';
import type { Answer, Asked } from './client.ts';
import { empty, invalidOn, malformed, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';
import { anyText, nastyBody, nastyValue, PIECES, VALID } from './nasty.ts';

const test = suite<Fixture>('bad input');
test.before(hooks.start);
test.after(hooks.close);

// Without a time limit: a run that is given up would go on during the next test.
const RUNS = { numRuns: cases(80) };

const list = async ({ acme }: Fixture): Promise<WireSnitch[]> => ok(await acme.write.get('/v1/snitches'));

function isRefusal({ status, text, headers }: Answer, about: string): void {
  assert.ok([400, 413, 422].includes(status), `${about} ${status} ${text}`);
  if (status === 400) assert.is(headers['content-length'], '0');
  else
    refused(
      { status, text, headers, json: <T>() => JSON.parse(text) as T },
      status,
      status === 422 ? 'resource_invalid' : 'request_too_large',
    );
}

test('create keeps the whole of a valid snitch, or nothing', async (context) => {
  const { write } = context.acme;
  await fc.assert(
    fc.asyncProperty(nastyBody, async (body) => {
      const answer = await write.ask('POST', '/v1/snitches', { body });
      if (answer.status !== 200) {
        isRefusal(answer, body);
        assert.equal(await list(context), []);
        return;
      }
      assert.equal(await list(context), [answer.json()]);
      empty(await write.delete(answer.json<WireSnitch>().href));
    }),
    RUNS,
  );
});

test('update changes what it answers with, or nothing', async (context) => {
  const { write } = context.acme;
  const { href } = await newSnitch(context.acme, { tags: ['a'], notes: 'n' });
  await fc.assert(
    fc.asyncProperty(nastyBody, async (body) => {
      const before = await list(context);
      const answer = await write.ask('PATCH', href, { body });
      if (answer.status !== 200) isRefusal(answer, body);
      assert.equal(await list(context), answer.status === 200 ? [answer.json()] : before);
    }),
    RUNS,
  );
  empty(await write.delete(href));
});

test('any bytes as a body are refused, by every endpoint that reads one', async (context) => {
  const { acme, admin } = context;
  const snitch = await newSnitch(acme);
  const paths = ['/v1/snitches', '/v1/webhooks', '/v1/api_keys', `${snitch.href}/tags`] as const;
  const keys = await acme.read.get('/v1/api_keys');
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.constantFrom(...paths),
      async (bytes, path) => {
        isRefusal(await acme.write.ask('POST', path, { body: Buffer.from(bytes) }), path);
        isRefusal(await admin.ask('POST', '/v1/cases', { body: Buffer.from(bytes) }), path);
      },
    ),
    RUNS,
  );
  assert.equal(await list(context), [snitch]);
  assert.equal(ok(await acme.read.get('/v1/webhooks')), []);
  assert.is(ok<unknown[]>(keys).length, ok<unknown[]>(await acme.read.get('/v1/api_keys')).length);
  empty(await acme.write.delete(snitch.href));
});

test('one line of well-formed text is kept exactly as it is, and any tag can be found and removed', async ({
  acme,
}) => {
  const line = anyText({ minLength: 1, maxLength: 60 }).filter(
    (text) => !/\p{Cc}/u.test(text) && text.trim() !== '',
  );
  const { href } = await newSnitch(acme);
  await fc.assert(
    fc.asyncProperty(line, async (text) => {
      assert.is(ok<WireSnitch>(await acme.write.patch(href, { name: text, notes: text })).name, text);
      assert.equal(ok(await acme.write.post(`${href}/tags`, [text])), [text]);
      const encoded = encodeURIComponent(text);
      if (!text.includes(',')) {
        assert.is(ok<WireSnitch[]>(await acme.read.get(`/v1/snitches?tags=${encoded}`)).length, 1);
      }
      assert.equal(ok(await acme.write.delete(`${href}/tags/${encoded}`)), []);
    }),
    { ...RUNS, numRuns: cases(40) },
  );
  empty(await acme.write.delete(href));
});

test('any until pauses or is refused with 422', async (context) => {
  const { acme } = context;
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token);
  const digits = fc.integer({ min: -99, max: 99_999 });
  const times = fc
    .tuple(
      digits,
      digits,
      digits,
      digits,
      fc.constantFrom('Z', '', '+99:99', '-00:00', '+14', ' ', '[UTC]', 'z\0'),
    )
    .map(([year, month, day, hour, zone]) => `${year}-${month}-${day}T${hour}:00${zone}`);
  const dates = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  await fc.assert(
    fc.asyncProperty(fc.oneof(times, dates, nastyValue), async (until) => {
      const answer = await acme.write.post(`${href}/pause`, { until });
      if (answer.status === 204) {
        assert.is((await snitchNow(acme, token)).status, 'paused');
        empty(await acme.write.post(`${href}/unpause`));
      } else {
        invalidOn(answer, 'until');
      }
      assert.is((await snitchNow(acme, token)).status, 'healthy');
    }),
    RUNS,
  );
  empty(await acme.write.delete(href));
});

test('any path and query is answered, and nothing is changed', async (context) => {
  const { acme, nobody } = context;
  const piece = fc
    .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 })
    .map((pieces) => pieces.join(''));
  const prefix = fc.constantFrom(
    '/',
    '/v1/',
    '/v1/snitches/',
    '/v1/snitches?tags=',
    '/v1/alerts?before=',
    '/v1/deliveries?limit=',
  );
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
  await fc.assert(
    fc.asyncProperty(method, prefix, piece, async (verb, start, rest) => {
      for (const client of [acme.write, nobody]) {
        const { status } = await client.ask(verb, start + rest);
        assert.ok(status < 500, `${verb} ${start}${rest} ${status}`);
        if (client === nobody && start.startsWith('/v1/')) assert.is(status, 401, start + rest);
      }
    }),
    RUNS,
  );
  assert.equal(await list(context), []);
});

test('a check-in counts, whatever it says', async (context) => {
  const { acme, nobody } = context;
  const { token, href } = await newSnitch(acme);
  const name = fc.constantFrom('m', 's', 'rid', 'at', '__proto__', '%', '');
  const query = fc.array(fc.tuple(name, fc.constantFrom(...PIECES)), { maxLength: 5 }).map((pairs) =>
    pairs
      .map((pair) => pair.join('='))
      .join('&')
      .replaceAll('#', ''),
  );
  const body = fc.oneof(
    nastyBody,
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  );
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT');
  await fc.assert(
    fc.asyncProperty(method, query, body, fc.boolean(), async (verb, asked, said, chunked) => {
      const options: Asked = { body: said, chunked };
      const { status } = await nobody.ask(verb, `/c/${token}?${asked}`, options);
      assert.ok(status === 202 || (status === 200 && /rid/.test(asked)), `${status} ${asked}`);
      ok(await acme.read.get(`${href}/check_ins?limit=1`));
    }),
    RUNS,
  );
  empty(await acme.write.delete(href));
});

test('nesting is bounded: 32 levels are read, more are refused, and unclosed ones are malformed', async (context) => {
  const { write } = context.acme;
  const nested = (depth: number) => `{${VALID},"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  const { href } = ok<WireSnitch>(await write.ask('POST', '/v1/snitches', { body: nested(32) }));
  empty(await write.delete(href));
  for (const depth of [33, 100, 10_000, 32_000]) {
    invalidOn(await write.ask('POST', '/v1/snitches', { body: nested(depth) }), 'body');
  }
  for (const body of ['['.repeat(65_536), '{"a":'.repeat(13_000), `${'['.repeat(40)}${'}'.repeat(40)}`]) {
    malformed(await write.ask('POST', '/v1/snitches', { body }));
  }
  const text = `{${VALID},"notes":"${'[{'.repeat(100)}\\"${'['.repeat(100)}"}`;
  const quoted = ok<WireSnitch>(await write.ask('POST', '/v1/snitches', { body: text }));
  empty(await write.delete(quoted.href));
  assert.equal(await list(context), []);
});

test('if a field is repeated the last one counts, as everywhere', async ({ acme }) => {
  const body = '{"name":"first","interval":"never","name":"last","interval":"daily"}';
  const { name, interval, href } = ok<WireSnitch>(await acme.write.ask('POST', '/v1/snitches', { body }));
  assert.equal([name, interval], ['last', 'daily']);
  empty(await acme.write.delete(href));
});

test.run();
