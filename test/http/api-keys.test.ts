import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey } from '../../src/api/wire.ts';
import { basic } from './client.ts';
import { blank, empty, invalid, invalidOn, ok, refused } from './expect.ts';
import { type Fixture, hooks, MINUTE } from './fixture.ts';

const test = suite<Fixture>('api keys');
test.before.each(hooks.start);
test.after.each(hooks.close);

const withKey = ({ nobody }: Fixture, key: string | undefined, path: string) =>
  nobody.ask('GET', path, { headers: { authorization: basic(key ?? '') } });

test('a new key is shown once, in the answer that makes it', async (context) => {
  const { acme, clock } = context;
  clock.now += MINUTE;
  const made = ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: 'cron hosts', scope: 'read' }));
  const { key, ...shown } = made;
  assert.match(key ?? '', /^snk_[0-9A-Za-z]{40}$/);
  assert.equal(shown, {
    id: shown.id,
    name: 'cron hosts',
    scope: 'read',
    created_at: '2026-11-18T10:21:30.123Z',
    last_used_at: null,
  });
  const answer = await acme.write.get('/v1/api_keys');
  const [first] = ok<WireApiKey[]>(answer);
  assert.equal(first, shown, 'newest first');
  assert.not.match(answer.text, key?.slice(4) ?? '');
  ok(await withKey(context, key, '/v1/snitches'));
});

test('the scope is write unless read is asked for', async (context) => {
  const { acme, nobody } = context;
  for (const scope of [undefined, 'write']) {
    const { key, scope: given } = ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: 'n', scope }));
    assert.is(given, 'write');
    const headers = { authorization: basic(key ?? '') };
    ok(await nobody.ask('POST', '/v1/snitches', { json: { name: 'n', interval: 'daily' }, headers }));
  }
});

test('a case lists its own keys, without the keys themselves', async ({ acme, rival }) => {
  const answer = await acme.read.get('/v1/api_keys');
  const names = ok<WireApiKey[]>(answer).map(({ name }) => name);
  assert.equal(names.sort(), ['read key', 'write key']);
  for (const { key } of [acme.write, acme.read, rival.write])
    assert.not.match(answer.text, key?.slice(4) ?? 'x');
  for (const item of ok<WireApiKey[]>(answer)) {
    assert.equal(Object.keys(item), ['id', 'name', 'scope', 'created_at', 'last_used_at']);
  }
});

test('last_used_at is the time of a use, noted at most once a minute', async ({ acme, clock }) => {
  const lastUse = async () => {
    await acme.write.get('/v1/snitches');
    // The use is recorded independently of the answer, so that a slow disk does not delay the answer.
    for (let tries = 0; tries < 50; tries += 1) await new Promise(setImmediate);
    const keys = ok<WireApiKey[]>(await acme.read.get('/v1/api_keys'));
    return keys.find(({ name }) => name === 'write key')?.last_used_at;
  };
  assert.is(await lastUse(), '2026-11-18T10:20:30.123Z');
  clock.now += MINUTE - 1;
  assert.is(await lastUse(), '2026-11-18T10:20:30.123Z');
  clock.now += 1;
  assert.is(await lastUse(), '2026-11-18T10:21:30.123Z');
});

test('DELETE ends a key at once', async (context) => {
  const { acme, rival } = context;
  const { id, key } = ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: 'n' }));
  refused(await rival.write.delete(`/v1/api_keys/${id}`), 404, 'resource_not_found');
  ok(await withKey(context, key, '/v1/snitches'));
  empty(await acme.write.delete(`/v1/api_keys/${id}`));
  refused(await withKey(context, key, '/v1/snitches'), 401, 'api_key_invalid');
  refused(await acme.write.delete(`/v1/api_keys/${id}`), 404, 'resource_not_found');
  assert.is(ok<WireApiKey[]>(await acme.write.get('/v1/api_keys')).length, 2);
});

test('a key cannot delete itself, so that a case is not locked out', async ({ acme }) => {
  const own = ok<WireApiKey[]>(await acme.write.get('/v1/api_keys')).find(({ scope }) => scope === 'write');
  invalidOn(await acme.write.delete(`/v1/api_keys/${own?.id}`), 'id');
  ok(await acme.write.get('/v1/snitches'));
});

test('name and scope are checked', async ({ acme }) => {
  for (const name of [undefined, null, '', ' ']) {
    invalid(await acme.write.post('/v1/api_keys', { name }), blank('name'));
  }
  invalid(await acme.write.post('/v1/api_keys'), blank('name'));
  for (const name of [5, [], {}, 'a\nb', 'a\u0000', 'n'.repeat(256)]) {
    invalidOn(await acme.write.post('/v1/api_keys', { name }), 'name');
  }
  for (const scope of ['admin', 'all', '', null, 5, ['read']]) {
    invalidOn(await acme.write.post('/v1/api_keys', { name: 'n', scope }), 'scope');
  }
  assert.is(ok<WireApiKey[]>(await acme.write.get('/v1/api_keys')).length, 2);
});

test('what a client says of id, key or times is ignored', async ({ acme }) => {
  const given = {
    name: 'n',
    id: 'mine',
    key: 'snk_mine',
    case_id: 'x',
    last_used_at: '2020-01-01T00:00:00.000Z',
  };
  const made = ok<WireApiKey>(await acme.write.post('/v1/api_keys', given));
  assert.not.equal(made.id, 'mine');
  assert.not.equal(made.key, 'snk_mine');
  assert.is(made.last_used_at, null);
});

test('an admin key manages the keys of the server, and of any case below it', async (context) => {
  const { admin, acme } = context;
  const server = ok<WireApiKey[]>(await admin.get('/v1/api_keys'));
  assert.equal(
    server.map(({ scope }) => scope),
    ['admin'],
  );
  const second = ok<WireApiKey>(await admin.post('/v1/api_keys', { name: 'second admin' }));
  assert.is(second.scope, 'admin');
  ok(await withKey(context, second.key, '/v1/cases'));
  for (const scope of ['read', 'write', '', 5]) {
    invalidOn(await admin.post('/v1/api_keys', { name: 'n', scope }), 'scope');
  }
  empty(await admin.delete(`/v1/api_keys/${second.id}`));
  refused(await withKey(context, second.key, '/v1/cases'), 401, 'api_key_invalid');
  const path = `/v1/cases/${acme.id}/api_keys`;
  const made = ok<WireApiKey>(await admin.post(path, { name: 'for Acme', scope: 'read' }));
  assert.match(made.key ?? '', /^snk_/);
  assert.equal(ok<{ id: string }>(await withKey(context, made.key, '/v1/case')).id, acme.id);
  const listed = await admin.get(path);
  assert.is(ok<WireApiKey[]>(listed).length, 3);
  assert.not.match(listed.text, '"key"');
  invalidOn(await admin.post(path, { name: 'n', scope: 'admin' }), 'scope');
  invalid(await admin.post(path, {}), blank('name'));
  refused(await admin.post('/v1/cases/unknown/api_keys', { name: 'n' }), 404, 'resource_not_found');
  refused(await admin.get('/v1/cases/unknown/api_keys'), 404, 'resource_not_found');
});

test.run();
