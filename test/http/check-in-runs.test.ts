/** Starts, ends and exit statuses in the path, and how long a run took. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireCheckIn } from '../../src/api/wire.ts';
import { invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch, snitchNow, sweep } from './fixture.ts';

const test = suite<Fixture>('check-in runs');
test.before.each(hooks.start);
test.after.each(hooks.close);

const RUN = '0f9c2f0e-5b1a-4c3d-8e7f-123456789abc';
const OTHER_RUN = '1f9c2f0e-5b1a-4c3d-8e7f-123456789abc';

async function log({ acme }: Fixture, token: string, query = ''): Promise<WireCheckIn[]> {
  return ok(await acme.read.get(`/v1/snitches/${token}/check_ins${query}`));
}

async function durations(context: Fixture, token: string): Promise<(number | null)[]> {
  return (await log(context, token)).map(({ duration_ms }) => duration_ms).reverse();
}

test('each suffix is an outcome, and what it makes of a new snitch', async (context) => {
  const { acme } = context;
  const expected: [string, WireCheckIn['outcome'], number | null, string][] = [
    ['', 'healthy', null, 'healthy'],
    ['/0', 'healthy', 0, 'healthy'],
    ['/000', 'healthy', 0, 'healthy'],
    ['/1', 'error', 1, 'errored'],
    ['/255', 'error', 255, 'errored'],
    ['/fail', 'error', null, 'errored'],
    ['/fail?s=3', 'error', 3, 'errored'],
    ['/fail?s=0', 'error', 0, 'errored'],
    ['/1?s=0', 'error', 1, 'errored'],
    ['/start', 'start', null, 'pending'],
    ['/start?s=1', 'start', null, 'pending'],
    ['/log', 'log', null, 'pending'],
    ['/log?s=1', 'log', null, 'pending'],
  ];
  for (const [suffix, outcome, exit, status] of expected) {
    const { token } = await newSnitch(acme);
    await checkIn(context, token, suffix);
    const [entry] = await log(context, token);
    assert.equal([entry?.outcome, entry?.exit_status], [outcome, exit], suffix);
    assert.is((await snitchNow(acme, token)).status, status, suffix);
  }
});

test('start and log change no state, raise no alert and move no deadline', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { interval: 'hourly' });
  await checkIn(context, token);
  const before = await snitchNow(acme, token);
  for (const suffix of ['/start', '/log', '/start', '/log']) {
    clock.now += HOUR / 2;
    await checkIn(context, token, suffix);
  }
  assert.equal(await snitchNow(acme, token), before);
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'failed');
  await checkIn(context, token, '/start');
  assert.is((await snitchNow(acme, token)).status, 'failed');
  const alerts = ok<WireAlert[]>(await acme.read.get('/v1/alerts'));
  assert.equal(
    alerts.map(({ type }) => type),
    ['snitch.missing', 'snitch.reporting'],
  );
});

test('rid pairs a start with its end, and the end knows how long the run took', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token, `/start?rid=${RUN}`);
  clock.now += 1_000;
  await checkIn(context, token, `/start?rid=${OTHER_RUN}`);
  clock.now += 2_000;
  await checkIn(context, token, `?rid=${RUN.toUpperCase()}`);
  clock.now += 4_000;
  await checkIn(context, token, `/fail?rid=${OTHER_RUN}`);
  await checkIn(context, token, `?rid=${OTHER_RUN}`);
  assert.equal(await durations(context, token), [null, null, 3_000, 6_000, null]);
});

test('without rid, an end belongs to the last start', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  for (const suffix of ['/start', '/log', '', '', '/start', '/start', '/3']) {
    await checkIn(context, token, suffix);
    clock.now += 1_000;
  }
  assert.equal(await durations(context, token), [null, null, 2_000, null, null, null, 1_000]);
});

test('a start with one rid has nothing to do with an end without one', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token, `/start?rid=${RUN}`);
  clock.now += 1_000;
  await checkIn(context, token);
  assert.equal(await durations(context, token), [null, null]);
});

test('a rid that is not a UUID is ignored', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token, '/start?rid=1');
  clock.now += 1_000;
  await checkIn(context, token, '?rid=2');
  assert.equal(await durations(context, token), [null, 1_000]);
});

test('what the run printed comes with its end', async (context) => {
  const { acme, nobody } = context;
  const { token } = await newSnitch(acme);
  const answer = await nobody.ask('POST', `/c/${token}/2?m=failed&rid=${RUN}`, { body: 'line 1\nline 2\n' });
  assert.is(answer.status, 200);
  const [entry] = await log(context, token);
  assert.equal([entry?.output, entry?.message, entry?.exit_status], ['line 1\nline 2\n', 'failed', 2]);
});

test('the log is newest first, in pages by limit and before', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  for (const number of [1, 2, 3, 4, 5]) {
    clock.now += 1_000;
    await checkIn(context, token, `?m=${number}`);
  }
  const all = await log(context, token);
  const messages = (entries: WireCheckIn[]) => entries.map(({ message }) => message).join('');
  assert.is(messages(all), '54321');
  assert.is(messages(await log(context, token, '?limit=2')), '54');
  assert.is(messages(await log(context, token, `?limit=2&before=${all[1]?.id}`)), '32');
  assert.is(messages(await log(context, token, `?before=${all[2]?.at}`)), '21');
  assert.is(messages(await log(context, token, `?before=${all[4]?.id}`)), '');
  assert.is(messages(await log(context, token, '?limit=&before=')), '54321');
});

test('an invalid limit or before is refused, but only for a token that exists', async ({ acme }) => {
  const { href } = await newSnitch(acme);
  for (const limit of ['0', '-1', '1001', 'all', '1.5', '1e2']) {
    invalidOn(await acme.read.get(`${href}/check_ins?limit=${limit}`), 'limit');
  }
  invalidOn(await acme.read.get(`${href}/check_ins?before=yesterday`), 'before');
  refused(await acme.read.get('/v1/snitches/unknown/check_ins?limit=0'), 404, 'resource_not_found');
  refused(await acme.read.get('/v1/snitches/unknown/alerts?limit=0'), 404, 'resource_not_found');
});

test.run();
