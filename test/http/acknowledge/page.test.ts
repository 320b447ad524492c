/** The page behind the link of an alarm, as it comes over the socket; `browser.test.ts` opens it in a real browser. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireSnitch } from '../../../src/api/wire.ts';
import type { Alert } from '../../../src/core/alert.ts';
import { signedLinks } from '../../../src/daemon/alarm-links.ts';
import { RateLimiter } from '../../../src/http/endpoint/rate-limit.ts';
import type { Answer, Asked } from '../client.ts';
import { ok } from '../expect.ts';
import {
  checkIn,
  type Fixture,
  HOUR,
  hooks,
  LINK_KEY,
  MINUTE,
  newSnitch,
  snitchNow,
  sweep,
  wholePass,
  withFixture,
} from '../fixture.ts';

const test = suite<Fixture>('the page of an alarm');
test.before.each(hooks.start);
test.after.each(hooks.close);

const DAY = 24 * HOUR;
const SECOND = 1_000;

async function newestAlert({ store, acme }: Fixture, token: string): Promise<Alert> {
  const [newest] = await store.listAlerts(acme.id, token, { limit: 1, before: null });
  if (!newest) throw new Error('there is no alert');
  return newest.alert;
}

async function linkOf(context: Fixture, { token }: WireSnitch, key = LINK_KEY): Promise<string> {
  return signedLinks(() => key).urlOf(await newestAlert(context, token), '') ?? '';
}

/** A snitch that is missing, and the link in its alarm. */
async function alarm(
  context: Fixture,
  fields: Record<string, unknown> = {},
): Promise<{ snitch: WireSnitch; link: string }> {
  const snitch = await newSnitch(context.acme, fields);
  await checkIn(context, snitch.token);
  context.clock.now += 3 * HOUR;
  await sweep(context);
  return { snitch, link: await linkOf(context, snitch) };
}

function form(fields: Record<string, string>, headers: Record<string, string> = {}): Asked {
  return {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  };
}

const sealIn = ({ text }: Answer) => /name="page" value="([^"]*)"/.exec(text)?.[1] ?? '';

/** Opens the page, reads it for a while, and presses the button. */
async function press(
  { nobody, clock }: Fixture,
  link: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const page = sealIn(await nobody.get(link));
  clock.now += 2 * SECOND;
  return nobody.ask('POST', link, form({ page, ...fields }, headers));
}

const acknowledgedOf = async ({ acme }: Fixture, { token }: WireSnitch) =>
  (await snitchNow(acme, token)).acknowledged ?? null;

test('it shows the alarm with a button, loads and runs nothing, and is not cached', async (context) => {
  const { snitch, link } = await alarm(context);
  const answer = await context.nobody.get(link);
  assert.is(answer.status, 200);
  assert.match(answer.text, '<h1><bdi>nightly-backup</bdi></h1>');
  assert.match(answer.text, 'It did not check in.');
  assert.match(answer.text, '<dt>Since</dt><dd><bdi>2026-11-18 12:00 (UTC)</bdi></dd>');
  assert.match(answer.text, '<dt>Why</dt><dd><bdi>no check-in by 2026-11-18 12:00:00 (UTC)</bdi></dd>');
  assert.match(answer.text, '<button>Acknowledge</button>');
  assert.not.match(answer.text, /<script|<img|<link|https?:|\son\w+=|style=/i);
  assert.not.match(answer.text, snitch.token);
  const { headers } = answer;
  assert.is(headers['content-type'], 'text/html; charset=utf-8');
  assert.match(
    String(headers['content-security-policy']),
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  );
  assert.is(headers['cache-control'], 'no-store');
  assert.is(headers['referrer-policy'], 'no-referrer');
  assert.match(String(headers['x-robots-tag']), 'noindex');
  assert.is(headers['x-frame-options'], 'DENY');
  assert.is(headers['set-cookie'], undefined);
});

test('the link does not reveal the token, and is long', async (context) => {
  const { snitch, link } = await alarm(context);
  assert.match(link, /^\/a\/alert_[a-z2-7]{16}\.[\w-]{43}$/);
  assert.not.match(link, snitch.token.slice(0, 8));
});

