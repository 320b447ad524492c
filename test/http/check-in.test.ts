/** The check-in address and its answers (`decisions: Check-in`); for parameters see check-in-parameters. */
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { ending } from '../closing.ts';
import { until } from '../until.ts';
import type { Answer } from './client.ts';
import { ok } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, snitchNow, startFixture, withFixture } from './fixture.ts';
import { exchangeOne } from './raw.ts';

const test = suite<Fixture>('check-in');
test.before.each(hooks.start);
test.after.each(hooks.close);

function thanked(answer: Answer, about = ''): void {
  assert.is(answer.status, 202, about);
  assert.is(answer.text, 'Got it, thanks!\n');
  assert.is(answer.headers['content-type'], 'text/plain; charset=utf-8');
  assert.is(answer.headers['cache-control'], 'no-store');
  assert.is(answer.headers['content-length'], '16');
}

function told(answer: Answer, status: number): void {
  assert.is(answer.status, status, answer.text);
  assert.is(answer.headers['content-type'], 'text/plain; charset=utf-8');
  assert.is(answer.headers['cache-control'], 'no-store');
  assert.match(answer.text, /^[A-Z][^{}]+\.\n$/);
}

async function log({ acme }: Fixture, token: string): Promise<WireCheckIn[]> {
  return ok(await acme.read.get(`/v1/snitches/${token}/check_ins`));
}

test('GET, POST and PUT are thanked in text with 202; HEAD the same without a body', async (context) => {
  const { acme, nobody } = context;
  for (const method of ['GET', 'POST', 'PUT']) {
    const { token } = await newSnitch(acme);
    thanked(await nobody.ask(method, `/c/${token}`), method);
    assert.is((await snitchNow(acme, token)).status, 'healthy');
  }
  const { token } = await newSnitch(acme);
  const head = await nobody.ask('HEAD', `/c/${token}`);
  assert.is(head.status, 202);
  assert.is(head.text, '');
  assert.is(head.headers['content-type'], 'text/plain; charset=utf-8');
  assert.is(head.headers['content-length'], '16');
  assert.is((await snitchNow(acme, token)).status, 'healthy');
});

test('is counted when it is answered, at the time it came and from where', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token, '?m=first');
  clock.now += 1_500;
  await checkIn(context, token, '?s=3&m=second');
  const [second, first] = await log(context, token);
  assert.equal(first, {
    id: first?.id,
    at: '2026-11-18T10:20:30.123Z',
    outcome: 'healthy',
    exit_status: null,
    message: 'first',
    duration_ms: null,
    source: '127.0.0.1',
    output: null,
    values: null,
    dropped_values: [],
    reason: null,
  });
  assert.equal(
    [second?.at, second?.outcome, second?.exit_status, second?.message],
    ['2026-11-18T10:20:31.623Z', 'error', 3, 'second'],
  );
});

test('needs no key, and a key makes no difference', async ({ acme, rival, admin }) => {
  const { token } = await newSnitch(acme);
  for (const client of [acme.write, acme.read, rival.write, admin]) thanked(await client.get(`/c/${token}`));
  thanked(await acme.write.ask('GET', `/c/${token}`, { headers: { authorization: 'Basic nonsense' } }));
});

test('one trailing slash is tolerated', async ({ acme, nobody }) => {
  const { token } = await newSnitch(acme);
  for (const path of [`/c/${token}/`, `/c/${token}/?m=x`, `/c/${token}?`]) {
    thanked(await nobody.get(path), path);
  }
  assert.is((await nobody.get(`/c/${token}/log/`)).status, 200);
});

test('an unknown token is answered 404 in text', async ({ acme, nobody }) => {
  const { token } = await newSnitch(acme);
  const paths = [
    '/c/aaaaaaaaaaaaaaaaaaaaaaaaaa',
    `/c/${token}x`,
    `/c/${token.toUpperCase()}`,
    '/c/%00',
    '/c/%F0',
  ];
  const suffixes = ['/start', '/fail', '/log', '/0', '/1'].map((suffix) => `/c/nobody${suffix}`);
  for (const path of [...paths, ...suffixes, '/c/', '/c/%zz', `/c/${'a'.repeat(8_000)}`, '/c/__proto__']) {
    for (const method of ['GET', 'POST', 'PUT']) told(await nobody.ask(method, path), 404);
    const head = await nobody.ask('HEAD', path);
    assert.is(head.status, 404);
    assert.is(head.text, '');
  }
  for (const suffix of ['/stop', '/256', '/-1', '/1.5', '/1e2', '/start/x', '/0x1', '/Start', '/%31%32']) {
    told(await nobody.get(`/c/${token}${suffix}`), 404);
  }
  assert.is((await snitchNow(acme, token)).status, 'pending');
});

