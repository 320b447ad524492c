import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireSnitch } from '../../src/api/wire.ts';
import { empty, invalid, invalidOn, malformed, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, MINUTE, newSnitch, START, snitchNow, sweep } from './fixture.ts';

const test = suite<Fixture>('pause and unpause');
test.before.each(hooks.start);
test.after.each(hooks.close);

const PENDING = {
  attribute: 'status',
  message: 'a pending snitch cannot be paused',
};

const statusOf = async ({ acme }: Fixture, { token }: WireSnitch) => (await snitchNow(acme, token)).status;

/** An hourly snitch in the given status. */
async function inStatus(context: Fixture, status: string): Promise<WireSnitch> {
  const { clock, acme } = context;
  const snitch = await newSnitch(acme);
  if (status !== 'pending') await checkIn(context, snitch.token, status === 'errored' ? '?s=1' : '');
  if (status === 'failed') {
    clock.now += 3 * HOUR;
    await sweep(context);
  }
  assert.is(await statusOf(context, snitch), status);
  return snitch;
}

test('pauses a healthy, failed or errored snitch: 204 and nothing else', async (context) => {
  const { acme } = context;
  const bodies = [
    undefined,
    {},
    { until: 'healthy' },
    { until: 'unpaused' },
    { until: '2027-01-01T00:00:00.000Z' },
  ];
  for (const status of ['healthy', 'failed', 'errored']) {
    for (const body of bodies) {
      const snitch = await inStatus(context, status);
      empty(await acme.write.post(`${snitch.href}/pause`, body));
      assert.is(await statusOf(context, snitch), 'paused');
      empty(await acme.write.post(`${snitch.href}/pause`, body));
      assert.is(await statusOf(context, snitch), 'paused');
    }
  }
});

test('a pending snitch cannot be paused', async (context) => {
  const { acme } = context;
  const snitch = await inStatus(context, 'pending');
  for (const body of [undefined, {}, { until: 'unpaused' }]) {
    invalid(await acme.write.post(`${snitch.href}/pause`, body), PENDING);
  }
  invalidOn(await acme.write.post(`${snitch.href}/pause`, { until: 'never' }), 'status', 'until');
  assert.is(await statusOf(context, snitch), 'pending');
});

test('unpause answers 204 in every status, and again', async (context) => {
  const { acme } = context;
  for (const status of ['pending', 'healthy', 'failed', 'errored']) {
    const snitch = await inStatus(context, status);
    empty(await acme.write.post(`${snitch.href}/unpause`));
    assert.is(await statusOf(context, snitch), status, 'it was not paused');
    if (status === 'pending') continue;
    empty(await acme.write.post(`${snitch.href}/pause`, { until: 'unpaused' }));
    empty(await acme.write.post(`${snitch.href}/unpause`));
    assert.is(await statusOf(context, snitch), status, 'the remembered status');
    empty(await acme.write.post(`${snitch.href}/unpause/`));
    assert.is(await statusOf(context, snitch), status);
  }
});

test('until healthy: the next healthy check-in ends the pause', async (context) => {
  const { acme } = context;
  for (const body of [
    undefined,
    {},
    { until: 'healthy' },
    { until: null },
    { until: '' },
    { until: undefined },
  ]) {
    const snitch = await inStatus(context, 'healthy');
    empty(await acme.write.post(`${snitch.href}/pause`, body));
    await checkIn(context, snitch.token, '?s=1');
    assert.is(await statusOf(context, snitch), 'paused');
    await checkIn(context, snitch.token);
    assert.is(await statusOf(context, snitch), 'healthy');
  }
});

test('until unpaused: only a person ends the pause', async (context) => {
  const { acme, clock } = context;
  const snitch = await inStatus(context, 'errored');
  empty(await acme.write.post(`${snitch.href}/pause`, { until: 'unpaused' }));
  await checkIn(context, snitch.token);
  assert.is(await statusOf(context, snitch), 'paused');
  clock.now += 100 * HOUR;
  await sweep(context);
  assert.is(await statusOf(context, snitch), 'paused');
  empty(await acme.write.post(`${snitch.href}/unpause`));
  assert.is(await statusOf(context, snitch), 'healthy');
});

test('until a time: the pause ends then', async (context) => {
  const { acme, clock } = context;
  const snitch = await inStatus(context, 'healthy');
  empty(await acme.write.post(`${snitch.href}/pause`, { until: new Date(clock.now + MINUTE).toISOString() }));
  await checkIn(context, snitch.token);
  clock.now += MINUTE - 1;
  await sweep(context);
  assert.is(await statusOf(context, snitch), 'paused');
  clock.now += 1;
  await sweep(context);
  assert.is(await statusOf(context, snitch), 'healthy');
});

test('a repeated pause replaces until and alerts nobody again', async (context) => {
  const { acme, clock } = context;
  const snitch = await inStatus(context, 'healthy');
  clock.now += 1_000;
  empty(await acme.write.post(`${snitch.href}/pause`, { until: 'unpaused' }));
  clock.now += 1_000;
  empty(await acme.write.post(`${snitch.href}/pause`, { until: 'healthy' }));
  const alerts = ok<WireAlert[]>(await acme.write.get(`${snitch.href}/alerts`));
  assert.equal(
    alerts.map(({ type }) => type),
    ['snitch.paused', 'snitch.reporting'],
  );
  await checkIn(context, snitch.token);
  assert.is(await statusOf(context, snitch), 'healthy');
});

