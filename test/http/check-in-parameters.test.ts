/** The parameters of a check-in in its query, a form or JSON, whatever the Content-Type. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import type { Asked } from './client.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('check-in parameters');
test.before.each(hooks.start);
test.after.each(hooks.close);

const TYPES = [
  'application/x-www-form-urlencoded',
  'application/json',
  'text/plain',
  'multipart/form-data; boundary=x',
  ';;garbage',
  '',
  undefined,
];

/** Checks in on a new snitch, and answers with its log entry and status. */
async function said(context: Fixture, method: string, query: string, asked: Asked = {}) {
  const { acme, nobody } = context;
  const { token } = await newSnitch(acme);
  const answer = await nobody.ask(method, `/c/${token}${query}`, asked);
  assert.is(answer.status, 202, query);
  return { ...(await lastOf(context, token)), status: (await snitchNow(acme, token)).status };
}

async function lastOf({ acme }: Fixture, token: string): Promise<WireCheckIn> {
  const [last] = ok<WireCheckIn[]>(await acme.read.get(`/v1/snitches/${token}/check_ins?limit=1`));
  return last as WireCheckIn;
}

test('m and s come in the query of every method', async (context) => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
    const { message, exit_status, status } = await said(context, method, '?m=disk+full%21&s=28');
    assert.equal([message, exit_status, status], ['disk full!', 28, 'errored']);
  }
});

test('m and s come in a form or in JSON, whatever the type says', async (context) => {
  const bodies = ['m=disk+full&s=28', '{"m":"disk full","s":28}', ' \n{"s":"28","m":"disk full"}\n'];
  for (const type of TYPES) {
    for (const body of bodies) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      for (const chunked of [false, true]) {
        const { message, exit_status, status, output } = await said(context, 'POST', '', {
          body,
          headers,
          chunked,
        });
        assert.equal([message, exit_status, status], ['disk full', 28, 'errored'], `${type} ${body}`);
        assert.is(output, null);
      }
    }
  }
});

test('a form that a shell piped in may end with a newline', async (context) => {
  assert.is((await said(context, 'POST', '', { body: 's=0\n' })).status, 'healthy');
  const { message, status } = await said(context, 'POST', '', { body: 's=1&m=disk full\r\n' });
  assert.equal([message, status], ['disk full', 'errored']);
});

test('m and s come in the form that curl -F sends', async (context) => {
  const body = [
    '--x7',
    'Content-Disposition: form-data; name="s"',
    '',
    '3',
    '--x7',
    'Content-Disposition: form-data; name="m"',
    'Content-Type: text/plain',
    '',
    'disk',
    '',
    'full',
    '--x7--',
    '',
  ].join('\r\n');
  const headers = { 'content-type': 'multipart/form-data; boundary=x7' };
  const { message, exit_status, status, output } = await said(context, 'POST', '', { body, headers });
  assert.equal([message, exit_status, status, output], ['disk\r\n\r\nfull', 3, 'errored', null]);
});

test('absent, empty or 0 is healthy, and anything else is an error', async (context) => {
  const healthy = ['', '?', '?s', '?s=', '?s=0', '?other=1', '?S=1', '?m=failed'];
  for (const query of healthy) assert.is((await said(context, 'GET', query)).status, 'healthy', query);
  const errors: [string, number | null][] = [
    ['1', 1],
    ['255', 255],
    ['256', 256],
    ['-1', -1],
    // As Windows reports a crash: signed by PowerShell, unsigned by others.
    ['-1073741819', -1073741819],
    ['3221225477', 3221225477],
    ['00', 0],
    ['0.0', null],
    ['false', null],
    ['ok', null],
    ['%20', null],
    ['1e400', null],
    ['99999999999999999999', null],
    ['NaN', null],
    ['%00', null],
    ['%zz', null],
  ];
  for (const [exit, number] of errors) {
    const { status, outcome, exit_status } = await said(context, 'GET', `?s=${exit}`);
    assert.equal([status, outcome, exit_status], ['errored', 'error', number], exit);
  }
});

test('s in JSON may be a number, a string or null', async (context) => {
  const forms: [string, string][] = [
    ['0', 'healthy'],
    ['"0"', 'healthy'],
    ['""', 'healthy'],
    ['null', 'healthy'],
    ['-0', 'healthy'],
    ['0.0', 'healthy'],
    ['1', 'errored'],
    ['"1"', 'errored'],
    ['true', 'errored'],
    ['"no"', 'errored'],
    ['1e400', 'errored'],
  ];
  for (const [s, expected] of forms) {
    const { status } = await said(context, 'POST', '', { body: `{"s":${s}}` });
    assert.is(status, expected, s);
  }
});

test('the query wins over the body', async (context) => {
  const { message, status } = await said(context, 'POST', '?m=query&s=0', { body: 'm=body&s=1' });
  assert.equal([message, status], ['query', 'healthy']);
});

