/** Bytes that are not a request, or one that no honest client sends: refused and closed, while others are served. */
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ending } from '../closing.ts';
import { basic } from './client.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, newSnitch } from './fixture.ts';
import { exchange, exchangeOne, parseAnswer } from './raw.ts';

const test = suite<Fixture>('bad requests');
test.before.each(hooks.start);
test.after.each(hooks.close);

const HOST = 'Host: x\r\n';
const auth = ({ acme }: Fixture) => `Authorization: ${basic(acme.write.key ?? '')}\r\n`;
const BODY = '{"name":"smuggled","interval":"daily"}';

async function stillServes({ acme }: Fixture): Promise<void> {
  assert.equal(ok(await acme.write.get('/v1/snitches')), []);
}

test('anything that is not HTTP is refused with 400, without a body, and the connection is closed', async (context) => {
  const garbage: (string | Buffer)[] = [
    'hello\r\n\r\n',
    '\0\0\0\0\0\0\0\0\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1 x\r\nHost: x\r\n\r\n',
    `GET /a b HTTP/1.1\r\n${HOST}\r\n`,
    `GET / HTTP/1.1\nHost: x\n\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `NOPE / HTTP/1.1\r\n${HOST}\r\n`,
    `GET /größe HTTP/1.1\r\n${HOST}\r\n`,
    `GET / HTTP/1.1\r\n${HOST}A\0: b\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}a: b\0c\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}a : b\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}no colon\r\n\r\n`,
    `POST / HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`,
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 1e3\r\n\r\n`,
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\n`,
    Buffer.from('160301020001000001fc0303', 'hex'),
  ];
  for (const bytes of garbage) {
    const text = await exchange(context.port, [bytes]);
    const { status, headers, body } = parseAnswer(text);
    assert.is(status, 400, JSON.stringify([String(bytes), text]));
    assert.is(body, '');
    assert.is(headers['content-length'], '0');
    assert.is(headers.connection, 'close');
  }
  await stillServes(context);
});

test('Content-Length together with Transfer-Encoding, or an unknown transfer coding, is refused', async (context) => {
  const framings = [
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
    'Transfer-Encoding: gzip\r\n',
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer-Encoding: xchunked\r\n',
  ];
  const chunk = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
  for (const framing of framings) {
    const head = `POST /v1/snitches HTTP/1.1\r\n${HOST}${auth(context)}${framing}\r\n`;
    const text = await exchange(context.port, [`${head}${chunk}GET /healthz HTTP/1.1\r\n${HOST}\r\n`]);
    assert.ok(/^HTTP\/1\.1 4\d\d /.test(text), `${framing} ${text}`);
    assert.is(text.split('HTTP/1.1 ').length, 2, 'what follows is not read as a request');
  }
  await stillServes(context);
});

test('malformed chunks are refused, and nothing is stored', async (context) => {
  const { token } = await newSnitch(context.rival);
  for (const chunks of [
    'zz\r\nab\r\n',
    '-1\r\n',
    'fffffffffffffffff\r\n',
    '5\r\nhelloX\r\n',
    `1;${'x'.repeat(70_000)}\r\n`,
  ]) {
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\n${HOST}${auth(context)}Transfer-Encoding: chunked\r\n\r\n`;
    const { status } = await exchangeOne(context.port, head('/v1/snitches'), chunks);
    assert.ok(status >= 400 && status < 500, `${status} ${chunks.slice(0, 20)}`);
    const text = await exchange(context.port, [head(`/c/${token}`), chunks]);
    assert.not.match(text, 'HTTP/1.1 5');
  }
  await stillServes(context);
});

