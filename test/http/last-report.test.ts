/** What a snitch's job said last, in addition to the last healthy check-in that the contract has. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, MINUTE, newSnitch, START, snitchNow } from './fixture.ts';

const test = suite<Fixture>('the last report of a snitch');
test.before.each(hooks.start);
test.after.each(hooks.close);

const at = (ms: number) => new Date(ms).toISOString();

async function report({ nobody }: Fixture, token: string, rest: string): Promise<void> {
  const { status } = await nobody.get(`/c/${token}${rest}`);
  assert.ok(status === 200 || status === 202, String(status));
}

test('a snitch that was never reported on has none', async ({ acme }) => {
  const { token } = await newSnitch(acme);
  assert.is((await snitchNow(acme, token)).last_report, null);
});

test('an error is the last report while the last healthy check-in stays', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await report(context, token, '?s=3&m=disk%20full');
  const error = { at: at(START), outcome: 'error', exit_status: 3, message: 'disk full' };
  const first = await snitchNow(acme, token);
  assert.equal([first.checked_in_at, first.last_report], [null, error]);

  clock.now += MINUTE;
  await report(context, token, '?m=fine');
  const healthy = { at: at(clock.now), outcome: 'healthy', exit_status: null, message: 'fine' };
  const second = await snitchNow(acme, token);
  assert.equal([second.checked_in_at, second.last_report], [at(clock.now), healthy]);
});

test('starts and log lines are no report', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await report(context, token, '/start');
  assert.is((await snitchNow(acme, token)).last_report, null);
  await report(context, token, '/2');
  clock.now += MINUTE;
  await report(context, token, '/start');
  for (let line = 0; line < 5; line += 1) await report(context, token, '/log');
  const expected = { at: at(START), outcome: 'error', exit_status: 2, message: null };
  assert.equal((await snitchNow(acme, token)).last_report, expected);
});

test('a start in the same millisecond is no report either', async (context) => {
  const { acme } = context;
  const { token } = await newSnitch(acme);
  await report(context, token, '/2');
  await report(context, token, '/start');
  assert.is((await snitchNow(acme, token)).last_report?.outcome, 'error');
});

test('an older report that arrives late is not the last one', async (context) => {
  const { acme, clock, store } = context;
  const { token } = await newSnitch(acme);
  clock.now += MINUTE;
  await report(context, token, '?m=fine');
  const late = { exitStatus: 9, message: 'late', durationMs: null, source: null, runId: null, output: null };
  await store.applyCheckIn({ ...late, token, now: clock.now, at: START, outcome: 'error' });
  const expected = { at: at(clock.now), outcome: 'healthy', exit_status: null, message: 'fine' };
  assert.equal((await snitchNow(acme, token)).last_report, expected);
});

test('behind very many log lines its time and outcome are still known', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await report(context, token, '/2');
  clock.now += MINUTE;
  for (let line = 0; line < 25; line += 1) await report(context, token, '/log');
  const expected = { at: at(START), outcome: 'error', exit_status: null, message: null };
  assert.equal((await snitchNow(acme, token)).last_report, expected);
});

test('the list and the answer to a change have it too', async (context) => {
  const { acme } = context;
  const { token } = await newSnitch(acme);
  await report(context, token, '?s=3');
  const [listed] = ok<WireSnitch[]>(await acme.read.get('/v1/snitches'));
  assert.is(listed?.last_report?.exit_status, 3);
  const changed = ok<WireSnitch>(await acme.write.patch(`/v1/snitches/${token}`, { name: 'other' }));
  assert.equal(changed.last_report, listed?.last_report);
});

test.run();