test('a token with encoded bytes is the same token', async ({ acme, nobody }) => {
  const { token } = await newSnitch(acme);
  const encoded = [...token].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
  thanked(await nobody.get(`/c/${encoded}`));
});

test('any other method is answered 405 with the four that exist', async ({ acme, nobody }) => {
  const { token } = await newSnitch(acme);
  for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
    const answer = await nobody.ask(method, `/c/${token}`);
    told(answer, 405);
    assert.is(answer.headers.allow, 'GET, HEAD, POST, PUT');
  }
  assert.is((await snitchNow(acme, token)).status, 'pending');
});

test('frequent repeats are never refused', async (context) => {
  const { acme, nobody } = context;
  const { token } = await newSnitch(acme);
  const answers = await Promise.all(Array.from({ length: 300 }, () => nobody.get(`/c/${token}`)));
  for (const answer of answers) thanked(answer);
  assert.is((await log(context, token)).length, 100, 'a page of them');
});

test('goes on when the case is on hold', async ({ acme, nobody, admin }) => {
  const { token } = await newSnitch(acme);
  ok(await admin.patch(`/v1/cases/${acme.id}`, { on_hold: true }));
  thanked(await nobody.get(`/c/${token}`));
});

test('on a case without error notices, s is recorded and the check-in counts as healthy', async (context) => {
  const { acme, admin } = context;
  ok(await admin.patch(`/v1/cases/${acme.id}`, { error_notices: false }));
  const { token } = await newSnitch(acme);
  for (const path of ['?s=7', '/fail', '/7']) {
    context.clock.now += 1_000;
    await checkIn(context, token, path);
    const snitch = await snitchNow(acme, token);
    assert.is(snitch.status, 'healthy');
    assert.is(snitch.checked_in_at, new Date(context.clock.now).toISOString());
  }
  assert.equal(
    (await log(context, token)).map(({ exit_status }) => exit_status),
    [7, null, 7],
  );
});

test('a client that goes away in the middle of its body has checked in', async (context) => {
  const { acme, port } = context;
  for (const length of ['Content-Length: 5000', 'Transfer-Encoding: chunked']) {
    const { token } = await newSnitch(acme);
    await using socket = ending(connect(port, '127.0.0.1'), (one) => one.destroy());
    const part = length.startsWith('C') ? 'half of it' : 'a\r\nhalf of it\r\n';
    const sent = `POST /c/${token} HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n${part}`;
    // On a busy host connecting may take long, and whatever is not written by then is never sent.
    await new Promise<unknown>((resolve) => socket.write(sent, resolve));
    await new Promise((resolve) => setTimeout(resolve, 30));
    socket.destroy();
    await until(async () => (await snitchNow(acme, token)).status === 'healthy');
    assert.is((await log(context, token))[0]?.output, 'half of it');
  }
});

test('HTTP/1.0 is answered', async ({ acme, port }) => {
  const { token } = await newSnitch(acme);
  assert.is((await exchangeOne(port, `GET /c/${token} HTTP/1.0\r\n\r\n`)).status, 202);
});

test('while the store refuses, the answer is 503 with Retry-After, never a success', async () => {
  const refusal = new StoreUnavailable(new Error('disk full'));
  await using refusing = await startFixture({
    through: (store) => ({ ...store, applyCheckIn: () => Promise.reject(refusal) }),
  });
  const { token } = await newSnitch(refusing.acme);
  for (const method of ['GET', 'POST', 'PUT', 'HEAD']) {
    const answer = await refusing.nobody.ask(method, `/c/${token}/start`);
    if (method === 'HEAD') assert.is(answer.status, 503);
    else told(answer, 503);
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  }
  assert.is((await snitchNow(refusing.acme, token)).status, 'pending');
  assert.ok(refusing.logged.every(({ level }) => level === 40));
  assert.is(refusing.logged.length, 4, 'each is logged once');
});

test('can be at the root, beside the API', async () => {
  await withFixture({ checkInPath: '' }, async (rooted) => {
    const { token } = await newSnitch(rooted.acme);
    thanked(await rooted.nobody.get(`/${token}`));
    assert.is((await rooted.nobody.get(`/${token}/start`)).status, 200);
    told(await rooted.nobody.get('/unknown'), 404);
    assert.is((await rooted.nobody.get('/healthz')).status, 200);
    assert.is((await rooted.nobody.get('/v1/snitches')).status, 401);
  });
});

test.run();
