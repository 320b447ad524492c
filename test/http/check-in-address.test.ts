/** Where a check-in is answered, and with which status: addresses in crontabs work for ever (`decisions: Check-in`). */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import type { Store } from '../store/acting.ts';
import type { Answer } from './client.ts';
import { ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow, startFixture, withFixture } from './fixture.ts';
import { exchange, exchangeInTurn, exchangeOne } from './raw.ts';

const test = suite<Fixture>('check-in address');
test.before.each(hooks.start);
test.after.each(hooks.close);

const RUN = '0f9c2f0e-5b1a-4c3d-8e7f-123456789abc';
const SUFFIXES = ['start', 'fail', 'log', '0', '7', '255'];

function plain(answer: Answer, about = ''): void {
  assert.equal([answer.status, answer.text], [202, 'Got it, thanks!\n'], about);
  assert.is(answer.headers['ping-body-limit'], undefined, about);
}

function okay(answer: Answer, about = ''): void {
  assert.equal([answer.status, answer.text], [200, 'OK'], about);
  assert.is(answer.headers['content-type'], 'text/plain; charset=utf-8');
  assert.is(answer.headers['cache-control'], 'no-store');
  assert.is(answer.headers['content-length'], '2');
  assert.is(answer.headers['ping-body-limit'], '10240', about);
}

async function count({ acme }: Fixture, token: string): Promise<number> {
  return ok<WireCheckIn[]>(await acme.read.get(`/v1/snitches/${token}/check_ins`)).length;
}

test('an address with a suffix or a rid is answered 200 with OK, the plain one exactly 202', async (context) => {
  const { acme, nobody } = context;
  const { token } = await newSnitch(acme);
  for (const method of ['GET', 'POST', 'PUT']) {
    for (const suffix of SUFFIXES) okay(await nobody.ask(method, `/c/${token}/${suffix}`), suffix);
    for (const rid of [RUN, RUN.toUpperCase(), 'none', '']) {
      okay(await nobody.ask(method, `/c/${token}?rid=${rid}`), rid);
      okay(await nobody.ask(method, `/c/${token}/start/?m=x&rid=${rid}`), rid);
    }
    for (const query of ['', '/', '?', '?m=x&s=1', '?arid=1&m=rid=2']) {
      plain(await nobody.ask(method, `/c/${token}${query}`), query);
    }
  }
  okay(await nobody.ask('POST', `/c/${token}`, { body: `rid=${RUN}&s=0` }), 'in the body');
  const head = await nobody.ask('HEAD', `/c/${token}/start`);
  assert.equal([head.status, head.text, head.headers['content-length']], [200, '', '2']);
});

test('/ping/<token> is the same address, but always answered 200', async (context) => {
  const { acme, nobody } = context;
  const { token } = await newSnitch(acme);
  const paths = ['', '/', '?m=x', `?rid=${RUN}`, ...SUFFIXES.map((suffix) => `/${suffix}`)];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT'])
      okay(await nobody.ask(method, `/ping/${token}${path}`), path);
  }
  assert.is(await count(context, token), 3 * paths.length);
  assert.is((await nobody.get('/ping/unknown')).status, 404);
  assert.is((await nobody.ask('DELETE', `/ping/${token}`)).status, 405);
});

test('Ping-Body-Limit is a header of every answer to a suffix', async ({ acme, nobody }) => {
  const { token } = await newSnitch(acme);
  const answers: [string, string, number][] = [
    ['POST', `/c/unknown/start`, 404],
    ['GET', `/ping/unknown/7`, 404],
    ['GET', `/c/${token}/256`, 404],
    ['HEAD', `/c/${token}/log`, 200],
    ['DELETE', `/c/${token}/fail`, 405],
  ];
  for (const [method, path, status] of answers) {
    const answer = await nobody.ask(method, path);
    assert.equal([answer.status, answer.headers['ping-body-limit']], [status, '10240'], path);
  }
});

