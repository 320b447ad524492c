/** `schedule`, `timezone` and `grace` of a snitch (`extensions: When a job is due`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireImportCheck, WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { blank, invalid, invalidOn, ok } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const WEEKDAYS = { cron: '0 3 * * 1-5' };
const DAILY = { cron: '0 3 * * *' };
const BERLIN = 'Europe/Berlin';
const SMART = { attribute: 'alert_type', message: 'a schedule says when the job is due; smart learns it' };

const test = suite<Fixture>('snitches with a schedule');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** What an answer says of when the job is due. */
function dueIn({ interval, schedule, timezone, grace }: WireSnitch) {
  return { interval, schedule, timezone, grace };
}

async function made({ acme }: Fixture, body: object): Promise<WireSnitch> {
  return ok<WireSnitch>(await acme.write.post('/v1/snitches', { name: 'job', ...body }));
}

async function patched({ acme }: Fixture, { href }: WireSnitch, body: object) {
  return dueIn(ok<WireSnitch>(await acme.write.patch(href, body)));
}

test('the interval may be left out, and is what the longest gap fits into', async (context) => {
  const snitch = await made(context, {
    schedule: { cron: ' 0  3 * * 1-5 ' },
    timezone: 'europe/berlin',
    grace: 600,
  });
  const expected = { interval: 'weekly', schedule: WEEKDAYS, timezone: BERLIN, grace: 600 };
  assert.equal(dueIn(snitch), expected);
  assert.equal(snitch.type, { interval: 'weekly' });
  assert.equal(dueIn(await snitchNow(context.acme, snitch.token)), expected);
  const [listed] = ok<WireSnitch[]>(await context.acme.read.get('/v1/snitches'));
  assert.equal(listed, snitch);
  for (const [schedule, interval] of [
    [{ calendar: '*:0/20' }, '30_minute'],
    [{ every: 5_400 }, '2_hour'],
    [{ cron: '0 0 1 1 *' }, 'monthly'],
  ]) {
    assert.equal(dueIn(await made(context, { schedule, interval: '' })), {
      interval,
      schedule,
      timezone: null,
      grace: null,
    });
  }
});

test('both may be sent, and the schedule decides', async (context) => {
  const snitch = await made(context, { schedule: DAILY, type: { interval: 'hourly' } });
  assert.is(snitch.interval, 'hourly');
  await context.acme.write.get(`/c/${snitch.token}`);
  const { deadline } = ok<WireExplanation>(await context.acme.write.get(`${snitch.href}/explain`));
  assert.is(deadline?.at, '2026-11-19T03:15:00.000Z');
});

test('smart goes with no schedule', async (context) => {
  const { write } = context.acme;
  invalid(await write.post('/v1/snitches', { name: 'n', schedule: DAILY, alert_type: 'smart' }), SMART);
  const body = { name: 'n', schedule: DAILY, interval: '5_minute', alert_type: 'smart' };
  invalid(await write.post('/v1/snitches', body), SMART);
  const scheduled = await made(context, { schedule: DAILY });
  invalid(await write.patch(scheduled.href, { alert_type: 'smart' }), SMART);
  const smart = await made(context, { interval: 'daily', alert_type: 'smart' });
  invalid(await write.patch(smart.href, { schedule: DAILY }), SMART);
  ok(await write.patch(smart.href, { schedule: DAILY, alert_type: 'basic' }));
  ok(await write.patch(scheduled.href, { schedule: null, alert_type: 'smart' }));
});

