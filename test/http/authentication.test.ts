import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey } from '../../src/api/wire.ts';
import { type Answer, basic } from './client.ts';
import { ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch } from './fixture.ts';
import { exchangeOne } from './raw.ts';

const test = suite<Fixture>('authentication');
test.before.each(hooks.start);
test.after.each(hooks.close);

function unauthorized(answer: Answer, about = ''): void {
  refused(answer, 401, 'api_key_invalid', about);
  assert.is(answer.headers['www-authenticate'], 'Basic realm="snitch"', about);
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('a key is the user name of HTTP Basic; the password is ignored', async ({ acme, nobody }) => {
  const key = acme.write.key ?? '';
  assert.match(key, /^snk_[0-9A-Za-z]{40}$/);
  const unpadded = base64(`${key}:`).replaceAll('=', '');
  const headers = [
    basic(key),
    basic(key, ':'),
    basic(key, 'password'),
    basic(key, 'pass:wörd:'),
    `Basic ${base64(key)}`,
    `Basic ${unpadded}`,
    `basic ${base64(`${key}:`)}`,
    `BASIC   ${base64(`${key}:x`)} `,
  ];
  for (const authorization of headers) {
    ok(await nobody.ask('GET', '/v1/snitches', { headers: { authorization } }));
  }
});

test('a missing or wrong key is answered 401, and told how to authenticate', async ({ acme, nobody }) => {
  const key = acme.write.key ?? '';
  const wrong = [
    undefined,
    '',
    'Basic',
    'Basic ',
    'Basic :',
    `Bearer ${key}`,
    `Bearer ${base64(`${key}:`)}`,
    key,
    `Basic ${key}`,
    base64(`${key}:`),
    basic(''),
    basic('', key),
    basic(key.slice(0, -1)),
    basic(`${key}x`),
    basic(` ${key}`),
    basic(`${key} `),
    basic(`${key}\0`),
    basic(key.toLowerCase()),
    basic(key.slice(4)),
    basic('snk_'),
    basic(`' OR 1=1 --`),
    basic('x'.repeat(8_000)),
    basic(`snk_${'0'.repeat(40)}`),
    basic('__proto__'),
  ];
  for (const authorization of wrong) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    for (const [method, path] of [
      ['GET', '/v1/snitches'],
      ['POST', '/v1/snitches'],
      ['GET', '/v1/cases'],
    ] as const) {
      unauthorized(await nobody.ask(method, path, { headers }), authorization);
    }
  }
});

test('base64 with junk in it is refused, and the junk not skipped', async ({ acme, nobody }) => {
  const encoded = base64(`${acme.write.key}:`);
  const junk = [
    `${encoded.slice(0, 4)}!!${encoded.slice(4)}`,
    `${encoded.slice(0, 4)} ${encoded.slice(4)}`,
    `${encoded.slice(0, 4)}=${encoded.slice(4)}`,
    `${encoded}, Basic ${encoded}`,
    `${encoded}===`,
    `"${encoded}"`,
    Buffer.from([0xff, 0xfe, 0x3a]).toString('base64'),
  ];
  for (const text of junk) {
    unauthorized(
      await nobody.ask('GET', '/v1/snitches', { headers: { authorization: `Basic ${text}` } }),
      text,
    );
  }
});

test('more than one Authorization header is refused, in whatever order they come', async ({
  acme,
  rival,
  port,
}) => {
  const [mine, theirs] = [basic(acme.write.key ?? ''), basic(rival.write.key ?? '')];
  for (const [first, second] of [
    [mine, mine],
    [mine, theirs],
    [theirs, mine],
    [mine, 'x'],
    ['x', mine],
  ]) {
    const head = `GET /v1/snitches HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const answer = await exchangeOne(
      port,
      `${head}Authorization: ${first}\r\nauthorization: ${second}\r\n\r\n`,
    );
    assert.is(answer.status, 401);
    assert.is(answer.headers['www-authenticate'], 'Basic realm="snitch"');
  }
});

test('a key in the query or in the body does not count', async ({ acme, nobody }) => {
  const key = acme.write.key ?? '';
  unauthorized(await nobody.get(`/v1/snitches?api_key=${key}`));
  unauthorized(await nobody.post('/v1/snitches', { api_key: key, name: 'n', interval: 'daily' }));
});

test('a key that was deleted is a wrong key at once', async ({ acme, nobody }) => {
  const made = ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: 'gone' }));
  const headers = { authorization: basic(made.key ?? '') };
  ok(await nobody.ask('GET', '/v1/snitches', { headers }));
  await acme.write.delete(`/v1/api_keys/${made.id}`);
  unauthorized(await nobody.ask('GET', '/v1/snitches', { headers }));
});

test('every path of the API needs a key, those that do not exist too', async ({ acme, nobody }) => {
  const { token } = await newSnitch(acme);
  const snitch = ['', '/tags', '/tags/x', '/pause', '/unpause', '/check_ins', '/alerts', '/nothing'];
  const paths = [
    ...snitch.map((rest) => `/v1/snitches/${token}${rest}`),
    '/v1/snitches',
    '/v1/snitches/',
    '/v1/case',
    '/v1/webhooks',
    '/v1/webhooks/x',
    '/v1/webhooks/x/test',
    '/v1/api_keys',
    '/v1/api_keys/x',
    '/v1/alerts',
    '/v1/deliveries',
    '/v1/deliveries/1/retry',
    '/v1/cases',
    `/v1/cases/${acme.id}`,
    `/v1/cases/${acme.id}/api_keys`,
    '/v1/maintenance',
    '/v1/nodes',
    '/v1/nothing',
    '/v1/%zz',
    '/v1/',
    `/v1/snitches/${'a'.repeat(6_000)}`,
    '/v1/snitches/%zz',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      unauthorized(await nobody.ask(method, path), `${method} ${path.slice(0, 60)}`);
    }
    assert.is((await nobody.ask('HEAD', path)).status, 401);
  }
});

test('the body of a refused request is not validated', async ({ nobody }) => {
  for (const body of ['{"name":', 'x'.repeat(1024 * 1024)]) {
    unauthorized(await nobody.ask('POST', '/v1/snitches', { body }));
  }
});

test.run();