test('/c/<token> and /ping/<token> answer wherever check-in addresses begin', async () => {
  for (const checkInPath of ['', '/c', '/p', '/c/c', '/in/jobs', '/v', '/v1', '/ping', '/metrics']) {
    await using context = await startFixture({ checkInPath });
    const { acme, nobody } = context;
    const { token } = await newSnitch(acme);
    const about = `${checkInPath} `;
    plain(await nobody.get(`/c/${token}`), about);
    okay(await nobody.get(`/c/${token}/start`), about);
    okay(await nobody.get(`/ping/${token}`), about);
    okay(await nobody.get(`${checkInPath}/${token}/7`), about);
    const own = await nobody.get(`${checkInPath}/${token}`);
    assert.is(own.status, checkInPath === '/ping' ? 200 : 202, about);
    assert.is((await nobody.get(`${checkInPath}/unknown`)).status, 404);
    assert.is(await count(context, token), 5, about);
  }
});

test('the API is served beside check-in addresses that begin at its own path or above it', async () => {
  for (const checkInPath of ['', '/v1', '/v1/snitches']) {
    await using context = await startFixture({ checkInPath });
    const { acme, admin, nobody, routes } = context;
    const snitch = await newSnitch(acme);
    assert.equal(ok(await acme.write.get('/v1/snitches')), [snitch]);
    assert.equal(ok(await acme.write.get(snitch.href)), snitch);
    assert.is((await nobody.get('/healthz')).status, 200);
    for (const route of routes) {
      const path = route.replaceAll(/:\w+/g, 'x');
      const answer = await admin.ask('TRACE', path);
      refused(answer, 405, 'method_not_allowed', `${checkInPath} ${path}`);
    }
    refused(await nobody.get('/v1/snitches'), 401, 'api_key_invalid');
  }
});