test('what is wrong is refused with one entry for each field, and nothing is changed', async (context) => {
  const { write } = context.acme;
  const bad = { schedule: { cron: '0 0 3 * * *' }, timezone: 'Mars/Olympus', grace: -1 };
  invalidOn(await write.post('/v1/snitches', { name: 'n', ...bad }), 'schedule', 'timezone', 'grace');
  invalidOn(
    await write.post('/v1/snitches', { ...bad, alert_type: 'smart' }),
    'name',
    'schedule',
    'timezone',
    'grace',
    'alert_type',
  );
  invalid(await write.post('/v1/snitches', { name: 'n', schedule: null }), blank('interval'));
  invalid(await write.post('/v1/snitches', { name: 'n', schedule: { cron: '0 0 30 2 *' } }), {
    attribute: 'schedule',
    message: 'would never be due: there is no such day',
  });
  const snitch = await made(context, { schedule: DAILY });
  for (const schedule of [
    {},
    [],
    '',
    'daily',
    5,
    { every: 59 },
    { ...DAILY, every: 60 },
    { cron: '60 * * * *' },
  ]) {
    invalidOn(await write.patch(snitch.href, { schedule }), 'schedule');
  }
  invalidOn(
    await write.patch(snitch.href, { ...bad, interval: 'never' }),
    'interval',
    'schedule',
    'timezone',
    'grace',
  );
  assert.equal(await snitchNow(context.acme, snitch.token), snitch);
});

test('an interval alone drops the schedule: a client that sends it knows no schedules', async (context) => {
  const none = { schedule: null, timezone: null, grace: null };
  const scheduled = { schedule: DAILY, timezone: BERLIN };
  for (const body of [
    { interval: 'hourly' },
    { type: { interval: 'hourly' } },
    { name: 'n', interval: 'hourly' },
  ]) {
    assert.equal(await patched(context, await made(context, scheduled), body), {
      interval: 'hourly',
      ...none,
    });
  }
  const same = await made(context, scheduled);
  assert.equal(await patched(context, same, { interval: 'daily' }), { interval: 'daily', ...none });
});

test('a whole object can be sent back, also by a client that leaves out what it does not know', async (context) => {
  const snitch = await made(context, { schedule: WEEKDAYS, timezone: BERLIN, grace: 60 });
  assert.equal(await patched(context, snitch, { ...snitch, name: 'renamed' }), dueIn(snitch));
  const { name, interval, type, notes, tags, alert_type, alert_email } = snitch;
  const known = { name, interval, type, notes, tags, alert_type, alert_email };
  assert.equal(await patched(context, snitch, known), dueIn(snitch));
});

test('a schedule that has ended can be sent back, but none like it can be set', async (context) => {
  const { clock } = context;
  const once = { schedule: { calendar: '2026-11-18 12:00' }, timezone: 'UTC' };
  const snitch = await made(context, once);
  clock.now += 86_400_000;
  assert.equal(await patched(context, snitch, { ...snitch, name: 'renamed' }), dueIn(snitch));
  invalidOn(await context.acme.write.post('/v1/snitches', { name: 'n', ...once }), 'schedule');
});

test('null clears, and what is absent stays', async (context) => {
  const snitch = await made(context, { schedule: WEEKDAYS, timezone: BERLIN, grace: 60 });
  const full = dueIn(snitch);
  assert.equal(await patched(context, snitch, { notes: 'n' }), full);
  assert.equal(await patched(context, snitch, { grace: null }), { ...full, grace: null });
  assert.equal(await patched(context, snitch, { timezone: null }), { ...full, timezone: null, grace: null });
  const hourly = { schedule: { cron: '5 * * * *' } };
  assert.equal(await patched(context, snitch, { ...hourly, timezone: BERLIN }), {
    interval: 'hourly',
    timezone: BERLIN,
    grace: null,
    ...hourly,
  });
  assert.equal(await patched(context, snitch, { schedule: null }), {
    interval: 'hourly',
    schedule: null,
    timezone: null,
    grace: null,
  });
});

test('a client of the contract sees nothing but three more fields', async ({ acme }) => {
  const snitch = await newSnitch(acme, { interval: 'daily' });
  assert.equal(dueIn(snitch), { interval: 'daily', schedule: null, timezone: null, grace: null });
});

test('the runs that are awaited next, with their deadlines, in the zone of the schedule', async (context) => {
  const { acme } = context;
  const snitch = await made(context, { schedule: WEEKDAYS, timezone: 'Asia/Kathmandu' });
  const explained = async () => ok<WireExplanation>(await acme.read.get(`${snitch.href}/explain`));
  const pending = await explained();
  assert.equal(
    [pending.timezone, pending.schedule?.timezone, pending.schedule?.grace],
    ['UTC', 'Asia/Kathmandu', 900],
  );
  assert.equal(pending.schedule?.runs.length, 5);
  assert.equal(pending.schedule?.runs[2], {
    at: '2026-11-22T21:15:00.000Z',
    local: 'Mon 2026-11-23 03:00 +05:45',
    deadline: '2026-11-22T21:30:00.000Z',
    deadline_local: 'Mon 2026-11-23 03:15 +05:45',
  });
  assert.equal(pending.period, { start: '2026-11-17T21:15:00.000Z', end: '2026-11-18T21:15:00.000Z' });
});

