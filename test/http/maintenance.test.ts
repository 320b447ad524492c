/** Maintenance answers every other API call with 503; check-ins and alerts go on. And whether the server lives. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert } from '../../src/api/wire.ts';
import { invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch, snitchNow, sweep, withFixture } from './fixture.ts';

const test = suite<Fixture>('maintenance and health');
test.before.each(hooks.start);
test.after.each(hooks.close);

const switched = async ({ admin }: Fixture, enabled: boolean) =>
  assert.equal(ok(await admin.put('/v1/maintenance', { enabled })), { enabled });

test('every API call but the switch itself is answered 503 with Retry-After', async (context) => {
  const { acme, admin, nobody } = context;
  const { href } = await newSnitch(acme);
  assert.equal(ok(await admin.get('/v1/maintenance')), { enabled: false });
  await switched(context, true);
  await switched(context, true);
  assert.equal(ok(await admin.get('/v1/maintenance')), { enabled: true });
  const requests: [Fixture['nobody'], string, string][] = [
    [acme.write, 'GET', '/v1/snitches'],
    [acme.write, 'POST', '/v1/snitches'],
    [acme.write, 'DELETE', href],
    [acme.write, 'PATCH', `${href}`],
    [acme.write, 'POST', `${href}/pause`],
    [acme.read, 'GET', '/v1/case'],
    [acme.write, 'GET', '/v1/nothing'],
    [acme.write, 'PUT', '/v1/snitches'],
    [admin, 'GET', '/v1/cases'],
    [admin, 'POST', '/v1/api_keys'],
  ];
  for (const [client, method, path] of requests) {
    const answer = await client.ask(method, path, { body: '{' });
    refused(answer, 503, 'service_unavailable', `${method} ${path}`);
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  }
  assert.is((await acme.read.ask('HEAD', '/v1/snitches')).status, 503);
  refused(await nobody.get('/v1/snitches'), 401, 'api_key_invalid');
  await switched(context, false);
  ok(await acme.write.get(href));
});

test('check-ins and alerts go on', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await switched(context, true);
  await checkIn(context, token);
  clock.now += 3 * HOUR;
  await sweep(context);
  await switched(context, false);
  assert.is((await snitchNow(acme, token)).status, 'failed');
  const types = ok<WireAlert[]>(await acme.read.get('/v1/alerts')).map(({ type }) => type);
  assert.equal(types, ['snitch.missing', 'snitch.reporting']);
});

test('the switch takes true or false', async ({ admin }) => {
  for (const enabled of [undefined, null, 'true', 'on', 0, 1, [], {}]) {
    invalidOn(await admin.put('/v1/maintenance', { enabled }), 'enabled');
  }
  invalidOn(await admin.ask('PUT', '/v1/maintenance'), 'enabled');
  assert.equal(ok(await admin.get('/v1/maintenance')), { enabled: false });
});

test('health needs no key, and goes on during maintenance', async (context) => {
  const { nobody, acme } = context;
  await switched(context, true);
  for (const client of [nobody, acme.read]) {
    assert.equal(ok(await client.get('/healthz')), { status: 'ok' });
    assert.equal(ok(await client.get('/readyz')), { status: 'ready' });
  }
  for (const path of ['/healthz/', '/readyz?x=1']) ok(await nobody.get(path));
  assert.is((await nobody.ask('HEAD', '/healthz')).status, 200);
  const answer = await nobody.ask('GET', '/healthz', { headers: { authorization: 'junk' } });
  assert.is(answer.status, 200);
});

test('a server that cannot do its work is alive and not ready, and says why', async ({
  nobody,
  problems,
}) => {
  problems.push('the store cannot write');
  ok(await nobody.get('/healthz'));
  const answer = await nobody.get('/readyz');
  assert.is(answer.status, 503);
  assert.equal(answer.json(), { status: 'not ready', problems: ['the store cannot write'] });
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  problems.length = 0;
  ok(await nobody.get('/readyz'));
});

test('a server that only has not finished its start asks for a second', async ({ nobody, problems }) => {
  problems.push('the store cannot write');
  const asked = async (of: Pick<Fixture, 'nobody'>) =>
    (await of.nobody.get('/readyz')).headers['retry-after'];
  const usual = Number(await asked({ nobody }));
  await withFixture({ isStarting: true }, async (other) => {
    other.problems.push('the daemon is starting');
    const short = Number(await asked(other));
    assert.ok(short > 0 && short <= 2 && short < usual, `${short} of ${usual}`);
  });
});

test('a server that is busy behind its work is ready, and says with what', async ({
  nobody,
  problems,
  progress,
}) => {
  progress.push('checking the database');
  assert.equal(ok(await nobody.get('/readyz')), { status: 'ready', progress: ['checking the database'] });
  problems.push('the store cannot write');
  assert.equal((await nobody.get('/readyz')).json(), {
    status: 'not ready',
    problems: ['the store cannot write'],
    progress: ['checking the database'],
  });
});

test.run();
