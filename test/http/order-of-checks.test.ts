/** `decisions: Order of checks`: 401, 429, 402 on hold, 404, 400, 402 plan limit, 422; each beside all that follow. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/http/endpoint/rate-limit.ts';
import type { Client } from './client.ts';
import { invalidOn, malformed, ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch, startFixture } from './fixture.ts';

const test = suite<Fixture>('order of checks');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** What is wrong with a request beyond its key and its case, from what is told first to what is told last. */
const FAULTS = {
  'unknown path': ['POST', '/v1/nothing', '{"name":'],
  'unknown token': ['PATCH', '/v1/snitches/unknown', '{"name":'],
  'malformed JSON': ['POST', '/v1/snitches', '{"name":'],
  'plan limit': ['POST', '/v1/snitches', '{}'],
} as const;

async function send(client: Client, [method, path, body]: readonly [string, string, string]) {
  return client.ask(method, path, { body });
}

/** Makes the case full, and puts it on hold where that is wanted. */
async function restrict({ acme, admin }: Fixture, on_hold: boolean): Promise<void> {
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: 0, on_hold }));
}

test('401 comes before everything', async (context) => {
  await restrict(context, true);
  for (const fault of Object.values(FAULTS))
    refused(await send(context.nobody, fault), 401, 'api_key_invalid');
});

test('429 comes before all but 401', async () => {
  const limiter = new RateLimiter({ perMinute: 1, burst: 1, blockS: 60 });
  const limited = await startFixture({ limiter });
  await restrict(limited, true);
  refused(await limited.acme.write.get('/v1/snitches'), 402, 'account_on_hold');
  for (const [about, fault] of Object.entries(FAULTS)) {
    refused(await send(limited.acme.write, fault), 429, 'rate_limited', about);
    refused(await send(limited.nobody, fault), 401, 'api_key_invalid', about);
  }
  await limited.close();
});

test('402 account_on_hold comes before 404, 400, 402 plan_limit_reached and 422', async (context) => {
  await restrict(context, true);
  for (const [about, fault] of Object.entries(FAULTS)) {
    refused(await send(context.acme.write, fault), 402, 'account_on_hold', about);
  }
  refused(await context.acme.write.put('/v1/snitches', {}), 402, 'account_on_hold');
});

test('404 comes before 400 and 422', async ({ acme, admin }) => {
  for (const body of ['{"name":', '[]', '{"name":"","until":"never","scope":"x","url":5}']) {
    for (const [method, path] of [
      ['POST', '/v1/nothing'],
      ['PATCH', '/v1/snitches/unknown'],
      ['POST', '/v1/snitches/unknown/tags'],
      ['POST', '/v1/snitches/unknown/pause'],
      ['POST', '/v1/snitches/unknown/unpause'],
    ] as const) {
      refused(await acme.write.ask(method, path, { body }), 404, 'resource_not_found', path);
    }
    refused(await admin.ask('PATCH', '/v1/cases/unknown', { body }), 404, 'resource_not_found');
    refused(await admin.ask('POST', '/v1/cases/unknown/api_keys', { body }), 404, 'resource_not_found');
  }
});

test('400 comes before 402 plan_limit_reached', async (context) => {
  await restrict(context, false);
  malformed(await send(context.acme.write, FAULTS['malformed JSON']));
  malformed(await context.acme.write.ask('POST', '/v1/snitches', { body: '['.repeat(100) }));
});

test('400 comes before 422, for a snitch that cannot be paused too', async ({ acme }) => {
  const { href } = await newSnitch(acme);
  malformed(await acme.write.ask('POST', `${href}/pause`, { body: '{"until":"never"' }));
  invalidOn(await acme.write.post(`${href}/pause`), 'status');
});

test('402 plan_limit_reached comes before 422', async (context) => {
  await restrict(context, false);
  const deep = '['.repeat(100) + ']'.repeat(100);
  for (const body of ['{}', '', '[]', 'null', '{"name":"","interval":"never"}', `{"a":${deep}}`]) {
    refused(await context.acme.write.ask('POST', '/v1/snitches', { body }), 402, 'plan_limit_reached', body);
  }
});

test('at the plan limit everything but create goes on, and a deletion makes room', async (context) => {
  const { acme, admin } = context;
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: 2 }));
  const [one, two] = [await newSnitch(acme), await newSnitch(acme)];
  const valid = { name: 'n', interval: 'daily' };
  refused(await acme.write.post('/v1/snitches', valid), 402, 'plan_limit_reached');
  ok(await acme.write.patch(one.href, { name: 'still' }));
  assert.is((await acme.write.delete(two.href)).status, 204);
  ok(await acme.write.post('/v1/snitches', valid));
  refused(await acme.write.post('/v1/snitches', valid), 402, 'plan_limit_reached');
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: null }));
  ok(await acme.write.post('/v1/snitches', valid));
});

test('requests at the same time do not slip past the plan limit', async ({ acme, admin }) => {
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: 3 }));
  const requests = Array.from({ length: 12 }, () =>
    acme.write.post('/v1/snitches', { name: 'n', interval: 'daily' }),
  );
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  assert.is(statuses.filter((status) => status === 200).length, 3);
  assert.is(statuses.filter((status) => status === 402).length, 9);
});

test('an account on hold is told so everywhere, and served again afterwards', async (context) => {
  const { acme, rival, admin } = context;
  const { href } = await newSnitch(acme);
  await restrict(context, true);
  for (const path of [
    '/v1/snitches',
    href,
    '/v1/case',
    '/v1/webhooks',
    '/v1/api_keys',
    '/v1/alerts',
    '/v1/deliveries',
  ]) {
    refused(await acme.write.get(path), 402, 'account_on_hold', path);
    refused(await acme.read.get(path), 402, 'account_on_hold', path);
  }
  ok(await rival.write.get('/v1/snitches'));
  ok(await admin.get('/v1/cases'));
  await restrict(context, false);
  ok(await acme.write.get(href));
});

test.run();