test('the target in absolute form, and *, are answered like any other', async (context) => {
  const { port } = context;
  const close = 'Connection: close\r\n';
  const targets: [string, number][] = [
    [`GET http://other.example.com/v1/snitches HTTP/1.1\r\n${HOST}${close}\r\n`, 401],
    [`GET http://other.example.com/nothing HTTP/1.1\r\n${HOST}${close}\r\n`, 404],
    [`GET http://other.example.com/%zz HTTP/1.1\r\n${HOST}${close}\r\n`, 404],
    [`GET ftp:/// HTTP/1.1\r\n${HOST}${close}\r\n`, 404],
    [`OPTIONS * HTTP/1.1\r\n${HOST}${close}\r\n`, 404],
  ];
  for (const [request, expected] of targets) {
    assert.is((await exchangeOne(port, request)).status, expected, request);
  }
  const tunnel = await exchange(port, [`CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`]);
  assert.not.match(tunnel, /HTTP\/1\.1 [25]/);
  await stillServes(context);
});

test('a head that is too large is refused with 431', async (context) => {
  for (const head of [`X-Long: ${'x'.repeat(20_000)}\r\n`, `${'X-Many: y\r\n'.repeat(3_000)}`]) {
    const { status, headers, body } = await exchangeOne(
      context.port,
      `GET /healthz HTTP/1.1\r\n${HOST}${head}\r\n`,
    );
    assert.is(status, 431);
    assert.is(headers.connection, 'close');
    assert.is(body, '');
  }
  const long = await exchangeOne(context.port, `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`);
  assert.ok(long.status === 431 || long.status === 414, String(long.status));
  await stillServes(context);
});

test('odd headers do no harm', async (context) => {
  const { port } = context;
  const request = (headers: string) =>
    `GET /v1/snitches HTTP/1.1\r\n${HOST}${auth(context)}Connection: close\r\n${headers}\r\n`;
  for (const headers of [
    'Upgrade: websocket\r\nConnection: upgrade\r\n',
    'Content-Type: \xff\xfe;;;\r\n',
    '__proto__: x\r\nconstructor: y\r\nhasOwnProperty: z\r\n',
    'Content-Encoding: gzip\r\nAccept: nothing/at-all\r\nAccept-Encoding: *;q=0\r\n',
    'X-HTTP-Method-Override: DELETE\r\nX-Request-Id: ../../x\r\nRange: bytes=5-2\r\nIf-None-Match: *\r\n',
    'X-Forwarded-For: \t,,;"\r\nForwarded: for=x\r\n',
  ]) {
    const answer = await exchangeOne(port, Buffer.from(request(headers), 'latin1'));
    assert.is(answer.status, 200, headers);
    assert.is(answer.body, '[]');
  }
  assert.is((await exchangeOne(port, request('Expect: something\r\n'))).status, 417);
  const hostless = await exchangeOne(port, `GET /healthz HTTP/1.1\r\n\r\n`);
  assert.is(hostless.status, 400);
  await stillServes(context);
});

test('requests one after another on one connection are answered in order', async (context) => {
  const one = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}${auth(context)}\r\n`;
  const text = await exchange(context.port, [one('/v1/snitches') + one('/v1/nothing') + one('/healthz')]);
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  assert.equal(statuses, ['200', '404', '200']);
});

test('a client that goes away in the middle of a body has changed nothing, and is no error of the server', async (context) => {
  const { acme, port, logged } = context;
  for (const framing of [`Content-Length: ${BODY.length + 100}`, 'Transfer-Encoding: chunked']) {
    for (const path of ['/v1/snitches', '/v1/webhooks']) {
      await using socket = ending(connect(port, '127.0.0.1'), (one) => one.destroy());
      const part = framing.startsWith('C') ? BODY : `${BODY.length.toString(16)}\r\n${BODY}\r\n`;
      socket.write(`POST ${path} HTTP/1.1\r\n${HOST}${auth(context)}${framing}\r\n\r\n${part}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.destroy();
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  await stillServes(context);
  assert.equal(ok(await acme.read.get('/v1/webhooks')), []);
  assert.equal(logged, []);
});

test('many connections that say nothing do not keep others out', async (context) => {
  const sockets = Array.from({ length: 200 }, () => connect(context.port, '127.0.0.1'));
  try {
    for (const socket of sockets) socket.on('error', () => {}).write('GET / HT');
    await stillServes(context);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test.run();
