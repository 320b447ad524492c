/** A first check-in of an unknown job may make its snitch (`extensions: When a job is due`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireApiKey, WireCheckIn, WireSnitch } from '../../src/api/wire.ts';
import { RateLimiter } from '../../src/http/endpoint/rate-limit.ts';
import { type Answer, basic } from './client.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, MINUTE, newSnitch, snitchNow, type Team, withFixture } from './fixture.ts';
import { exchangeOne } from './raw.ts';

const test = suite<Fixture>('provisioning');
test.before.each(hooks.start);
test.after.each(hooks.close);

const RUN = '0f9c2f0e-5b1a-4c3d-8e7f-123456789abc';

async function keyOf({ write }: Team, scope = 'provision'): Promise<string> {
  const made = ok<WireApiKey>(await write.post('/v1/api_keys', { name: 'hosts', scope }));
  assert.is(made.scope, scope);
  return made.key ?? '';
}

const list = async ({ write }: Team) => ok<WireSnitch[]>(await write.get('/v1/snitches'));

const named = async (team: Team, name: string) => (await list(team)).filter((one) => one.name === name);

const log = async ({ write }: Team, { href }: WireSnitch) =>
  ok<WireCheckIn[]>(await write.get(`${href}/check_ins`));

function text(answer: Answer, status: number, about = ''): string {
  assert.is(answer.status, status, `${about} ${answer.text}`);
  assert.is(answer.headers['content-type'], 'text/plain; charset=utf-8', about);
  assert.is(answer.headers['cache-control'], 'no-store', about);
  assert.is(answer.headers['ping-body-limit'], '10240', about);
  return answer.text;
}

const MADE = 'Got it, thanks! The snitch is made.\n';

test('the first check-in makes the snitch and is answered 201, the others 200', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  const path = `/c/${key}/nightly%20backup?create=1&cron=0+3+*+*+1-5&timezone=europe/berlin&grace=600&tags=web1,%20db,&m=hello`;
  assert.is(text(await nobody.get(path), 201), MADE);
  const [made] = await named(acme, 'nightly backup');
  assert.equal(made?.schedule, { cron: '0 3 * * 1-5' });
  assert.equal([made?.timezone, made?.grace, made?.interval], ['Europe/Berlin', 600, 'weekly']);
  assert.equal([made?.tags, made?.status, made?.alert_type], [['web1', 'db'], 'healthy', 'basic']);
  assert.is(text(await nobody.get(path), 200), 'OK');
  assert.is(text(await nobody.get(`/c/${key}/nightly%20backup`), 200), 'OK');
  assert.is((await list(acme)).length, 1);
  assert.equal(
    (await log(acme, made!)).map(({ message }) => message),
    [null, 'hello', 'hello'],
  );
  const alerts = ok<WireAlert[]>(await acme.write.get('/v1/alerts'));
  assert.equal(
    alerts.map(({ type }) => type),
    ['snitch.reporting'],
  );
});

test('every field of create is one of the query', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  const make = (name: string, query: string) => nobody.get(`/c/${key}/${name}?create=1&${query}`);
  text(await make('a', 'interval=hourly&alert_type=smart&notes=see%0Athere&alert_email=a@example.com'), 201);
  text(await make('b', 'calendar=Mon..Fri+03:00&tags=x&tags=y,z'), 201);
  text(await make('c', 'every=5400&interval=&grace=&timezone=&tags='), 201);
  const [a, b, c] = ['a', 'b', 'c'].map(async (name) => (await named(acme, name))[0]!);
  const { interval, alert_type, notes, alert_email } = await a!;
  assert.equal(
    [interval, alert_type, notes, alert_email],
    ['hourly', 'smart', 'see\nthere', ['a@example.com']],
  );
  assert.equal([(await b!).schedule, (await b!).tags], [{ calendar: 'Mon..Fri 03:00' }, ['x', 'y', 'z']]);
  assert.equal([(await c!).schedule, (await c!).grace, (await c!).tags], [{ every: 5400 }, null, []]);
});

test('rules of runs are fields too, and the first check-in is judged by them', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  const expect = encodeURIComponent(JSON.stringify([{ value: 'bytes', min: 1_000 }]));
  const path = `/c/${key}/job?create=1&interval=daily&min_runtime=60&max_runtime=600&failures_before_alert=1&expect=${expect}`;
  text(await nobody.get(`${path}&v.bytes=12`), 201);
  const [made] = await named(acme, 'job');
  const { min_runtime, max_runtime, failures_before_alert, expect: expected } = made!;
  assert.equal([min_runtime, max_runtime, failures_before_alert, expected?.length], [60, 600, 1, 1]);
  assert.equal([made?.status, made?.reason], ['errored', 'bytes 12 is below 1000']);
  text(await nobody.get(`${path}&v.bytes=5000`), 200);
  assert.is((await named(acme, 'job'))[0]?.status, 'healthy');
  const bad = text(await nobody.get(`/c/${key}/other?create=1&interval=daily&expect=bytes`), 422);
  assert.match(bad, /\nexpect /);
});

test('an unknown name is 404 unless create=1', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  for (const query of ['', '?', '?create=', '?create=0', '?create=no&interval=daily', '?interval=daily']) {
    assert.match(
      text(await nobody.get(`/c/${key}/job${query}`), 404, query),
      /^There is no snitch with this name\./,
    );
  }
  assert.equal(await list(acme), []);
  text(await nobody.get(`/c/${key}/job?create=true&interval=daily`), 201);
});

test('what is wrong is said in words, a line for each field, and nothing is made', async ({
  acme,
  nobody,
}) => {
  const key = await keyOf(acme);
  const long = encodeURIComponent('ü'.repeat(256));
  for (const [name, query, words] of [
    ['job', '', /^The snitch cannot be made, so nothing was recorded:\ninterval can't be blank\n$/],
    ['job', 'cron=61+*+*+*+*', /\nschedule [^\n]+\n$/],
    [
      'job',
      'cron=0+3+*+*+*&every=60',
      /\nschedule must be one of cron, calendar and every, and not cron and every\n/,
    ],
    ['job', 'every=soon', /\nschedule /],
    ['job', 'every=1e9', /\nschedule /],
    ['job', 'every=59', /\nschedule /],
    [
      'job',
      'interval=sometimes&grace=-1',
      /\ninterval is not a valid interval\ngrace must be|\ngrace must be/,
    ],
    ['job', 'cron=0+3+*+*+*&alert_type=smart', /\nalert_type a schedule says when/],
    ['job', 'cron=0+3+*+*+*&timezone=Nowhere/At_All', /\ntimezone is not a time zone/],
    ['job', 'interval=daily&tags=%00', /\ntags must not contain control characters/],
    ['a%00b', 'interval=daily', /\nname must not contain control characters/],
    ['a%0Ab', 'interval=daily', /\nname must not contain control characters/],
    ['%20', 'interval=daily', /\nname can't be blank/],
    [long, 'interval=daily', /\nname is too long \(maximum is 255 characters\)/],
  ] as const) {
    assert.match(
      text(await nobody.get(`/c/${key}/${name}?create=1&${query}`), 422, `${name} ${query}`),
      words,
    );
  }
  assert.equal(await list(acme), []);
});

test('an existing snitch takes the check-in whatever else the query says, and is not changed by it', async (context) => {
  const { acme, nobody } = context;
  const key = await keyOf(acme);
  const { token } = await newSnitch(acme, { name: 'job', interval: 'daily', tags: ['mine'] });
  for (const query of ['create=1&cron=nonsense', 'create=1&interval=hourly&tags=x', 'create=1', 'grace=-7']) {
    assert.is(text(await nobody.get(`/c/${key}/job?${query}`), 200, query), 'OK');
  }
  const { interval, tags, schedule, grace } = await snitchNow(acme, token);
  assert.equal([interval, tags, schedule, grace], ['daily', ['mine'], null, null]);
  assert.is((await log(acme, await snitchNow(acme, token))).length, 4);
});

test('of several with one name the first that was made takes all check-ins', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  const first = await newSnitch(acme, { name: 'twin' });
  const second = await newSnitch(acme, { name: 'twin' });
  for (let count = 0; count < 3; count += 1) {
    text(await nobody.get(`/c/${key}/twin?create=1&interval=daily`), 200);
  }
  assert.equal([(await log(acme, first)).length, (await log(acme, second)).length], [3, 0]);
  assert.is((await list(acme)).length, 2);
});

test('a suffix behind the name, values and a rid mean what they always mean', async ({
  acme,
  nobody,
  clock,
}) => {
  const key = await keyOf(acme);
  const at = (suffix: string) =>
    `/c/${key}/job${suffix}${suffix.includes('?') ? '&' : '?'}create=1&interval=daily`;
  text(await nobody.get(at(`/start?rid=${RUN}`)), 201);
  const [made] = await named(acme, 'job');
  assert.is(made?.status, 'pending');
  clock.now += MINUTE;
  text(await nobody.ask('POST', at(`/7/?rid=${RUN}`), { body: 'm=printed\nno space left' }), 200);
  const [end] = await log(acme, made!);
  assert.equal([end?.outcome, end?.exit_status, end?.duration_ms], ['error', 7, MINUTE]);
  assert.equal([end?.output, end?.message], ['m=printed\nno space left', null]);
  for (const [suffix, status] of [
    ['/fail', 'errored'],
    ['/0', 'healthy'],
    ['/log', 'healthy'],
    ['?s=1', 'errored'],
    ['', 'healthy'],
  ] as const) {
    text(await nobody.get(at(suffix)), 200, suffix);
    assert.is((await named(acme, 'job'))[0]?.status, status, suffix);
  }
  await nobody.ask('POST', `/c/${key}/job`, { body: 'm=in+the+body&s=3' });
  const [form] = await log(acme, made!);
  assert.equal([form?.message, form?.exit_status, form?.outcome], ['in the body', 3, 'error']);
});

test('what follows the key is a name, even if it is start or a number', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  const names = ['start', 'fail', 'log', '0', '255', '-', key, 'snk_', '.', '..', 'c', 'ping', 'v1'];
  for (const name of names) {
    const answer = await exchangePath(nobody.port, `/c/${key}/${name}?create=1&interval=daily`);
    assert.is(answer.status, 201, name);
    assert.is((await exchangePath(nobody.port, `/c/${key}/${name}/start`)).status, 200, name);
    const [made, ...others] = await named(acme, name);
    assert.equal(others, []);
    assert.equal(
      (await log(acme, made!)).map(({ outcome }) => outcome),
      ['start', 'healthy'],
      name,
    );
  }
  for (const path of [
    'a/b',
    'a/b/start',
    'a//',
    'a/256',
    'a/start/x',
    '%FF',
    '%',
    '%ud800',
    'x'.repeat(4_000),
  ]) {
    const answer = await exchangePath(nobody.port, `/c/${key}/${path}?create=1&interval=daily`);
    assert.is(answer.status, 404, path);
  }
});

/** Sends the path unchanged: clients would tidy it up. */
const exchangePath = (port: number, path: string, method = 'GET') =>
  exchangeOne(port, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

test('a hostile name is taken as it is', async ({ acme, nobody, port }) => {
  const key = await keyOf(acme);
  const names = [
    '🌙'.repeat(255),
    'ü'.repeat(255),
    "'; DROP TABLE snitches; --",
    '<script>alert(1)</script>',
    '../../etc/passwd',
    'a/b?c=d#e%20&create=0',
    '__proto__',
    '\u202Eevil',
    '\uFEFF',
    ' leading',
    'trailing ',
    'a+b',
    '%2F',
    '{{name}}',
    'null',
  ];
  for (const name of names) {
    const path = `/c/${key}/${encodeURIComponent(name)}?create=1&interval=daily`;
    // A name of nothing but blanks counts as none.
    const status = name.trim() === '' ? 422 : 201;
    text(await nobody.get(path), status, name);
    if (status === 201) text(await nobody.get(path), 200, name);
    assert.is((await named(acme, name)).length, status === 201 ? 1 : 0, name);
  }
  // Bytes that should have been encoded are encoded here, as in any check-in address.
  const raw = Buffer.from('größe').toString('latin1');
  const head = `GET /c/${key}/${raw}?create=1&interval=daily HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  assert.is((await exchangeOne(port, Buffer.from(head, 'latin1') as unknown as string)).status, 201);
  assert.is((await named(acme, 'größe')).length, 1);
});

test('GET, HEAD, POST and PUT are the same, anything else is 405', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
    const path = `/c/${key}/by-${method}?create=1&interval=daily`;
    const [first, second] = [await nobody.ask(method, path), await nobody.ask(method, path)];
    assert.equal([first.status, second.status], [201, 200], method);
    assert.equal([first.text, second.text], method === 'HEAD' ? ['', ''] : [MADE, 'OK']);
  }
  const answer = await nobody.ask('DELETE', `/c/${key}/by-GET`);
  assert.equal([answer.status, answer.headers.allow], [405, 'GET, HEAD, POST, PUT']);
  assert.is((await list(acme)).length, 4);
});

test('the address works wherever check-in addresses begin', async () => {
  for (const checkInPath of ['', '/c', '/in/jobs', '/v1', '/ping']) {
    await withFixture({ checkInPath }, async ({ acme, nobody }) => {
      const key = await keyOf(acme);
      for (const [index, base] of [checkInPath, '/c', '/ping'].entries()) {
        text(
          await nobody.get(`${base}/${key}/job-${index}?create=1&interval=daily`),
          201,
          `${checkInPath} ${base}`,
        );
        assert.is(text(await nobody.get(`${base}/${key}/job-${index}`), 200), 'OK');
        const headers = { authorization: basic(key) };
        text(await nobody.ask('GET', `${base}/-/job-${index}`, { headers }), 200);
      }
    });
  }
});

test('a case that is full or on hold makes none, and its check-ins count', async (context) => {
  const { acme, admin, nobody } = context;
  const key = await keyOf(acme);
  text(await nobody.get(`/c/${key}/one?create=1&interval=daily`), 201);
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: 1 }));
  const full = text(await nobody.get(`/c/${key}/two?create=1&cron=nonsense`), 402);
  assert.match(full, /^The case has as many snitches as its plan allows\./);
  text(await nobody.get(`/c/${key}/one?create=1&interval=daily`), 200);
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: null, on_hold: true }));
  assert.match(text(await nobody.get(`/c/${key}/two?create=1&interval=daily`), 402), /on hold/);
  text(await nobody.get(`/c/${key}/one`), 200);
});

test('maintenance does not keep check-ins away, nor the snitches that they make', async (context) => {
  const { acme, admin, nobody } = context;
  const key = await keyOf(acme);
  ok(await admin.put('/v1/maintenance', { enabled: true }));
  text(await nobody.get(`/c/${key}/job?create=1&interval=daily`), 201);
  ok(await admin.put('/v1/maintenance', { enabled: false }));
  assert.is((await list(acme)).length, 1);
});

test('of many first check-ins at the same moment one makes the snitch, and all count', async (context) => {
  const { acme, nobody } = context;
  const key = await keyOf(acme);
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => nobody.get(`/c/${key}/job?create=1&interval=daily`)),
  );
  assert.is(answers.filter(({ status }) => status === 201).length, 1);
  assert.is(answers.filter(({ status }) => status === 200).length, 39);
  const [made, ...others] = await list(acme);
  assert.equal(others, []);
  assert.is((await log(acme, made!)).length, 40);
});

test('a snitch that was deleted is made again by the next check-in that may', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  const path = `/c/${key}/job?create=1&interval=daily`;
  text(await nobody.get(path), 201);
  const [made] = await list(acme);
  await acme.write.delete(made!.href);
  text(await nobody.get(`/c/${key}/job`), 404);
  text(await nobody.get(path), 201);
  assert.not.equal((await list(acme))[0]?.token, made?.token);
});

test('a case makes only so many at once; check-ins are never refused for being many', async () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 5, blockS: 60 });
  await withFixture({ limiter }, async ({ acme, nobody }) => {
    const key = await keyOf(acme);
    const statuses = [];
    for (let count = 0; count < 40; count += 1) {
      statuses.push((await nobody.get(`/c/${key}/job-${count}?create=1&interval=daily`)).status);
    }
    assert.ok(statuses.filter((status) => status === 201).length >= 20);
    assert.ok(statuses.filter((status) => status === 429).length > 10);
    for (let count = 0; count < 40; count += 1) text(await nobody.get(`/c/${key}/job-0`), 200);
    text(await nobody.get(`/c/${key}/other`), 404);
  });
});

test.run();