test('a message is kept to 256 characters, cut between characters', async (context) => {
  const messages: [string, string][] = [
    ['x'.repeat(256), 'x'.repeat(256)],
    ['x'.repeat(257), 'x'.repeat(256)],
    ['🚀'.repeat(256), '🚀'.repeat(256)],
    ['🚀'.repeat(300), '🚀'.repeat(256)],
    [`x${'🚀'.repeat(300)}`, `x${'🚀'.repeat(255)}`],
    [`${'é'.repeat(255)}🚀🚀`, `${'é'.repeat(255)}🚀`],
    ['', ''],
  ];
  for (const [given, kept] of messages) {
    const encoded = encodeURIComponent(given);
    const answers = [
      await said(context, 'GET', `?m=${encoded}`),
      await said(context, 'POST', '', { body: `m=${encoded}` }),
      await said(context, 'POST', '', { json: { m: given } }),
    ];
    for (const { message } of answers) assert.is(message, kept === '' ? null : kept);
  }
});

test('a message comes back as it was sent, whatever characters it has', async (context) => {
  const message = 'line\nbreak\ttab "quotes" \\ \u001b[31mred\u202e</script> +&=%';
  assert.is((await said(context, 'GET', `?m=${encodeURIComponent(message)}`)).message, message);
  assert.is((await said(context, 'POST', '', { json: { m: message } })).message, message);
});

test('bytes that are not text are replaced, and the check-in counts', async (context) => {
  assert.is((await said(context, 'GET', '?m=a%FFb%zz')).message, 'a\uFFFDb%zz');
  assert.is((await said(context, 'POST', '', { body: '{"m":"a\\ud83db"}' })).message, 'a\uFFFDb');
  assert.is(
    (await said(context, 'POST', '', { body: Buffer.from([0x6d, 0x3d, 0xff, 0xfe]) })).message,
    '\uFFFD\uFFFD',
  );
  assert.is((await said(context, 'GET', '?m=a%00b')).status, 'healthy');
});

test('unknown fields are ignored', async (context) => {
  const alertmanager = { version: '4', status: 'firing', alerts: [{ labels: { s: '1', m: 'no' } }] };
  const bodies: Asked[] = [
    { json: alertmanager },
    { json: { message: 'no', exit: 1 } },
    { json: { m: { s: 1 }, s: [1] } },
    { body: '{"__proto__":{"s":1,"m":"no"}}' },
    { body: 'message=no&status=1' },
  ];
  for (const asked of bodies) {
    const { status, message } = await said(context, 'POST', '?message=no&status=1', asked);
    assert.equal([status, message], ['healthy', null], JSON.stringify(asked));
  }
});

test('a body that cannot be parsed is not an error; it is kept as output of the job', async (context) => {
  const bodies = ['{"m":', '[1,2', 'just\nsome text\n', '<xml/>', '"s"', '[{"s":1}]', '{', '{"s":1'];
  for (const body of bodies) {
    const { status, output, message } = await said(context, 'POST', '', { body });
    assert.equal([status, output, message], ['healthy', body, null]);
  }
  const { status, output } = await said(context, 'PUT', '', { body: Buffer.from([0x80, 0xff, 0x00, 0x61]) });
  assert.equal([status, output], ['healthy', '\uFFFD\uFFFD\uFFFDa']);
  assert.is((await said(context, 'POST', '', { body: '['.repeat(9_000) })).status, 'healthy');
});

test('the body of GET and HEAD is ignored', async (context) => {
  for (const method of ['GET', 'HEAD']) {
    const { status, message } = await said(context, method, '', { body: 's=1&m=no' });
    assert.equal([status, message], ['healthy', null]);
  }
});

test('parameters in the query leave the body as output', async (context) => {
  const { message, exit_status, output } = await said(context, 'POST', '?m=done&s=2', {
    body: 'what it\nprinted',
  });
  assert.equal([message, exit_status, output], ['done', 2, 'what it\nprinted']);
});

test('at in the query is the time of the check-in, if that is within the last seven days', async (context) => {
  const now = '2026-11-18T10:20:30.123Z';
  const told: [string, string][] = [
    ['2026-11-18T10:00:00Z', '2026-11-18T10:00:00.000Z'],
    ['2026-11-18T12:00:00%2B02:00', '2026-11-18T10:00:00.000Z'],
    [now, now],
    ['2026-11-11T10:20:30.123Z', '2026-11-11T10:20:30.123Z'],
    ['2026-11-11T10:20:30.122Z', now],
    ['2026-11-18T10:20:30.124Z', now],
    ['9999-12-31', now],
    ['yesterday', now],
    ['1e400', now],
    ['', now],
  ];
  for (const [given, at] of told) {
    for (const method of ['GET', 'POST'])
      assert.is((await said(context, method, `?at=${given}`)).at, at, given);
  }
  assert.is(
    (await said(context, 'POST', '', { body: 'at=2026-11-18T10:00:00Z' })).at,
    now,
    'not in the body',
  );
});

test.run();
