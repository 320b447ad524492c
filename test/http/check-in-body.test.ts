/** Which bodies of check-ins are parameters, and which are output of the job (`decisions: Check-in`). */
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import { newSnitch as newSnitchIn } from '../store/fixture.ts';
import type { Asked } from './client.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, newSnitch } from './fixture.ts';
import { exchangeOne } from './raw.ts';

const test = suite<Fixture>('check-in body');
test.before.each(hooks.start);
test.after.each(hooks.close);

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };
const RUN = '0f9c2f0e-5b1a-4c3d-8e7f-123456789abc';

type Said = [WireCheckIn['outcome'], number | null, string | null, string | null];

async function last({ acme }: Fixture, token: string): Promise<Said> {
  const [entry] = ok<WireCheckIn[]>(await acme.read.get(`/v1/snitches/${token}/check_ins?limit=1`));
  assert.ok(entry);
  return [entry.outcome, entry.exit_status, entry.message, entry.output];
}

/** Outcome, exit status, message and output of a check-in on a new snitch. */
async function said(context: Fixture, asked: Asked, rest = '', status = 202): Promise<Said> {
  const { token } = await newSnitchIn(context.store, context.acme, {}, context.clock.now);
  const answer = await context.nobody.ask('POST', `/c/${token}${rest}`, asked);
  assert.is(answer.status, status, answer.text);
  return last(context, token);
}

const ALERTMANAGER = {
  version: '4',
  groupKey: '{}:{alertname="Watchdog"}',
  truncatedAlerts: 0,
  status: 'firing',
  receiver: 'snitch',
  alerts: [{ status: 'firing', labels: { alertname: 'Watchdog', s: '1', m: 'no' } }],
};

/** Bodies that say something about the check-in. */
const PARAMETERS: [string | Buffer, Said][] = [
  ['m=just finished', ['healthy', null, 'just finished', null]],
  ['m=just+finished&s=0', ['healthy', 0, 'just finished', null]],
  ['m=100%25%20done%0Aline%202&s=3', ['error', 3, '100% done\nline 2', null]],
  ['s=2&m=disk full\n', ['error', 2, 'disk full', null]],
  ['s=2\r\n', ['error', 2, null, null]],
  ['v.bytes=12&s=0&m=ok', ['healthy', 0, 'ok', null]],
  ['m=hello&host=db1&status=1&s=5', ['error', 5, 'hello', null]],
  ['m=', ['healthy', null, null, null]],
  ['{"m":"disk full","s":28}', ['error', 28, 'disk full', null]],
  ['{\r\n    "s":  1,\r\n    "m":  "from PowerShell"\r\n}', ['error', 1, 'from PowerShell', null]],
  [Buffer.from('\ufeff{"m":"with a mark"}'), ['healthy', null, 'with a mark', null]],
  ['{"s":1,"v.bytes":12}', ['error', 1, null, null]],
  ['{"m":"a \\"[{\\" in it","s":4}', ['error', 4, 'a "[{" in it', null]],
  ['{"m":null,"s":null}', ['healthy', null, null, null]],
  ['{}', ['healthy', null, null, null]],
];

/** Bodies that are output, although a lenient parser would find parameters in them. */
const OUTPUT: (string | Buffer)[] = [
  '{"s":1,"m":"no","duration":3}',
  '{"name":"backup","s":3}',
  '{"m":"text","s":{"errors":1}}',
  '[{"s":1}]',
  '{"s":1}\n{"s":0}\n',
  '{"s":1',
  'https://example.com/report?s=1&m=no',
  'a=b&s=1&m=no',
  'took 3s&s=1',
  'm=first line\ns=1',
  's=1\nm=x\n',
  '\ns=1',
  'total 3\ns=1&m=no\n',
  'message=no&s=1',
  'sm=1&s=1',
  'M=1&S=1',
  's',
  'm',
  '%73=1',
  '--x\r\nContent-Disposition: form-data; name="s"\r\n\r\n3\r\n--x--\r\n',
  JSON.stringify(ALERTMANAGER),
  JSON.stringify({ __proto__: null, s: 1, x: 2 }),
];

