/** Which schedule fields are accepted, and the errors for those that are not. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readSchedule } from '../../src/core/schedule/schedule.ts';
import {
  derivedInterval,
  validateGrace,
  validateSchedule,
  validateScheduleToCheck,
  validateTimezone,
} from '../../src/core/schedule-fields.ts';

const NOW = Date.parse('2026-11-21T22:00:00Z');

const test = suite('what is said of when a job is due');

const messageOf = (given: unknown) => validateSchedule(given, 'UTC', NOW).validations?.[0];

test('one of the three kinds, its blanks tidied up', () => {
  assert.equal(validateSchedule({ cron: ' 0 3\t* *  1-5 ' }, 'UTC', NOW).value, { cron: '0 3 * * 1-5' });
  assert.equal(validateSchedule({ calendar: 'Mon  03:00' }, 'UTC', NOW).value, { calendar: 'Mon 03:00' });
  assert.equal(validateSchedule({ every: 5_400 }, 'UTC', NOW).value, { every: 5_400 });
  const withOthers = { cron: '@daily', calendar: null, every: undefined, more: 1 };
  assert.equal(validateSchedule(withOthers, 'UTC', NOW).value, { cron: '@daily' });
});

test('an invalid schedule is refused with the reason', () => {
  const table: [unknown, RegExp][] = [
    [undefined, /^can't be blank$/],
    [null, /^can't be blank$/],
    ['0 3 * * *', /^must be an object: \{"cron": "0 3 \* \* 1-5"\}, /],
    [['0 3 * * *'], /^must be an object/],
    [{}, /^must be one of \{"cron"/],
    [{ interval: 'daily' }, /^must be one of \{"cron"/],
    [{ cron: '@daily', every: 60 }, /^must be one of cron, calendar and every, and not cron and every$/],
    [{ cron: 5 }, /^has a cron that is no text$/],
    [{ calendar: ['daily'] }, /^has a calendar that is no text$/],
    [{ cron: '' }, /^can't be blank$/],
    [{ cron: '0 3 * * 9' }, /^cannot be read: day of the week "9"/],
    [{ every: '5400' }, /^every must be a whole number of seconds from 60 to 31622400 \(366 days\)$/],
    [{ every: 59 }, /^every must be/],
    [{ cron: '0 0 31 2 *' }, /^would never be due: there is no such day$/],
    [{ cron: '0 0 30 2 +1#1' }, /^would never be due: there is no such day$/],
    [{ cron: '0 0 31 4,6,9,11 *' }, /^would never be due/],
    [{ calendar: '*-2-30' }, /^would never be due/],
    [{ calendar: '2026-11-21 21:00' }, /^would never be due again: the last time was 2026-11-21 21:00$/],
    [{ calendar: '2026-11-21 22:00' }, /^would never be due again: the last time was 2026-11-21 22:00$/],
    [{ calendar: '*:*:0/20' }, /^would be due more often than once a minute/],
    [{ cron: `${'*'.repeat(100_000)} * * * *` }, /^is too long/],
  ];
  for (const [given, message] of table) {
    const found = messageOf(given);
    assert.is(found?.attribute, 'schedule', JSON.stringify(given)?.slice(0, 80));
    assert.match(found?.message ?? '', message);
  }
});

test('a schedule that has one run left is due once more', () => {
  assert.equal(validateSchedule({ calendar: '2026-11-21 22:01' }, 'UTC', NOW).value, {
    calendar: '2026-11-21 22:01',
  });
  assert.ok(validateSchedule({ calendar: '2026-11-21 22:01' }, 'Europe/Berlin', NOW).validations);
});

test('time zones and grace', () => {
  assert.equal(validateTimezone('europe/berlin'), { value: 'Europe/Berlin' });
  for (const none of [undefined, null, '']) assert.equal(validateTimezone(none), { value: null });
  for (const bad of ['CET ', '+01:00', 7, {}, 'Mars/Base'])
    assert.ok(validateTimezone(bad).validations, String(bad));
  for (const none of [undefined, null]) assert.equal(validateGrace(none), { value: null });
  for (const right of [0, 60, 31_536_000]) assert.equal(validateGrace(right), { value: right });
  for (const bad of [-1, 31_536_001, 1.5, '60', true, Number.NaN])
    assert.ok(validateGrace(bad).validations, String(bad));
});

test('all errors are reported at once', () => {
  const body = { schedule: { cron: '* *' }, timezone: 'Mars/Base', grace: -1, from: 'soon' };
  const { validations } = validateScheduleToCheck(body, 'UTC', NOW);
  assert.equal(
    validations?.map(({ attribute }) => attribute),
    ['schedule', 'timezone', 'grace', 'from'],
  );
  const right = { schedule: { every: 60 } };
  for (const [attribute, wrong] of Object.entries(body)) {
    const { validations: alone } = validateScheduleToCheck({ ...right, [attribute]: wrong }, 'UTC', NOW);
    assert.equal(
      alone?.map((one) => one.attribute),
      [attribute],
    );
  }
  assert.equal(validateScheduleToCheck([], 'UTC', NOW).validations?.[0]?.attribute, 'body');
  const { value } = validateScheduleToCheck({ schedule: { every: 60 }, from: '2027-01-01' }, 'UTC', NOW);
  assert.equal(value, { rule: { every: 60 }, timezone: null, grace: null, from: Date.parse('2027-01-01Z') });
  const from = (at: string) => validateScheduleToCheck({ schedule: { every: 60 }, from: at }, 'UTC', NOW);
  assert.is(from('1970-01-01T00:00:00Z').value?.from, 0);
  for (const none of [null, '']) {
    const { value: now } = validateScheduleToCheck({ schedule: { every: 60 }, from: none }, 'UTC', NOW);
    assert.is(now?.from, NOW);
  }
  assert.equal(from('1969-12-31T23:59:59Z').validations, [
    { attribute: 'from', message: 'must be an ISO 8601 time since 1970' },
  ]);
});

test('no expression costs more than a moment', () => {
  const minutes = Array.from({ length: 60 }, (_, minute) => minute).join(',');
  const costly = [
    { cron: '0 0 29 2 +1' },
    { cron: '0 0 29 2 +1#5' },
    { cron: '0 0 31 2 +1#1' },
    { cron: '0 0 31 4,6,9,11 *' },
    { cron: `${minutes} ${minutes.slice(0, 61)} 1-31 1-12 0-7` },
    { cron: '59 23 31W 2 *' },
    { calendar: 'Mon 2196-02-29 23:59:59' },
    { calendar: '1970/229-02-30' },
    { calendar: `${'1..31,'.repeat(80)}1-1` },
  ];
  const readAll = () => {
    for (const given of costly) {
      const { value } = validateSchedule(given, 'America/New_York', NOW);
      if (value) derivedInterval(readSchedule(value, 'America/New_York'));
    }
  };
  readAll();
  const cpu = process.cpuUsage();
  for (let round = 0; round < 10; round += 1) readAll();
  const { user } = process.cpuUsage(cpu);
  const plain = plainWork();
  // Measured against work of this machine, and not in time: a few milliseconds each on a quiet one.
  assert.ok(
    user / 10 / costly.length < plain,
    `${Math.round(user / 10 / costly.length)} µs, and ${plain} µs of plain work`,
  );
});

/** The processor time, in µs, of a million small steps. */
function plainWork(): number {
  const cpu = process.cpuUsage();
  let sum = 0;
  for (let step = 0; step < 20; step += 1) {
    for (let number = 0; number < 50_000; number += 1) sum += new Date(number * step).getUTCDate();
  }
  assert.ok(sum > 0);
  return process.cpuUsage(cpu).user;
}

test.run();