/** Times in the future as clients write them. The end of the pause shows how each was read. */
const TIMES: [string, number][] = [
  ['2026-11-18T12:00:00Z', Date.UTC(2026, 10, 18, 12)],
  ['2026-11-18T12:00:00.000Z', Date.UTC(2026, 10, 18, 12)],
  ['2026-11-18T12:00:00.123456789Z', Date.UTC(2026, 10, 18, 12, 0, 0, 123)],
  ['2026-11-18T12:00:00,5Z', Date.UTC(2026, 10, 18, 12, 0, 0, 500)],
  ['2026-11-18T12:00Z', Date.UTC(2026, 10, 18, 12)],
  ['2026-11-18T12:00:00', Date.UTC(2026, 10, 18, 12)],
  ['2026-11-18 12:00:00', Date.UTC(2026, 10, 18, 12)],
  ['2026-11-18t12:00:00z', Date.UTC(2026, 10, 18, 12)],
  ['2026-11-18T12:00:00+01:00', Date.UTC(2026, 10, 18, 11)],
  ['2026-11-18T12:00:00+0100', Date.UTC(2026, 10, 18, 11)],
  ['2026-11-18T12:00:00+01', Date.UTC(2026, 10, 18, 11)],
  ['2026-11-18T05:00:00-06:30', Date.UTC(2026, 10, 18, 11, 30)],
  ['2026-11-19', Date.UTC(2026, 10, 19)],
  [' 2026-11-18T12:00:00Z ', Date.UTC(2026, 10, 18, 12)],
];

test('an ISO 8601 time is understood in its common forms', async (context) => {
  const { acme, clock } = context;
  for (const [until, at] of TIMES) {
    clock.now = START;
    const snitch = await inStatus(context, 'healthy');
    empty(await acme.write.post(`${snitch.href}/pause`, { until }));
    clock.now = at - 1;
    await sweep(context);
    assert.is(await statusOf(context, snitch), 'paused', until);
    clock.now = at;
    await sweep(context);
    assert.is(await statusOf(context, snitch), 'healthy', until);
  }
});

const NO_TIMES: unknown[] = [
  'never',
  'HEALTHY',
  ' healthy',
  'tomorrow',
  '1 hour',
  'Unpaused',
  'Wed, 18 Nov 2026 12:00:00 GMT',
  '2026-11-18T10:20:30.123Z',
  '2026-11-18T10:20:30.122Z',
  '2026-11-18',
  '2020-01-01T00:00:00Z',
  '0000-01-01',
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2027-02-29',
  '2026-11-18T25:00:00Z',
  '2026-11-18T12:60:00Z',
  '2026-11-18T12:00:00+25:00',
  '2026-11-18T12:00:00+99',
  '+275760-09-13T00:00:00Z',
  '99999-01-01',
  '1e400',
  '2026-11-18T12:00:00Z; DROP',
  '2027-01-01T00:00:00Z\n2027',
  '２０２７-01-01',
  '1795000000',
  1795000000,
  1e308,
  -1,
  0,
  true,
  false,
  [],
  ['2027-01-01'],
  {},
  { at: '2027-01-01' },
  'x'.repeat(60_000),
];

test('an until that is no condition and no time in the future is refused with 422', async (context) => {
  const { acme } = context;
  const snitch = await inStatus(context, 'healthy');
  for (const until of NO_TIMES) invalidOn(await acme.write.post(`${snitch.href}/pause`, { until }), 'until');
  const huge = await acme.write.ask('POST', `${snitch.href}/pause`, { body: '{"until":1e400}' });
  invalidOn(huge, 'until');
  assert.is(await statusOf(context, snitch), 'healthy');
});

test('the body is read as JSON whatever its type says; an empty one is no error', async (context) => {
  const { acme } = context;
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'garbage',
    '',
    ';;;/',
    'application/json',
  ];
  for (const type of [...types, 'application/json; charset=latin1', 'multipart/form-data', undefined]) {
    const snitch = await inStatus(context, 'healthy');
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const pause = (body?: string) =>
      acme.write.ask('POST', `${snitch.href}/pause`, { headers, ...(body === undefined ? {} : { body }) });
    invalidOn(await pause('{"until":"never"}'), 'until');
    malformed(await pause('until=healthy'));
    empty(await pause());
    empty(await pause(''));
    empty(await pause(' \r\n'));
    empty(await pause('{"until":"unpaused"}'));
    await checkIn(context, snitch.token);
    assert.is(await statusOf(context, snitch), 'paused', `${type}: the last until counts`);
  }
});

test('unknown fields are ignored; a body that is no object is refused', async (context) => {
  const { acme } = context;
  const snitch = await inStatus(context, 'healthy');
  for (const json of [[], ['healthy'], 'healthy', 5, true]) {
    invalid(await acme.write.post(`${snitch.href}/pause`, json), {
      attribute: 'body',
      message: 'must be a JSON object',
    });
  }
  assert.is(await statusOf(context, snitch), 'healthy');
  empty(await acme.write.post(`${snitch.href}/pause`, { for: '1h', reason: { a: 1 } }));
});

test('unpause ignores whatever body comes', async (context) => {
  const { acme } = context;
  const snitch = await inStatus(context, 'healthy');
  for (const body of ['{"until":', '[]', '\0', 'x'.repeat(1024 * 1024)]) {
    empty(await acme.write.post(`${snitch.href}/pause`, { until: 'unpaused' }));
    const headers = { 'content-type': 'application/json' };
    empty(await acme.write.ask('POST', `${snitch.href}/unpause`, { body, headers }));
    assert.is(await statusOf(context, snitch), 'healthy');
  }
});

test('pausing and unpausing take POST only', async ({ acme }) => {
  const { href } = await newSnitch(acme);
  for (const action of ['pause', 'unpause']) {
    const answer = await acme.write.get(`${href}/${action}`);
    refused(answer, 405, 'method_not_allowed');
    assert.is(answer.headers.allow, 'POST');
  }
});

test.run();