test('imports make, check and change schedules', async (context) => {
  const { write } = context.acme;
  const job = { name: 'job', token: 'imported-1', schedule: WEEKDAYS, timezone: BERLIN, grace: 60 };
  const check = ok<WireImportCheck>(
    await write.post('/v1/imports/check', { snitches: [job, { name: 'x', schedule: {} }] }),
  );
  assert.equal(check.snitches[0], {
    ...{
      token: 'imported-1',
      name: 'job',
      public_name: null,
      interval: 'weekly',
      alert_type: 'basic',
      alert_email: [],
      notes: '',
      tags: [],
    },
    ...{ schedule: WEEKDAYS, timezone: BERLIN, grace: 60 },
    ...{ max_runtime: null, min_runtime: null, failures_before_alert: 1, expect: null, needs: [] },
  });
  assert.equal(
    check.problems.map(({ attribute }) => attribute),
    ['snitches[1].schedule'],
  );
  const [snitch] = ok<WireSnitch[]>(await write.post('/v1/imports', { snitches: [job] }));
  assert.equal(dueIn(snitch as WireSnitch), {
    interval: 'weekly',
    schedule: WEEKDAYS,
    timezone: BERLIN,
    grace: 60,
  });
  const change = async (changes: object) =>
    write.patch('/v1/imports', { snitches: [{ token: 'imported-1', ...changes }] });
  invalid(await change({ alert_type: 'smart' }), { ...SMART, attribute: 'snitches[0].alert_type' });
  const [moved] = ok<WireSnitch[]>(await change({ schedule: { every: 3_600 }, timezone: null, grace: null }));
  assert.equal(dueIn(moved as WireSnitch), {
    interval: 'hourly',
    schedule: { every: 3_600 },
    timezone: null,
    grace: null,
  });
  const [dropped] = ok<WireSnitch[]>(await change({ interval: 'daily' }));
  assert.equal(dueIn(dropped as WireSnitch), {
    interval: 'daily',
    schedule: null,
    timezone: null,
    grace: null,
  });
});

test('explain says by what the snitch is due, and the deadline of its run', async (context) => {
  const { acme, clock } = context;
  const snitch = await made(context, { schedule: DAILY, grace: 600 });
  await acme.write.get(`/c/${snitch.token}`);
  const healthy = ok<WireExplanation>(await acme.read.get(`${snitch.href}/explain`));
  assert.is(healthy.deadline?.at, '2026-11-19T03:10:00.000Z');
  assert.equal(healthy.schedule?.runs[0]?.deadline, healthy.deadline?.at);
  assert.ok(
    healthy.reasons.includes('Its schedule is cron 0 3 * * * (UTC), with a grace of 10 min.'),
    healthy.reasons.join('\n'),
  );
  clock.now = Date.parse('2026-11-20T02:57:00Z');
  await acme.write.get(`/c/${snitch.token}`);
  const early = ok<WireExplanation>(await acme.read.get(`${snitch.href}/explain`));
  assert.is(early.deadline?.at, '2026-11-21T03:10:00.000Z');
  assert.is(
    early.schedule?.runs[0]?.at,
    '2026-11-21T03:00:00.000Z',
    'the run that was answered early is left out',
  );
  const late = await made(context, { interval: 'daily', grace: 21_600 });
  const { reasons, schedule } = ok<WireExplanation>(await acme.read.get(`${late.href}/explain`));
  assert.is(schedule, null);
  assert.ok(reasons.includes('Its grace makes each deadline 6 h later.'), reasons.join('\n'));
  assert.equal(ok<WireAlert[]>(await acme.read.get(`${snitch.href}/alerts`)).length, 1);
});

test.run();
