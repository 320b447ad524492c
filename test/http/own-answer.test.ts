/** Every answer of the daemon says that it is one, so that a proxy's can be told from it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fixture, hooks, newSnitch } from './fixture.ts';
import { exchange } from './raw.ts';

const test = suite<Fixture>('answers of the daemon');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('check-ins, the API, errors, and what is no request at all', async ({ acme, port }) => {
  const { token } = await newSnitch(acme);
  const requests: [line: string, status: number][] = [
    [`GET /c/${token}`, 202],
    ['GET /c/nobody-has-this', 404],
    ['GET /c/a/b/c', 404],
    [`DELETE /c/${token}`, 405],
    ['GET /healthz', 200],
    ['GET /openapi.json', 200],
    ['GET /v1/snitches', 401],
    ['GET /v1/stream', 401],
    ['GET /nowhere', 404],
    ['GET /%zz', 404],
    ['POST /healthz', 405],
  ];
  for (const [line, status] of requests) {
    const answer = await exchange(port, [`${line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`]);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), line);
    assert.match(answer, /\r\nsnitch: 1\r\n/i, line);
  }
  const authorization = `Basic ${Buffer.from(`${acme.write.key}:`).toString('base64')}`;
  for (const path of ['/v1/snitches', '/v1/stream', '/v1/snitches/nobody']) {
    const answer = await exchange(port, [
      `GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\n\r\n`,
    ]);
    assert.match(answer, path.endsWith('nobody') ? /^HTTP\/1.1 404 / : /^HTTP\/1.1 200 /, path);
    assert.match(answer, /\r\nsnitch: 1\r\n/i, path);
  }
  for (const bytes of ['nonsense\r\n\r\n', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`]) {
    assert.match(await exchange(port, [bytes]), /^HTTP\/1.1 4\d\d [^\r]+\r\nsnitch: 1\r\n/);
  }
});

test.run();