test('the target in absolute form is the same address, for any host', async (context) => {
  const { token } = await newSnitch(context.acme);
  for (const origin of ['http://snitch.example.com', 'HTTPS://x:8080', 'http://u:p@[::1]:80']) {
    for (const [path, status] of [
      [`/c/${token}?m=x`, 202],
      [`/c/${token}/log`, 200],
      [`/ping/${token}`, 200],
      ['/c/unknown', 404],
    ]) {
      const answer = await exchangeOne(
        context.port,
        `GET ${origin}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      assert.is(answer.status, status, `${origin}${path}`);
    }
  }
  assert.is(await count(context, token), 9);
});

/** Each part arrives a moment after the one before, which is usually answered by then. */
const inTurn = (port: number, parts: string[]) => exchange(port, parts, 150, 40);

async function messages({ acme }: Fixture, token: string): Promise<(string | null)[]> {
  const entries = ok<WireCheckIn[]>(await acme.read.get(`/v1/snitches/${token}/check_ins`));
  return entries.map(({ message }) => message).reverse();
}

test('bytes that should have been percent-encoded are understood', async (context) => {
  const { acme, port } = context;
  const { token } = await newSnitch(acme);
  const requests = [
    `GET /c/${token}?m=größe 🚀 HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /c/${token}?m=just finished&s=0 HTTP/1.0\r\n\r\n`,
    `POST /c/${token}?m=größe HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello`,
    `GET http://x/c/${token}?m=übrig HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n`,
  ];
  for (const request of requests) {
    const answer = await exchangeOne(port, request);
    assert.equal([answer.status, answer.body], [202, 'Got it, thanks!\n'], request);
    assert.is(answer.headers.connection, 'close');
  }
  const [head = '', ...rest] = (requests[2] ?? '').split('ello');
  assert.is((await exchangeOne(port, head, 'el', `lo${rest}`)).status, 202, 'in parts');
  const latin = Buffer.from(`GET /c/${token}?m=gr\xf6\xdfe HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1');
  assert.is((await exchangeOne(port, latin)).status, 202);
  assert.is((await exchangeOne(port, `GET /c/größe HTTP/1.1\r\nHost: x\r\n\r\n`)).status, 404);
  assert.equal(await messages(context, token), [
    'größe 🚀',
    'just finished',
    'größe',
    'übrig',
    'größe',
    'gr\uFFFD\uFFFDe',
  ]);
});

test('such bytes are understood on a connection that was used before, as by a proxy', async (context) => {
  const { acme, port } = context;
  const { token } = await newSnitch(acme);
  const plain = `GET /c/${token}?m=first HTTP/1.1\r\nHost: x\r\n\r\n`;
  for (const [index, request] of [
    `GET /c/${token}?m=größe HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /c/${token}?m=just finished HTTP/1.1\r\nHost: x\r\n\r\n`,
    `POST http://x/c/${token}?m=übrig HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello`,
    `HEAD /c/${token}?m=by HTTP/1.1 HTTP/1.1\r\nHost: x\r\n\r\n`,
  ].entries()) {
    const text = await exchangeInTurn(port, [plain, plain, request]);
    assert.equal(text.match(/^HTTP\/1.1 \d+/gm), Array(3).fill('HTTP/1.1 202'), request);
    assert.ok(text.includes('onnection: close'), request);
    assert.is(await count(context, token), 3 * (index + 1));
  }
  const told = (await messages(context, token)).filter((message) => message !== 'first');
  assert.equal(told, ['größe', 'just finished', 'übrig', 'by HTTP/1.1']);
});

test('what follows the beginning of another request is never taken for one', async (context) => {
  const { acme, port } = context;
  const { token } = await newSnitch(acme);
  const begun = [
    'G',
    'GET ',
    'GET /x',
    'GET /x ',
    'GET /x HTTP/',
    'GET /x HTTP/1.1\r\n',
    'GET /x HTTP/1.1\r\na: b',
  ];
  const chunked = 'POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  for (const beginning of [...begun, chunked, `${chunked}5;`, `${chunked}5;a="`, `${chunked}0\r\n`]) {
    const all = ['ö', 'a b', 'a HTTP/b', '"ö', 'a" b'].flatMap((message) => {
      const parts = [beginning, `GET /c/${token}?m=${message} HTTP/1.1\r\nHost: x\r\n\r\n`];
      return [inTurn(port, parts), inTurn(port, ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', ...parts])];
    });
    await Promise.all(all);
  }
  assert.is(await count(context, token), 0);
});

test('such bytes are refused while an earlier request of the connection waits for its answer', async () => {
  const through = (store: Store): Store => ({
    ...store,
    applyCheckIn: async (checkIn) => {
      await sleep(300);
      return store.applyCheckIn(checkIn);
    },
  });
  await withFixture({ through }, async (context) => {
    const { token } = await newSnitch(context.acme);
    const request = (query: string) => `GET /c/${token}${query} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const text = await inTurn(context.port, [request(''), request('?m=ö')]);
    assert.equal(text.match(/^HTTP\/1.1 \d+/gm), ['HTTP/1.1 400']);
    await sleep(400);
    assert.equal(await messages(context, token), [null]);
  });
});

test('a malformed request, or one to another address, is still refused, whatever bytes it contains', async (context) => {
  const { acme, port } = context;
  const { token } = await newSnitch(acme);
  for (const request of [
    `GET /v1/größe HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /c/${token}?m=ö HTTP/9.9\r\nHost: x\r\n\r\n`,
    `GET /c/${token}?m=ö\r\n\r\n`,
    `NOPE /c/${token}?m=ö HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /c/${token}?m=\0ö HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /c/${token}?m=ö HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n`,
  ]) {
    assert.is((await exchangeOne(port, request)).status, 400, request);
  }
  const two = `GET /c/${token}?m=ö HTTP/1.1\r\nHost: x\r\n\r\n`;
  const text = await exchange(port, [two + two]);
  assert.is(text.split('HTTP/1.1 202').length, 2, 'the connection ends with the first');
  assert.is((await snitchNow(acme, token)).status, 'healthy');
});

test.run();