test('opening it changes nothing, however often; nor does any method but POST', async (context) => {
  const { nobody } = context;
  const { snitch, link } = await alarm(context);
  for (const method of ['GET', 'HEAD', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await nobody.ask(method, link, { headers: { 'sec-purpose': 'prefetch' } });
    assert.is(answer.status, ['GET', 'HEAD'].includes(method) ? 200 : 405, method);
    assert.is(answer.headers['content-type'], 'text/html; charset=utf-8');
  }
  assert.is(await acknowledgedOf(context, snitch), null);
});

test('the button acknowledges, with a name and a note or without', async (context) => {
  const { clock } = context;
  const { snitch, link } = await alarm(context);
  const answer = await press(context, `${link}/`, { by: ' Ann ', note: 'on\r\nit' });
  assert.is(answer.status, 200);
  const at = new Date(clock.now).toISOString();
  assert.equal(await acknowledgedOf(context, snitch), { at, note: 'on it', by: 'Ann' });
  assert.match(answer.text, 'Acknowledged by <bdi>Ann</bdi> at 2026-11-18 13:20 (UTC): <bdi>on it</bdi>');
  const other = await alarm(context);
  await press(context, other.link);
  assert.is((await acknowledgedOf(context, other.snitch))?.by, 'link');
});

test('a second person is told who was first, and changes nothing', async (context) => {
  const { nobody, clock } = context;
  const { snitch, link } = await alarm(context);
  const page = sealIn(await nobody.get(link));
  await press(context, link, { by: 'Ann' });
  const first = await acknowledgedOf(context, snitch);
  clock.now += MINUTE;
  const second = await nobody.ask('POST', link, form({ page, by: 'Bob', note: 'me too' }));
  assert.is(second.status, 200);
  for (const { text } of [second, await nobody.get(link)]) {
    assert.match(text, 'It was acknowledged already, by <bdi>Ann</bdi>');
    assert.not.match(text, '<button');
  }
  assert.equal(await acknowledgedOf(context, snitch), first);
});

test('a program that posts at once, or without the page, acknowledges nothing', async (context) => {
  const { nobody, clock } = context;
  const { snitch, link } = await alarm(context);
  const other = await alarm(context);
  const page = sealIn(await nobody.get(link));
  const foreign = sealIn(await nobody.get(other.link));
  clock.now += 999;
  const tries = [{}, { page }, { page: foreign }, { page: `${page}x` }, { page: page.replace(/^\d/, '0') }];
  for (const fields of tries) {
    const answer = await nobody.ask('POST', link, form({ ...fields, by: 'Bot "1"' }));
    assert.is(answer.status, 422, JSON.stringify(fields));
    assert.match(answer.text, 'Nothing is acknowledged yet: press the button.');
    assert.match(answer.text, 'value="Bot &quot;1&quot;"', 'what was typed is still there');
  }
  assert.is((await nobody.ask('POST', link, { json: { page } })).status, 422);
  assert.is(await acknowledgedOf(context, snitch), null);
  clock.now += 1;
  assert.is((await nobody.ask('POST', link, form({ page }))).status, 200);
  assert.is((await acknowledgedOf(context, snitch))?.by, 'link');
});

test('it can be acknowledged even after the clock was set back', async (context) => {
  const { nobody, clock } = context;
  const { snitch, link } = await alarm(context);
  const page = sealIn(await nobody.get(link));
  clock.now -= 10 * MINUTE;
  assert.is((await nobody.ask('POST', link, form({ page }))).status, 200);
  assert.is((await acknowledgedOf(context, snitch))?.by, 'link');
});

test('it says what is too long, and loses nothing that was typed', async (context) => {
  const { snitch, link } = await alarm(context);
  const note = 'n'.repeat(501);
  const answer = await press(context, link, { note, by: 'b'.repeat(101) });
  assert.is(answer.status, 422);
  assert.match(answer.text, 'The note is too long (maximum is 500 characters).');
  assert.match(answer.text, 'The name is too long (maximum is 100 characters).');
  assert.match(answer.text, `value="${note}"`);
  const huge = await press(context, link, { note: 'n'.repeat(70_000) });
  assert.is(huge.status, 413);
  assert.is(await acknowledgedOf(context, snitch), null);
});

test('unknown and forged links look the same', async (context) => {
  const { nobody } = context;
  const { snitch, link } = await alarm(context);
  const [path = '', signature = ''] = link.split('.');
  const flipped = signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  const others = [
    `${path}.${flipped}`,
    // The last character has bits that belong to no byte.
    ...['A', 'B', 'Q', 'g', 'w']
      .map((last) => `${path}.${signature.slice(0, -1)}${last}`)
      .filter((one) => one !== link),
    `${path}.${signature}x`,
    `${path}.${signature.slice(0, -1)}`,
    `${path}.`,
    path,
    `/a/alert_${'a'.repeat(16)}.${signature}`,
    await linkOf(context, snitch, 'another key'),
    '/a/%F0%9F%8C%99',
    `/a/${'x'.repeat(3_000)}`,
    `/a/${snitch.token}.${signature}`,
  ];
  const texts = new Set<string>();
  for (const one of others) {
    for (const method of ['GET', 'POST']) {
      const answer = await nobody.ask(method, one, method === 'POST' ? form({ page: 'x' }) : {});
      assert.is(answer.status, 404, `${method} ${one.slice(0, 80)}`);
      texts.add(answer.text);
    }
  }
  assert.is(texts.size, 1);
  assert.is(await acknowledgedOf(context, snitch), null);
});

test('after 7 days the link says that it has expired', async (context) => {
  const { nobody, clock } = context;
  const { snitch, link } = await alarm(context);
  const page = sealIn(await nobody.get(link));
  const { at } = await newestAlert(context, snitch.token);
  clock.now = at + 7 * DAY - 1;
  assert.is((await nobody.get(link)).status, 200);
  clock.now += 1;
  for (const answer of [await nobody.get(link), await nobody.ask('POST', link, form({ page }))]) {
    assert.is(answer.status, 410);
    assert.match(answer.text, 'This link was good for 7 days after its alarm.');
  }
  assert.is(await acknowledgedOf(context, snitch), null);
});

test('after the recovery, and in the next outage, it says that the alarm is over', async (context) => {
  const { nobody, acme, clock } = context;
  const { snitch, link } = await alarm(context);
  const page = sealIn(await nobody.get(link));
  const saysOver = async (words: RegExp) => {
    const got = await nobody.get(link);
    assert.is(got.status, 200);
    assert.match(got.text, words);
    assert.not.match(got.text, '<button');
    const posted = await nobody.ask('POST', link, form({ page }));
    assert.is(posted.status, 409);
    assert.match(posted.text, words);
    assert.is((await snitchNow(acme, snitch.token)).acknowledged, null);
  };
  clock.now += SECOND;
  await checkIn(context, snitch.token);
  await saysOver(/This alarm is over: it is healthy now/);
  clock.now += 3 * HOUR;
  await sweep(context);
  await saysOver(/This alarm is over\. What is wrong now \(it is missing\) is another alarm/);
  const next = await linkOf(context, snitch);
  assert.is((await press(context, next)).status, 200, 'the new one has its own');
  await checkIn(context, snitch.token, '?s=1');
  await acme.write.post(`${snitch.href}/pause`);
  await saysOver(/It is paused now/);
  await acme.write.delete(snitch.href);
  const gone = await nobody.get(link);
  assert.match(gone.text, 'the snitch was deleted');
});

test('a form of another site is refused, and that of the page itself is not', async (context) => {
  const { nobody, clock } = context;
  const { snitch, link } = await alarm(context);
  const page = sealIn(await nobody.get(link));
  clock.now += 2 * SECOND;
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'null' },
    { origin: 'https://evil.example' },
  ];
  for (const headers of foreign) {
    const answer = await nobody.ask('POST', link, form({ page }, headers));
    assert.is(answer.status, 403, JSON.stringify(headers));
  }
  assert.is(await acknowledgedOf(context, snitch), null);
  // The origin that a browser sends from a page with `Referrer-Policy: no-referrer`.
  const own = await nobody.ask(
    'POST',
    link,
    form({ page }, { origin: 'null', 'sec-fetch-site': 'same-origin' }),
  );
  assert.is(own.status, 200);
});

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  `'"&</title></style><form action=https://evil.example>`,
  'abc \u202egnp.exe',
  '\u2067مرحبا\u2069 [Recovered]',
  '&lt;b&gt;',
];

