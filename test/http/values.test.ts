/** Reported values, and what a run must look like, over HTTP (`extensions: What a run must look like`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn, WireImportCheck, WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import type { Asked } from './client.ts';
import { invalid, ok } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('values');
test.before.each(hooks.start);
test.after.each(hooks.close);

const BYTES = { value: 'bytes', min: 100, max: null, of_usual: null, required: true };

async function lastOf({ acme }: Fixture, token: string): Promise<WireCheckIn> {
  const [last] = ok<WireCheckIn[]>(await acme.read.get(`/v1/snitches/${token}/check_ins?limit=1`));
  return last as WireCheckIn;
}

/** Checks in on a new snitch, and answers with its log entry. */
async function said(context: Fixture, path: string, asked: Asked = {}, status = 202): Promise<WireCheckIn> {
  const { token } = await newSnitch(context.acme);
  const answer = await context.nobody.ask(
    asked.body === undefined ? 'GET' : 'POST',
    `/c/${token}${path}`,
    asked,
  );
  assert.is(answer.status, status, path);
  return lastOf(context, token);
}

test('values come in the query, in a form or in JSON', async (context) => {
  const expected = { bytes: 1_234, rows: -0.5 };
  const multipart = ['--x', 'Content-Disposition: form-data; name="v.bytes"', '', '1234', '--x', '']
    .concat('Content-Disposition: form-data; name="v.rows"', '', '-.5', '--x--', '')
    .join('\r\n')
    .replace('--x\r\n\r\nContent', '--x\r\nContent');
  const ways: [string, Asked][] = [
    ['?v.bytes=1234&v.rows=-0.5', {}],
    ['?v%2Ebytes=1234&m=x&v.rows=-.5', {}],
    ['', { body: 'v.bytes=1234&v.rows=-0.5\n' }],
    ['', { body: 'm=all+well&v.bytes=1234&ignored=1&v.rows=-0.5' }],
    ['', { body: '{"values": {"bytes": 1234, "rows": -0.5}}' }],
    ['', { body: '{"values": {"bytes": "1234", "rows": "-0.5"}, "m": "x", "s": 0}' }],
    ['', { body: '{"v.bytes": 1234, "v.rows": -0.5}' }],
    ['?v.bytes=1234', { body: '{"values": {"bytes": 9, "rows": -0.5}}' }],
    ['', { body: multipart, headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
  ];
  for (const [path, asked] of ways) {
    const { values, dropped_values, output, outcome } = await said(context, path, asked);
    assert.equal(values, expected, `${path} ${asked.body}`);
    assert.equal([dropped_values, output, outcome], [[], null, 'healthy']);
  }
});

test('what a job prints is never taken for values', async (context) => {
  const outputs = [
    'bytes=1234&v.bytes=1',
    'copied v.bytes=12',
    'v.bytes=12\nall well',
    'https://example.com/?v.bytes=12',
    '{"values": {"bytes": 12}, "job": "backup"}',
    '{"values": {"bytes": {"total": 12}}}',
    '{"values": [12]}',
    '{"values": 12}',
    '[{"values": {"bytes": 12}}]',
    '{"report": {"values": {"bytes": 12}}}',
  ];
  for (const body of outputs) {
    const { values, output } = await said(context, '', { body });
    assert.equal([values, output], [null, body]);
  }
  for (const path of ['/0', '/log', '?rid=0b5c9c0e-2b3f-4c5a-8b6e-1f2a3b4c5d6e']) {
    const { values, output } = await said(context, path, { body: 'v.bytes=12' }, 200);
    assert.equal([values, output], [null, 'v.bytes=12'], path);
  }
  const beside = await said(context, '/0?v.bytes=7', { body: 'v.bytes=12' }, 200);
  assert.equal([beside.values, beside.output], [{ bytes: 7 }, 'v.bytes=12']);
});

test('what is malformed is dropped and said, and loses neither the check-in nor its status', async (context) => {
  const many = Array.from({ length: 60 }, (_, index) => `v.n${index}=${index}`).join('&');
  for (const asked of [{ path: `?${many}&s=3&m=x` }, { path: '', body: `${many}&s=3&m=x` }]) {
    const { values, dropped_values, exit_status, message } = await said(context, asked.path, asked);
    assert.is(Object.keys(values ?? {}).length, 20);
    assert.equal([dropped_values?.length, exit_status, message], [6, 3, 'x']);
  }
  const json = JSON.stringify({
    values: Object.fromEntries(many.split('&').map((one) => [one.slice(2, 4), 1])),
    s: 3,
  });
  assert.is((await said(context, '', { body: json })).exit_status, 3);
  const { values, dropped_values, outcome } = await said(
    context,
    '?v.bytes=12k&v.Rows=1&v.=1&v.ok=1&v.x=1e999',
  );
  assert.equal([values, outcome], [{ ok: 1 }, 'healthy']);
  assert.equal(dropped_values?.length, 4);
  assert.is(dropped_values?.[0], 'v.bytes=12k is no number');
});

test('a huge body of almost-values is read, and counts', async (context) => {
  for (const body of [
    'v.a=1&'.repeat(170_000),
    `v.a=1${'&v.b'.repeat(260_000)}`,
    `{"values":{${'"a":1,'.repeat(160_000)}"b":1}}`,
  ]) {
    const { outcome } = await said(context, '', { body });
    assert.is(outcome, 'healthy');
  }
});

test('the rules are made, read, changed and taken back', async (context) => {
  const body = {
    name: 'backup',
    interval: 'daily',
    min_runtime: 300,
    failures_before_alert: 3,
    expect: [BYTES],
  };
  const rules = ({ min_runtime, failures_before_alert, expect }: WireSnitch) => [
    min_runtime,
    failures_before_alert,
    expect,
  ];
  const { write, read } = context.acme;
  const snitch = ok<WireSnitch>(await write.post('/v1/snitches', body));
  assert.equal(rules(snitch), [300, 3, [BYTES]]);
  assert.equal(await snitchNow(context.acme, snitch.token), snitch);
  const [listed] = ok<WireSnitch[]>(await read.get('/v1/snitches'));
  assert.equal(listed, snitch);
  const short = { expect: [{ value: 'bytes', max: 5 }] };
  const changed = ok<WireSnitch>(await write.patch(snitch.href, short));
  assert.equal(rules(changed), [300, 3, [{ ...BYTES, min: null, max: 5 }]]);
  assert.equal(
    rules(ok<WireSnitch>(await write.patch(snitch.href, snitch))),
    [300, 3, [BYTES]],
    'all sent back',
  );
  const old = { name: 'renamed', interval: 'weekly', alert_type: 'basic', notes: 'x', tags: [] };
  assert.equal(
    rules(ok<WireSnitch>(await write.patch(snitch.href, old))),
    [300, 3, [BYTES]],
    'by an old client',
  );
  const none = { min_runtime: null, failures_before_alert: null, expect: null };
  assert.equal(rules(ok<WireSnitch>(await write.patch(snitch.href, none))), [null, 1, null]);
  const plain = await newSnitch(context.acme);
  assert.equal(rules(await snitchNow(context.acme, plain.token)), [null, 1, null]);
});

test('what is wrong is refused by field, and in an import by its position', async (context) => {
  const body = {
    name: 'x',
    interval: 'daily',
    min_runtime: -1,
    failures_before_alert: 11,
    expect: [{ value: 'a', min: 'b' }],
  };
  const { write } = context.acme;
  const validations = [
    { attribute: 'min_runtime', message: 'must be a whole number of seconds from 1 to 2678400' },
    { attribute: 'failures_before_alert', message: 'must be a whole number from 1 to 10' },
    { attribute: 'expect', message: 'of a has a min that is not a number' },
  ];
  invalid(await write.post('/v1/snitches', body), ...validations);
  const snitch = await newSnitch(context.acme);
  invalid(await write.patch(`/v1/snitches/${snitch.token}`, body), ...validations);
  const imported = validations.map((one) => ({ ...one, attribute: `snitches[0].${one.attribute}` }));
  invalid(await write.post('/v1/imports', { snitches: [body] }), ...imported);
});

test('an import takes them, and its check shows them in full', async (context) => {
  const wanted = { name: 'x', interval: 'daily', min_runtime: 60, expect: [{ value: 'bytes', min: 100 }] };
  const { write } = context.acme;
  const { snitches } = ok<WireImportCheck>(await write.post('/v1/imports/check', { snitches: [wanted] }));
  const [checked] = snitches;
  assert.equal([checked?.min_runtime, checked?.failures_before_alert, checked?.expect], [60, 1, [BYTES]]);
  const [made] = ok<WireSnitch[]>(await write.post('/v1/imports', { snitches: [wanted] }));
  assert.equal([made?.min_runtime, made?.expect], [60, [BYTES]]);
});

test('a run that is not what is expected says why, wherever it is looked at', async (context) => {
  const { write, read } = context.acme;
  const body = {
    name: 'backup',
    interval: 'daily',
    expect: [BYTES, { value: 'rows', of_usual: [0.5, 3], required: false }],
  };
  const { token, href } = ok<WireSnitch>(await write.post('/v1/snitches', body));
  await context.nobody.get(`/c/${token}?v.bytes=100&v.rows=4`);
  await context.nobody.get(`/c/${token}?v.bytes=99`);
  const reason = 'bytes 99 is below 100';
  const { status, reason: shown, last_report } = await snitchNow(context.acme, token);
  assert.equal([status, shown, last_report?.reason], ['errored', reason, reason]);
  assert.equal((await lastOf(context, token)).reason, reason);
  const { values, reasons } = ok<WireExplanation>(await read.get(`${href}/explain`));
  assert.equal(
    values?.map(({ name, last, usual, runs }) => [name, last, usual, runs]),
    [
      ['rows', 4, null, 1],
      ['bytes', 99, null, 1],
    ],
  );
  assert.ok(reasons.includes('Each run is expected to report bytes, 100 or more.'), reasons.join('\n'));
  const unusual =
    'Each run is expected to report rows, at least half of the usual, at most 3 times the usual, if it reports it at all; what is usual is not known yet, with 1 of at least 5 successful runs.';
  assert.ok(reasons.includes(unusual), reasons.join('\n'));
});

test('errors that are forgiven are explained', async (context) => {
  const { write, read } = context.acme;
  const body = { name: 'backup', interval: 'daily', failures_before_alert: 3 };
  const { token, href } = ok<WireSnitch>(await write.post('/v1/snitches', body));
  const reasonsNow = async () => ok<WireExplanation>(await read.get(`${href}/explain`)).reasons.join('\n');
  await context.nobody.get(`/c/${token}?s=1`);
  assert.match(await reasonsNow(), /It waits for its first healthy check-in\./);
  await context.nobody.get(`/c/${token}`);
  assert.match(await reasonsNow(), /It becomes errored after 3 error check-ins in a row\./);
  await context.nobody.get(`/c/${token}?s=1`);
  assert.match(await reasonsNow(), /after 3 error check-ins in a row; the last check-in was one\./);
  assert.match(await reasonsNow(), /Its last healthy check-in was at/);
  await context.nobody.get(`/c/${token}?s=1`);
  assert.match(await reasonsNow(), /in a row; the last 2 were\./);
  assert.is((await snitchNow(context.acme, token)).status, 'healthy');
});

test('no case sees the values of another', async (context) => {
  const { token } = await newSnitch(context.acme);
  await context.nobody.get(`/c/${token}?v.bytes=1`);
  for (const path of ['check_ins', 'explain']) {
    assert.is((await context.rival.read.get(`/v1/snitches/${token}/${path}`)).status, 404, path);
  }
});

test.run();
