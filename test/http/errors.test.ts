/** Errors that have nothing to do with one noun: paths, methods, bodies, a store that refuses (`spec §7`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireError } from '../../src/api/wire.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import type { Store } from '../store/acting.ts';
import type { Answer } from './client.ts';
import { empty, invalid, malformed, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, startFixture } from './fixture.ts';

const test = suite<Fixture>('errors');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('in an outage some refused calls have a line in the log, and the others are counted', async ({
  acme,
  admin,
  logged,
}) => {
  ok(await admin.put('/v1/maintenance', { enabled: true }));
  for (let index = 0; index < 40; index += 1)
    refused(await acme.read.get('/v1/snitches'), 503, 'service_unavailable');
  const lines = logged.filter(({ msg }) => msg === 'answered 503');
  assert.is(lines.length, 10);
  logged.length = 0;
  ok(await admin.put('/v1/maintenance', { enabled: false }));
});

test('any other path is not found', async ({ acme, nobody, admin }) => {
  for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1//snitches', '/v1/Snitches', '/v1/%zz']) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      refused(await acme.write.ask(method, path), 404, 'resource_not_found', path);
    }
    refused(await admin.get(path), 404, 'resource_not_found', path);
  }
  for (const path of ['/', '/v2/snitches', '/snitches', '/c', '/%zz', '/healthz/x', '/favicon.ico', '/v1x']) {
    refused(await nobody.get(path), 404, 'resource_not_found', path);
  }
});

test('whoever opens the address in a browser reads what is there instead of pages', async ({ nobody }) => {
  const answer = await nobody.get('/');
  refused(answer, 404, 'resource_not_found');
  for (const word of ['`snitch dashboard`', '/v1', '/openapi.json'])
    assert.match(answer.json<WireError>().error, word);
});

test('a path that exists answers any other method with 405 and those that it has', async (context) => {
  const { acme, admin } = context;
  const { href } = await newSnitch(acme);
  const allowed: [string, string][] = [
    ['/v1/snitches', 'GET, POST, HEAD'],
    ['/v1/snitches/', 'GET, POST, HEAD'],
    [href, 'GET, PATCH, DELETE, HEAD'],
    [`${href}/tags`, 'POST'],
    [`${href}/tags/a`, 'DELETE'],
    [`${href}/pause`, 'POST'],
    [`${href}/unpause`, 'POST'],
    [`${href}/check_ins`, 'GET, HEAD'],
    [`${href}/alerts`, 'GET, HEAD'],
    ['/v1/alerts', 'GET, HEAD'],
    ['/v1/case', 'GET, PATCH, HEAD'],
    ['/v1/webhooks', 'GET, POST, HEAD'],
    ['/v1/webhooks/x/test', 'POST'],
    ['/v1/api_keys', 'GET, POST, HEAD'],
    ['/v1/api_keys/x', 'DELETE'],
    ['/v1/deliveries', 'GET, HEAD'],
    ['/v1/deliveries/1/retry', 'POST'],
    ['/v1/cases', 'GET, POST, HEAD'],
    ['/v1/cases/x', 'GET, PATCH, DELETE, HEAD'],
    ['/v1/cases/x/api_keys', 'GET, POST, HEAD'],
    ['/v1/maintenance', 'GET, PUT, HEAD'],
    ['/v1/nodes', 'GET, HEAD'],
    ['/healthz', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
  ];
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE'];
  for (const [path, allow] of allowed) {
    for (const method of methods.filter((name) => !allow.split(', ').includes(name))) {
      for (const client of [acme.write, acme.read, admin]) {
        const answer = await client.ask(method, path, method === 'TRACE' ? {} : { body: '{"x":' });
        refused(answer, 405, 'method_not_allowed', `${method} ${path}`);
        assert.is(answer.headers.allow, allow, `${method} ${path}`);
        assert.match(answer.json<WireError>().error, `${method} is not possible here; possible: ${allow}.`);
      }
    }
  }
});

test('HEAD is answered wherever GET is, at once and without a body', async ({ acme, admin, nobody }) => {
  const { href } = await newSnitch(acme);
  const own = ['/v1/snitches', href, `${href}/check_ins`, `${href}/alerts`, `${href}/explain`, '/v1/case'];
  const lists = ['/v1/alerts', '/v1/webhooks', '/v1/api_keys', '/v1/deliveries', '/v1/stream'];
  const requests: [Fixture['nobody'], string[]][] = [
    [acme.read, [...own, ...lists]],
    [admin, ['/v1/cases', `/v1/cases/${acme.id}`, '/v1/api_keys', '/v1/maintenance']],
    [nobody, ['/healthz', '/readyz', '/metrics']],
  ];
  for (const [client, paths] of requests) {
    for (const path of paths) {
      const { status, text } = await client.ask('HEAD', path);
      assert.equal([status, text], [200, ''], path);
    }
  }
});

test('malformed JSON is answered 400 with no body at all', async ({ acme, admin }) => {
  const { href } = await newSnitch(acme);
  const bodies: (string | Buffer)[] = [
    '{',
    '{"name":"n",}',
    "{'name':'n'}",
    '{name:"n"}',
    '{"name":"n"}}',
    '{"name":"n"} x',
    'name=n',
    'undefined',
    'NaN',
    '[1,]',
    '"open',
    '\u0000',
    '{"a":01}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '\\',
    '// x',
    '<xml/>',
    Buffer.from('{"name":"\xff"}', 'latin1'),
    Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
    Buffer.from([0xc0, 0x80]),
  ];
  const requests: [Fixture['nobody'], string, string][] = [
    [acme.write, 'POST', '/v1/snitches'],
    [acme.write, 'PATCH', href],
    [acme.write, 'POST', `${href}/tags`],
    [acme.write, 'POST', `${href}/pause`],
    [acme.write, 'PATCH', '/v1/case'],
    [acme.write, 'POST', '/v1/webhooks'],
    [acme.write, 'POST', '/v1/api_keys'],
    [admin, 'POST', '/v1/cases'],
    [admin, 'PATCH', `/v1/cases/${acme.id}`],
    [admin, 'POST', `/v1/cases/${acme.id}/api_keys`],
    [admin, 'PUT', '/v1/maintenance'],
  ];
  for (const [client, method, path] of requests) {
    for (const body of bodies) malformed(await client.ask(method, path, { body }));
  }
});

test('JSON of the wrong shape is answered 422 on body', async ({ acme, admin }) => {
  const { href } = await newSnitch(acme);
  const requests: [Fixture['nobody'], string, string][] = [
    [acme.write, 'POST', '/v1/snitches'],
    [acme.write, 'PATCH', href],
    [acme.write, 'PATCH', '/v1/case'],
    [acme.write, 'POST', '/v1/webhooks'],
    [acme.write, 'POST', '/v1/api_keys'],
    [admin, 'POST', '/v1/cases'],
    [admin, 'PATCH', `/v1/cases/${acme.id}`],
    [admin, 'PUT', '/v1/maintenance'],
  ];
  for (const [client, method, path] of requests) {
    for (const json of [[], [{ name: 'n', interval: 'daily' }], 'text', 5, true, false, null]) {
      const answer = await client.ask(method, path, { json });
      invalid(answer, { attribute: 'body', message: 'must be a JSON object' });
    }
  }
});

test('a body is JSON whatever its Content-Type says', async ({ acme }) => {
  const body = '{"name":"n","interval":"daily","tags":["größe"]}';
  for (const type of [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'garbage',
    'a/b;c',
    '',
  ]) {
    const headers = { 'content-type': type };
    ok(await acme.write.ask('POST', '/v1/snitches', { body, headers }));
    malformed(await acme.write.ask('POST', '/v1/snitches', { body: 'name=n', headers }));
  }
  const made = ok<{ tags: string[] }>(await acme.write.ask('POST', '/v1/snitches', { body }));
  assert.equal(made.tags, ['größe']);
  ok(await acme.write.ask('POST', '/v1/snitches', { body: `\ufeff ${body}\n`, chunked: true }));
});

test('a body where none is wanted is ignored, however large or broken', async (context) => {
  const { acme } = context;
  const headers = { 'content-type': 'application/json' };
  for (const body of ['{"x":', 'x'.repeat(1024 * 1024)]) {
    for (const chunked of [false, true]) {
      const snitch = await newSnitch(acme, { tags: ['a'] });
      await checkIn(context, snitch.token);
      const asked = { body, headers, chunked };
      ok(await acme.write.ask('GET', '/v1/snitches', asked));
      ok(await acme.write.ask('GET', snitch.href, asked));
      ok(await acme.write.ask('DELETE', `${snitch.href}/tags/a`, asked));
      empty(await acme.write.ask('POST', `${snitch.href}/unpause`, asked));
      empty(await acme.write.ask('DELETE', snitch.href, asked));
    }
  }
});

test('a store that cannot write is told with 503 and Retry-After', async () => {
  const refuse = () => Promise.reject(new StoreUnavailable(new Error('disk full')));
  await using full = await startFixture({
    through: (store) => ({ ...store, ...refusing(refuse) }),
  });
  const { acme, admin } = full;
  const snitch = await full.store.createSnitch(acme.id, FIELDS, full.clock.now);
  const path = `/v1/snitches/${snitch.token}`;
  const answers: Answer[] = [
    await acme.write.post('/v1/snitches', { name: 'n', interval: 'daily' }),
    await acme.write.patch(path, { name: 'x' }),
    await acme.write.post(`${path}/tags`, ['x']),
    await acme.write.delete(`${path}/tags/x`),
    await acme.write.post(`${path}/unpause`),
    await acme.write.delete(path),
    await acme.write.patch('/v1/case', { name: 'x' }),
    await admin.put('/v1/maintenance', { enabled: true }),
  ];
  for (const answer of answers) {
    refused(answer, 503, 'service_unavailable');
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  }
  ok(await acme.write.get(path));
});

const FIELDS: Parameters<Store['createSnitch']>[1] = {
  name: 'n',
  notes: '',
  tags: [],
  alertEmail: [],
  interval: 'daily',
  alertType: 'basic',
};

function refusing(refuse: () => Promise<never>): Partial<Store> {
  return {
    createSnitch: refuse,
    updateSnitch: refuse,
    addTags: refuse,
    removeTag: refuse,
    unpauseSnitch: refuse,
    deleteSnitch: refuse,
    updateCase: refuse,
    setMaintenance: refuse,
    recordKeyUse: refuse,
  };
}

test('what is not foreseen is answered 500 without internals, under an id that the log has too', async () => {
  await using broken = await startFixture({
    through: (store) => ({ ...store, getSnitch: () => Promise.reject(new TypeError('secret detail')) }),
  });
  const answer = await broken.acme.write.get('/v1/snitches/x');
  refused(answer, 500, 'internal_error');
  assert.not.match(answer.text, /secret|TypeError|at /);
  const id = String(answer.headers['x-request-id']);
  assert.ok(answer.json<{ error: string }>().error.includes(id));
  assert.ok(JSON.stringify(broken.logged).includes(id));
  broken.logged.length = 0;
});

test.run();