test('hostile names, notes and messages are text', async (context) => {
  for (const name of HOSTILE) {
    const { link } = await alarm(context, { name });
    const before = (await context.nobody.get(link)).text;
    const { text } = await press(context, link, { by: name.slice(0, 100), note: name });
    for (const page of [before, text]) {
      assert.is(page.match(/<(script|img|b)\b/), null, page);
      assert.is((page.match(/<form/g) ?? []).length <= 1, true);
      assert.not.match(page, '<form action');
      assert.not.match(page, /[\u202a-\u202e\u2066-\u2069]/);
    }
    assert.match(text, 'Acknowledged by <bdi>');
  }
  const long = await alarm(context, { name: 'x'.repeat(255) });
  assert.ok((await context.nobody.get(long.link)).text.length < 8_000);
});

test('an error says its message and its reason', async (context) => {
  const snitch = await newSnitch(context.acme);
  await checkIn(context, snitch.token, `?s=3&m=${encodeURIComponent('disk <full>')}`);
  const { text } = await context.nobody.get(await linkOf(context, snitch));
  assert.match(text, 'It reported an error.');
  assert.match(text, '<bdi>exit status 3</bdi>');
  assert.match(text, '<bdi>disk &lt;full&gt;</bdi>');
});

test('a run that hangs did check in, and a success that counts as an error is no error report', async (context) => {
  const { acme, nobody, clock } = context;
  const hangs = await newSnitch(acme, { interval: 'daily', max_runtime: 600 });
  await checkIn(context, hangs.token);
  clock.now += MINUTE;
  await nobody.get(`/c/${hangs.token}/start`);
  clock.now += HOUR;
  await sweep(context);
  const ofRun = (await nobody.get(await linkOf(context, hangs))).text;
  assert.match(ofRun, 'A run of it has not ended.');
  assert.match(ofRun, 'a run that started at');
  assert.not.match(ofRun, 'did not check in');
  const judged = await newSnitch(acme, { expect: [{ value: 'bytes', min: 1_000 }] });
  await checkIn(context, judged.token, '?v.bytes=1');
  const ofValue = (await nobody.get(await linkOf(context, judged))).text;
  assert.match(ofValue, 'A run of it counts as an error.');
  assert.match(ofValue, 'bytes 1 is below 1000');
  assert.not.match(ofValue, 'reported an error');
});