test('a form of one line that begins with a field of ours, and an object of nothing else, are parameters', async (context) => {
  for (const [body, expected] of PARAMETERS) {
    for (const headers of [FORM, JSON_TYPE, { 'content-type': 'text/plain' }, {}]) {
      for (const chunked of [false, true]) {
        assert.equal(await said(context, { body, headers, chunked }), expected, String(body));
      }
    }
  }
});

test('everything else is what the job printed, whatever it looks like and whatever its type is', async (context) => {
  for (const body of OUTPUT) {
    for (const headers of [FORM, JSON_TYPE, { 'content-type': 'multipart/form-data; boundary=y' }, {}]) {
      assert.equal(await said(context, { body, headers }), ['healthy', null, null, body], String(body));
    }
  }
});

test('with a suffix or a rid the body is always what the job printed', async (context) => {
  const bodies = [...PARAMETERS.map(([body]) => body), ...OUTPUT];
  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  for (const body of bodies.map(String).filter((text) => !text.startsWith('\ufeff'))) {
    for (const headers of [FORM, multipart]) {
      assert.equal(await said(context, { body, headers }, '/0', 200), ['healthy', 0, null, body]);
      assert.equal(await said(context, { body, headers }, '/fail', 200), ['error', null, null, body]);
      assert.equal(await said(context, { body, headers }, '/log', 200), ['log', null, null, body]);
      const rid = await said(context, { body, headers }, `?rid=${RUN}`, 200);
      assert.equal(rid, ['healthy', null, null, body]);
    }
  }
});

test('parameters in the query count beside a body that is output', async (context) => {
  const asked = { body: 's=1&m=printed', headers: FORM };
  assert.equal(await said(context, asked, `?s=0&rid=${RUN}&m=asked`, 200), [
    'healthy',
    0,
    'asked',
    's=1&m=printed',
  ]);
  assert.equal(await said(context, { body: 'line 1\nline 2' }, '?s=7'), ['error', 7, null, 'line 1\nline 2']);
});

