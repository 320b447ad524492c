/** `POST /v1/schedules/check`: when a schedule would be due, and what is wrong with one that cannot be. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireScheduleCheck } from '../../src/api/wire-explanation.ts';
import { invalid, invalidOn, malformed, ok, refused } from './expect.ts';
import { type Fixture, hooks } from './fixture.ts';

const PATH = '/v1/schedules/check';
const FROM = '2026-11-21T22:00:00Z';

const test = suite<Fixture>('a check of a schedule');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function check({ acme }: Fixture, body: object): Promise<WireScheduleCheck> {
  return ok<WireScheduleCheck>(await acme.write.post(PATH, { from: FROM, ...body }));
}

test('cron: the next five runs with their deadlines, in the zone that is given', async (context) => {
  const body = { schedule: { cron: '0 3 * * 1-5' }, timezone: 'Europe/Berlin' };
  assert.equal(await check(context, body), {
    interval: 'weekly',
    timezone: 'Europe/Berlin',
    grace: 900,
    runs: [
      { at: '2026-11-23T02:00:00.000Z', deadline: '2026-11-23T02:15:00.000Z' },
      { at: '2026-11-24T02:00:00.000Z', deadline: '2026-11-24T02:15:00.000Z' },
      { at: '2026-11-25T02:00:00.000Z', deadline: '2026-11-25T02:15:00.000Z' },
      { at: '2026-11-26T02:00:00.000Z', deadline: '2026-11-26T02:15:00.000Z' },
      { at: '2026-11-27T02:00:00.000Z', deadline: '2026-11-27T02:15:00.000Z' },
    ],
  });
});

test('OnCalendar and every; the zone of the expression comes before the one beside it', async (context) => {
  const calendar = await check(context, {
    schedule: { calendar: '*-*~1 03:00 UTC' },
    timezone: 'Asia/Kathmandu',
    grace: 0,
  });
  assert.equal([calendar.timezone, calendar.interval, calendar.grace], ['UTC', 'monthly', 0]);
  assert.equal(calendar.runs[0], { at: '2026-11-30T03:00:00.000Z', deadline: '2026-11-30T03:00:00.000Z' });
  const every = await check(context, { schedule: { every: 5_400 }, grace: null });
  assert.equal([every.interval, every.grace], ['2_hour', 540]);
  assert.equal(every.runs[1], { at: '2026-11-22T01:00:00.000Z', deadline: '2026-11-22T01:09:00.000Z' });
});

test('the zone of the case and the present time are the defaults', async (context) => {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { timezone: 'America/New_York' }));
  const { timezone, runs } = ok<WireScheduleCheck>(
    await acme.write.post(PATH, { schedule: { cron: '@daily' } }),
  );
  assert.is(timezone, 'America/New_York');
  const wait = Date.parse(runs[0]?.at ?? '') - clock.now;
  assert.ok(wait > 0 && wait <= 86_400_000);
});

test('a time that a clock change skips is due when the gap ends, and a doubled one once', async (context) => {
  const body = { schedule: { cron: '30 2 * * *' }, timezone: 'Europe/Berlin' };
  const spring = await check(context, { ...body, from: '2027-03-27T12:00:00Z' });
  assert.is(spring.runs[0]?.at, '2027-03-28T01:00:00.000Z');
  const autumn = await check(context, { ...body, from: '2027-10-30T12:00:00Z' });
  assert.equal(
    [autumn.runs[0]?.at, autumn.runs[1]?.at],
    ['2027-10-31T00:30:00.000Z', '2027-11-01T01:30:00.000Z'],
  );
});

test('a schedule with few runs left tells those', async (context) => {
  const { runs, interval } = await check(context, { schedule: { calendar: '2026-12-24 18:00' } });
  assert.equal([runs.length, interval], [1, 'monthly']);
});

test('what is wrong is reported on its field', async ({ acme }) => {
  const { write } = acme;
  invalid(await write.post(PATH, { schedule: { cron: '0 25 * * *' } }), {
    attribute: 'schedule',
    message: 'cannot be read: hour "25": "25" is not a number from 0 to 23',
  });
  invalid(await write.post(PATH, { schedule: { cron: '0 0 31 2 *' } }), {
    attribute: 'schedule',
    message: 'would never be due: there is no such day',
  });
  invalid(await write.post(PATH, { schedule: { calendar: '*:*:0/5' } }), {
    attribute: 'schedule',
    message: 'would be due more often than once a minute: give a single value for the seconds, such as :00',
  });
  invalidOn(
    await write.post(PATH, { schedule: {}, timezone: 'x/y', grace: 0.5, from: 1 }),
    'schedule',
    'timezone',
    'grace',
    'from',
  );
  invalidOn(await write.ask('POST', PATH), 'schedule');
  invalidOn(await write.post(PATH, []), 'body');
  malformed(await write.ask('POST', PATH, { body: '{"schedule"' }));
});

test('a key that may only read may ask, and nobody without a case', async ({ acme, admin, nobody }) => {
  ok(await acme.read.post(PATH, { schedule: { every: 60 } }));
  refused(await admin.post(PATH, { schedule: { every: 60 } }), 403, 'api_key_forbidden');
  refused(await nobody.post(PATH, { schedule: { every: 60 } }), 401, 'api_key_invalid');
});

test.run();
