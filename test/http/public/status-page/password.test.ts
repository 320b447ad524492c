/** A status page with a password: nothing is told before it was shown. Time limit: 120 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Guesses } from '../../../../src/http/public/status-page/guesses.ts';
import { basic } from '../../client.ts';
import { blank, invalid, ok } from '../../expect.ts';
import { type Fixture, hooks, newSnitch, startFixture } from '../../fixture.ts';
import { put } from './page.ts';

const test = suite<Fixture>('a status page with a password');
test.before.each(hooks.start);
test.after.each(hooks.close);

const PASSWORD = 'correct horse: battery';
const DAY = 24 * 3_600_000;

async function closed(context: Fixture) {
  await newSnitch(context.acme, { name: 'the-job', tags: ['public'] });
  return put(context, { title: 'Our title', password: PASSWORD, announcement: 'For us alone' });
}

function logIn({ nobody }: Fixture, password: string, headers: Record<string, string> = {}) {
  return nobody.ask('POST', '/s/acme', { body: new URLSearchParams({ password }).toString(), headers });
}

const cookieOf = (header: string[] | undefined) => (header ?? [])[0]?.split(';')[0] ?? '';

test('without the password nothing is told about the page, and behind it caches keep nothing', async (context) => {
  const { nobody } = context;
  await closed(context);
  for (const path of ['/s/acme', '/s/acme.json', '/s/acme/feed.xml']) {
    const { status, text, headers } = await nobody.get(path);
    assert.is(status, 401);
    assert.not.match(`${text}${JSON.stringify(headers)}`, /Our title|the-job|us alone|Acme/);
    assert.is(headers['cache-control'], 'no-store');
    const right = await nobody.ask('GET', path, { headers: { authorization: basic('anybody', PASSWORD) } });
    if (path === '/s/acme') continue;
    assert.equal([right.status, right.headers['cache-control']], [200, 'private, no-store']);
    assert.match(right.text, 'Our title');
    const wrong = await nobody.ask('GET', path, { headers: { authorization: basic(PASSWORD, 'wrong') } });
    assert.is(wrong.status, 401);
  }
});

test('the form sets cookies of its own paths, which are good for a week', async (context) => {
  const { nobody, clock } = context;
  await closed(context);
  const wrong = await logIn(context, 'wrong horse');
  assert.equal([wrong.status, wrong.headers['set-cookie']], [401, undefined]);
  const { status, headers } = await logIn(context, PASSWORD);
  assert.equal([status, headers.location], [303, 'acme']);
  const cookies = headers['set-cookie'] ?? [];
  assert.equal(
    cookies.map((one) => /Path=([^;]*)/.exec(one)?.[1]),
    ['/s/acme', '/s/acme.json'],
  );
  for (const one of cookies) assert.match(one, /; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/);
  const cookie = `other=1; snitch_page=x.y; ${cookieOf(cookies)}`;
  const get = (path: string) => nobody.ask('GET', path, { headers: { cookie } });
  for (const path of ['/s/acme', '/s/acme.json', '/s/acme/feed.xml']) {
    const answer = await get(path);
    assert.equal([answer.status, answer.headers['cache-control']], [200, 'private, no-store'], path);
    assert.match(answer.text, 'For us alone');
  }
  clock.now += 8 * DAY;
  assert.is((await get('/s/acme')).status, 401);
});

test('another password ends all sessions, and so does setting the same one again; another page has its own', async (context) => {
  const { nobody, rival } = context;
  await closed(context);
  const cookie = cookieOf((await logIn(context, PASSWORD)).headers['set-cookie']);
  const get = (path = '/s/acme') => nobody.ask('GET', path, { headers: { cookie } });
  assert.is((await get()).status, 200);
  await put(context, { password: '***', title: 'Still ours' });
  assert.is((await get()).status, 200, 'sent back as it was shown');
  ok(await rival.write.put('/v1/status_page', { slug: 'rival', tags: ['*'], password: PASSWORD }));
  assert.is((await get('/s/rival')).status, 401);
  await put(context, { password: PASSWORD });
  assert.is((await get()).status, 401);
  const old = await nobody.ask('GET', '/s/acme.json', {
    headers: { authorization: basic('', 'another horse') },
  });
  assert.is(old.status, 401);
  await put(context, { password: null });
  assert.is((await nobody.get('/s/acme')).status, 200);
});

test('what stands for a password keeps none where there is none: nobody believes an open page closed', async (context) => {
  const { acme, rival, nobody } = context;
  const refused = {
    attribute: 'password',
    message: 'is only how a password is shown, and there is none to keep: give one, or null for none',
  };
  const page = await closed(context);
  const copied = { ...page, slug: 'copied' };
  invalid(await rival.write.put('/v1/status_page', copied), refused);
  assert.is((await nobody.get('/s/copied')).status, 404);
  await acme.write.delete('/v1/status_page');
  invalid(await acme.write.put('/v1/status_page', page), refused);
  invalid(await acme.write.put('/v1/status_page', { password: '***', tags: ['*'] }), blank('slug'), refused);
  assert.is((await nobody.get('/s/acme')).status, 404);
  const open = await put(context, { password: null });
  invalid(await acme.write.put('/v1/status_page', { ...open, title: 'Ours', password: '***' }), refused);
  assert.equal(ok(await acme.read.get('/v1/status_page')), open);
});

test('the longest password that is accepted opens the page, whatever its characters', async (context) => {
  for (const password of ['x'.repeat(200), '🧨'.repeat(200)]) {
    await put(context, { password });
    assert.is((await logIn(context, password)).status, 303, password);
    assert.is((await logIn(context, `${password}x`)).status, 401);
  }
});

test('the password is nowhere to be read', async (context) => {
  const page = await closed(context);
  assert.is(page.password, '***');
  assert.not.match(JSON.stringify(ok(await context.acme.read.get('/v1/log'))), /battery|scrypt/);
  assert.not.match(JSON.stringify(ok(await context.acme.read.get('/v1/status_page'))), /battery|scrypt/);
});

test('guesses are limited by address, behind a trusted proxy by that of its client', async () => {
  await using context = await startFixture({ trustedProxies: ['127.0.0.1'] });
  await closed(context);
  const from = (address: string, password: string) =>
    logIn(context, password, { 'x-forwarded-for': address });
  const statuses: number[] = [];
  for (let tries = 0; tries < 12; tries += 1)
    statuses.push((await from('192.0.2.1', `wrong ${tries}`)).status);
  assert.equal(statuses, [...Array<number>(10).fill(401), 429, 429]);
  const late = await from('192.0.2.1', PASSWORD);
  assert.is(late.status, 429);
  assert.ok(Number(late.headers['retry-after']) > 0);
  assert.is((await from('192.0.2.2', PASSWORD)).status, 303, 'nobody else is kept out');
  const data = { 'x-forwarded-for': '192.0.2.1', authorization: basic('', 'wrong') };
  assert.is((await context.nobody.ask('GET', '/s/acme.json', { headers: data })).status, 429);
});

test('the guesses of all addresses together are limited too, and an IPv6 network counts as one address', () => {
  const many = new Guesses();
  const waits = Array.from({ length: 100 }, (_, index) => many.take(1, `192.0.2.${index}`, 0));
  assert.is(waits.filter((wait) => wait === 0).length, 60);
  assert.is(many.take(2, '192.0.2.1', 0), 0, 'another page');
  assert.is(many.take(1, '192.0.2.200', 60_000), 0, 'a minute later');
  const one = new Guesses();
  const network = Array.from({ length: 12 }, (_, index) => one.take(1, `2001:db8::${index + 1}:1`, 0));
  assert.is(network.filter((wait) => wait === 0).length, 10);
  assert.is(one.take(1, '2001:db8:0:1::1', 0), 0);
});

test('a form of another site is refused', async (context) => {
  await closed(context);
  const { status } = await logIn(context, PASSWORD, { origin: 'https://evil.example' });
  assert.is(status, 403);
});

test.run();