test('a form as sent by curl -F is read if its type names the boundary', async (context) => {
  const part = (name: string, value: string) =>
    `--x7\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const headers = { 'content-type': 'multipart/form-data; boundary=x7' };
  const body = `${part('s', '3')}${part('host', 'db1')}${part('m', 'disk full')}--x7--\r\n`;
  assert.equal(await said(context, { body, headers }), ['error', 3, 'disk full', null]);
  const quoted = { 'content-type': 'Multipart/Form-Data; boundary="x7"' };
  assert.equal(await said(context, { body, headers: quoted }), ['error', 3, 'disk full', null]);
  const report = `${part('report', 'line')}${part('s', '3')}--x7--\r\n`;
  assert.equal(await said(context, { body: report, headers }), ['healthy', null, null, report]);
});

const KIB = 1_024;
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');

/** The number of missing bytes in the middle line of what is kept, and the text before and after it. */
function gapIn(output: string | null): { before: string; missing: number; after: string } {
  const found = /^(.*?)\n\[\.\.\. (\d+) bytes are missing here \.\.\.\]\n(.*)$/s.exec(output ?? '');
  assert.ok(found, output?.slice(2_000, 2_200));
  return { before: found[1] ?? '', missing: Number(found[2]), after: found[3] ?? '' };
}

test('a body of up to 10 KiB is kept as it is', async (context) => {
  for (const size of [1, 10 * KIB - 1, 10 * KIB]) {
    const body = 'x'.repeat(size);
    assert.is((await said(context, { body }, '/log', 200))[3], body);
  }
});

test('a longer one keeps its first 2 KiB and last 8 KiB, and a line says how much is missing', async (context) => {
  const texts = [`${'a'.repeat(10 * KIB)}b`, `${lines(3_000)}the reason stands here`, lines(60_000)];
  for (const body of texts) {
    for (const chunked of [false, true]) {
      const { before, missing, after } = gapIn((await said(context, { body, chunked }))[3]);
      assert.is(before, body.slice(0, 2 * KIB));
      assert.is(after, body.slice(-8 * KIB));
      assert.is(missing, body.length - 10 * KIB);
    }
  }
});

test('the cut is between characters, and bytes that are not text do no harm', async (context) => {
  for (const shift of ['', 'x', 'xx', 'xxx']) {
    for (const character of ['🚀', 'é', '€']) {
      const body = shift + character.repeat(8_000);
      const { before, missing, after } = gapIn((await said(context, { body }))[3]);
      assert.not.match(before + after, '\uFFFD');
      assert.ok(body.startsWith(before) && body.endsWith(after));
      const kept = Buffer.byteLength(before) + Buffer.byteLength(after);
      assert.is(missing, Buffer.byteLength(body) - kept);
      assert.ok(kept > 10 * KIB - 8);
    }
  }
  const { before, after } = gapIn((await said(context, { body: Buffer.alloc(50 * KIB, 0xbf) }))[3]);
  assert.is(before + after, '\uFFFD'.repeat(before.length + after.length));
  assert.equal(
    (await said(context, { body: Buffer.from([0x61, 0xff, 0x00, 0xe2, 0x82]) }))[3],
    'a\uFFFD\uFFFD\uFFFD',
  );
});

test('parameters are found anywhere in a long body', async (context) => {
  const long = 'y'.repeat(40 * KIB);
  const message = 'y'.repeat(256);
  const bodies = [`m=${long}&s=9`, `s=9&m=${long}`, `m=${long}&x=${long}&s=9&y=${long}`];
  for (const body of bodies) {
    assert.equal(await said(context, { body, headers: FORM }), ['error', 9, message, null]);
  }
  assert.equal(await said(context, { json: { m: long, s: 9 } }), ['error', 9, message, null]);
  const report = await said(context, { json: { s: 9, report: long } });
  assert.equal(report.slice(0, 3), ['healthy', null, null]);
});

test('a body is read up to 1 MiB, and the check-in counts even if there is more', async (context) => {
  for (const chunked of [false, true]) {
    const body = lines(300_000);
    const [outcome, , , output] = await said(context, { body, chunked });
    const { before, after } = gapIn(output);
    assert.is(outcome, 'healthy');
    assert.is(before, body.slice(0, 2 * KIB));
    assert.match(after, /\n\[\.\.\. 1 MiB was read; what follows is missing \.\.\.\]\n$/);
    assert.ok(after.length < 9 * KIB);
  }
});

test('when many send long bodies at the same time, the beginning and end of each are still kept', async (context) => {
  const { acme, port } = context;
  const { token } = await newSnitch(acme);
  const held = Array.from({ length: 70 }, () => connect(port, '127.0.0.1'));
  try {
    const head = `POST /c/${token} HTTP/1.1\r\nHost: x\r\nContent-Length: ${1024 * KIB}\r\n\r\n`;
    const sent = held.map(
      (socket) =>
        new Promise((resolve, reject) => {
          socket.on('error', reject).write(head + 'z'.repeat(1020 * KIB), resolve);
        }),
    );
    await Promise.all(sent);
    for (const chunked of [false, true]) {
      const body = lines(30_000);
      const { before, missing, after } = gapIn((await said(context, { body, chunked }))[3]);
      assert.equal([before, after], [body.slice(0, 2 * KIB), body.slice(-8 * KIB)]);
      assert.is(missing, body.length - 10 * KIB);
      const short = lines(500);
      assert.is((await said(context, { body: short, chunked }))[3], short);
      const form = `m=${'y'.repeat(40 * KIB)}&s=9`;
      assert.equal(await said(context, { body: form, chunked }), ['error', 9, 'y'.repeat(256), null]);
    }
  } finally {
    for (const socket of held) socket.destroy();
  }
});

test('an endless body is answered once 1 MiB of it has arrived, and the connection is closed', async (context) => {
  const { token } = await newSnitch(context.acme);
  const head = `POST /c/${token} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n`;
  const chunk = 'z'.repeat(256 * KIB);
  const { status, headers } = await exchangeOne(context.port, head, chunk, chunk, chunk, chunk, 'z');
  assert.equal([status, headers.connection], [202, 'close']);
  assert.is((await last(context, token))[0], 'healthy');
});

test.run();