test('an error that a silence kept back is as old as its check-in', async (context) => {
  const { acme, nobody, clock } = context;
  const snitch = await newSnitch(acme);
  ok(await acme.write.post('/v1/silences', { all: true, duration: 1_200 }));
  clock.now += SECOND;
  await checkIn(context, snitch.token, '?s=3');
  clock.now += HOUR / 2;
  await wholePass(context);
  const { text } = await nobody.get(await linkOf(context, snitch));
  assert.match(text, '<dt>Since</dt><dd><bdi>2026-11-18 10:20 (UTC)</bdi></dd>');
});

test('a recovery and a pause have no link', async (context) => {
  const { snitch } = await alarm(context);
  context.clock.now += SECOND;
  await checkIn(context, snitch.token);
  assert.is(await linkOf(context, snitch), '');
  context.clock.now += SECOND;
  await context.acme.write.post(`${snitch.href}/pause`);
  assert.is(await linkOf(context, snitch), '');
});

test('wrong links are rate limited by address, and right links never are', async () => {
  const limiter = new RateLimiter({ perMinute: 1, burst: 1, blockS: 60 });
  await withFixture({ limiter }, async (context) => {
    const { store, nobody, acme, clock } = context;
    const snitch = await store.createSnitch(
      acme.id,
      { name: 'n', notes: '', tags: [], alertEmail: [], interval: 'hourly', alertType: 'basic' },
      clock.now,
    );
    await checkIn(context, snitch.token, '?s=1');
    const link = signedLinks(() => LINK_KEY).urlOf(await newestAlert(context, snitch.token), '') ?? '';
    const statuses: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      statuses.push((await nobody.get(`/a/alert_${'b'.repeat(16)}.${'x'.repeat(43)}`)).status);
    }
    assert.equal(statuses, [404, 404, 404, 404, 429, 429, 429, 429]);
    const limited = await nobody.get('/a/x');
    assert.ok(Number(limited.headers['retry-after']) > 0);
    assert.match(limited.text, 'Too many');
    assert.is((await nobody.get(link)).status, 200);
  });
});

test('if the store cannot write, nothing looks acknowledged', async () => {
  let refuses = false;
  const through = (store: Fixture['store']): Fixture['store'] => ({
    ...store,
    acknowledgeAlarm: async (...given) => {
      if (!refuses) return store.acknowledgeAlarm(...given);
      const { StoreUnavailable } = await import('../../../src/core/errors.ts');
      throw new StoreUnavailable('the disk is full');
    },
  });
  await withFixture({ through }, async (context) => {
    const { link, snitch } = await alarm(context);
    refuses = true;
    const answer = await press(context, link);
    assert.is(answer.status, 503);
    assert.is(answer.headers['retry-after'], '10');
    assert.is(answer.headers['content-type'], 'text/html; charset=utf-8');
    assert.is(await acknowledgedOf(context, snitch), null);
    refuses = false;
    assert.is((await press(context, link)).status, 200);
  });
});

test('alerts in the API do not contain the signature', async (context) => {
  const { link } = await alarm(context);
  const signature = link.split('.')[1] ?? '';
  const alerts = ok<WireAlert[]>(await context.acme.write.get('/v1/alerts'));
  assert.not.ok(JSON.stringify(alerts).includes(signature));
});

test.run();
