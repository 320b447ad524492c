/** What follows from a schedule for check-ins: deadlines, early check-ins, grace, and the interval that is shown. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  instantsAfter,
  readSchedule,
  type ScheduleRule,
  Schedules,
} from '../../../src/core/schedule/schedule.ts';
import { deadlineAfterCheckIn, type EarlierCheckIn } from '../../../src/core/schedule/timing.ts';
import { derivedInterval } from '../../../src/core/schedule-fields.ts';
import { readNewSnitch } from '../../../src/core/snitch-input.ts';
import { randomFrom } from '../../random.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const utc = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`);
const shown = (at: number | null) =>
  at === null ? null : new Date(at).toISOString().slice(0, 19).replace('T', ' ');

const deadlines = suite('schedule: deadline after a check-in');

/** @param grace in seconds */
function deadline(
  rule: ScheduleRule,
  grace: number,
  at: string,
  earlier: EarlierCheckIn | null = null,
): string | null {
  return shown(deadlineAfterCheckIn(readSchedule(rule, 'UTC'), grace * SECOND, utc(at), earlier));
}

deadlines('the first instant after the check-in, plus grace', () => {
  const table: [ScheduleRule, number, string, string][] = [
    [{ cron: '0 3 * * *' }, 0, '2026-11-21 03:00:05', '2026-11-22 03:00:00'],
    [{ cron: '0 3 * * *' }, 900, '2026-11-21 12:00:00', '2026-11-22 03:15:00'],
    [{ cron: '0 3 * * *' }, 900, '2026-11-21 03:00:00', '2026-11-22 03:15:00'],
    [{ cron: '0 3 * * 1-5' }, 900, '2026-11-20 03:10:00', '2026-11-23 03:15:00'],
    [{ calendar: 'Mon..Fri 03:00' }, 900, '2026-11-20 03:10:00', '2026-11-23 03:15:00'],
    [{ cron: '50 23 * * *' }, 3_600, '2026-11-21 00:40:00', '2026-11-22 00:50:00'],
    [{ every: 5_400 }, 60, '2026-11-21 00:40:00', '2026-11-21 02:11:00'],
    [{ every: 60 }, 0, '2026-11-21 00:40:30', '2026-11-21 00:41:30'],
  ];
  for (const [rule, grace, at, expected] of table) {
    assert.is(deadline(rule, grace, at), expected, `${JSON.stringify(rule)} at ${at}`);
  }
});

deadlines('after the last run of all there is no deadline', () => {
  assert.is(deadline({ calendar: '2026-12-24 03:00' }, 60, '2026-12-24 02:50:00'), '2026-12-24 03:01:00');
  assert.is(deadline({ calendar: '2026-12-24 03:00' }, 60, '2026-12-24 03:00:00'), null);
});

deadlines(
  'a check-in answers for the run before which it comes by a tenth of the gap, at most 5 minutes',
  () => {
    const daily: ScheduleRule = { cron: '0 3 * * *' };
    assert.is(deadline(daily, 0, '2026-11-21 02:55:00'), '2026-11-22 03:00:00');
    assert.is(deadline(daily, 0, '2026-11-21 02:54:59'), '2026-11-21 03:00:00');
    const half: ScheduleRule = { cron: '*/30 * * * *' };
    assert.is(deadline(half, 0, '2026-11-21 02:57:00'), '2026-11-21 03:30:00');
    assert.is(deadline(half, 0, '2026-11-21 02:56:59'), '2026-11-21 03:00:00');
    // The gap around the check-in counts, and not that of another time of the day.
    const uneven: ScheduleRule = { cron: '0 3,4 * * *' };
    assert.is(deadline(uneven, 0, '2026-11-21 02:55:00'), '2026-11-21 04:00:00');
    assert.is(deadline(uneven, 0, '2026-11-21 03:55:00'), '2026-11-22 03:00:00');
    assert.is(deadline({ calendar: '2026-12-24 03:00' }, 60, '2026-12-24 02:59:00'), '2026-12-24 03:01:00');
  },
);

deadlines('but not where the gap has its check-in already', () => {
  const hourly: ScheduleRule = { cron: '0 * * * *' };
  const before = (at: string, until: string) => ({ at: utc(at), deadline: utc(until) });
  const onTime = before('2026-11-21 02:00:20', '2026-11-21 03:06:00');
  assert.is(deadline(hourly, 360, '2026-11-21 02:57:00', onTime), '2026-11-21 03:06:00');
  const exactly = before('2026-11-21 02:00:00', '2026-11-21 03:06:00');
  assert.is(deadline(hourly, 360, '2026-11-21 02:57:00', exactly), '2026-11-21 03:06:00');
  const theRunBefore = before('2026-11-21 01:57:00', '2026-11-21 03:06:00');
  assert.is(deadline(hourly, 360, '2026-11-21 02:57:00', theRunBefore), '2026-11-21 04:06:00');
});

deadlines('a run that was answered early stays answered when the check-in comes twice', () => {
  const hourly: ScheduleRule = { cron: '0 * * * *' };
  const first = '2026-11-21 02:57:00';
  const answered = deadline(hourly, 360, first, { at: utc('2026-11-21 01:57:00'), deadline: null });
  assert.is(answered, '2026-11-21 04:06:00');
  const repeated = { at: utc(first), deadline: utc(answered ?? '') };
  assert.is(deadline(hourly, 360, '2026-11-21 02:57:30', repeated), answered);
});

deadlines('clocks that differ by seconds, now this way and now that, cost nobody a run', () => {
  const next = randomFrom(3);
  for (const cron of ['* * * * *', '*/5 * * * *', '0 * * * *', '0 3 * * *']) {
    const schedule = readSchedule({ cron }, 'Europe/Berlin');
    const grace = schedule.defaultGrace(0);
    let earlier: EarlierCheckIn | null = null;
    for (const run of instantsAfter(schedule, utc('2026-11-21 12:00:00'), 300)) {
      const at = run + Math.round((next() * 6 - 3) * SECOND);
      if (earlier)
        assert.ok(earlier.deadline! > at, `${cron}: ${shown(at)} is after ${shown(earlier.deadline)}`);
      earlier = { at, deadline: deadlineAfterCheckIn(schedule, grace, at, earlier) };
    }
  }
});

deadlines.run();

const year = suite('schedule: a year of a job');

interface Lived {
  /** Deadlines that passed though no run was missed. */
  falseAlarms: string[];
  /** For each row of missed runs: from the first of them to the deadline that tells of it. */
  delays: number[];
  missed: number;
}

/**
 * The year 2027 of a job that takes up to `longest`, with the default grace upon that. Some runs are missed, and the
 * host's clock and ours differ by up to three seconds.
 */
function livedYear(cron: string, timezone: string, longest: number): Lived {
  const next = randomFrom(11);
  const schedule = readSchedule({ cron }, timezone);
  const grace = longest + schedule.defaultGrace(0);
  const lived: Lived = { falseAlarms: [], delays: [], missed: 0 };
  let earlier: EarlierCheckIn | null = null;
  let firstMissed: number | null = null;
  for (const run of instantsAfter(schedule, utc('2027-01-01 00:00:00'), 400)) {
    if (run >= utc('2028-01-01 00:00:00')) break;
    if (earlier && next() < 0.05) {
      lived.missed += 1;
      firstMissed ??= run;
      continue;
    }
    const at = run + Math.floor(next() * (longest + 6 * SECOND)) - 3 * SECOND;
    if (earlier && firstMissed !== null) lived.delays.push(earlier.deadline! - firstMissed);
    else if (earlier && earlier.deadline! < at)
      lived.falseAlarms.push(`${shown(earlier.deadline)} before ${shown(at)}`);
    earlier = { at, deadline: deadlineAfterCheckIn(schedule, grace, at, earlier) };
    firstMissed = null;
  }
  return lived;
}

for (const [what, cron, timezone, longest] of [
  ['on weekdays at three', '0 3 * * 1-5', 'Europe/Berlin', 40 * MINUTE],
  ['that crosses midnight', '40 23 * * *', 'America/New_York', 90 * MINUTE],
  ['at half past two, which clock changes skip and double', '30 2 * * *', 'Europe/Berlin', 10 * MINUTE],
  ['every day but Sunday, in UTC', '5 0 * * 1-6', 'UTC', 5 * MINUTE],
] as const) {
  year(`a job ${what}: no false alarm, and each miss is found within grace`, () => {
    const { falseAlarms, delays, missed } = livedYear(cron, timezone, longest);
    assert.equal(falseAlarms, []);
    assert.ok(missed > 5 && delays.length > 5, `${missed} runs were missed`);
    assert.equal(
      delays.filter((delay) => delay < 0 || delay > longest + 15 * MINUTE),
      [],
    );
  });
}

year.run();

const shape = suite('schedule: interval and grace that follow from it');

shape('the interval is the shortest that is not shorter than the longest gap', () => {
  const table: [ScheduleRule, string][] = [
    [{ cron: '* * * * *' }, '1_minute'],
    [{ cron: '*/5 * * * *' }, '5_minute'],
    [{ cron: '*/7 * * * *' }, '10_minute'],
    [{ cron: '0 * * * *' }, 'hourly'],
    [{ cron: '0 */5 * * *' }, '6_hour'],
    [{ cron: '0 3 * * *' }, 'daily'],
    [{ cron: '0 3 * * 1-5' }, 'weekly'],
    [{ cron: '0 3 * * 1' }, 'weekly'],
    [{ cron: '0 3 1 * *' }, 'monthly'],
    [{ cron: '0 0 29 2 *' }, 'monthly'],
    [{ calendar: 'quarterly' }, 'monthly'],
    [{ calendar: '*:0/15' }, '15_minute'],
    [{ calendar: '2027-01-01' }, 'monthly'],
    [{ every: 60 }, '1_minute'],
    [{ every: 5_400 }, '2_hour'],
    [{ every: 31_622_400 }, 'monthly'],
  ];
  for (const [rule, interval] of table) {
    assert.is(derivedInterval(readSchedule(rule, 'Europe/Berlin')), interval, JSON.stringify(rule));
  }
});

shape('the interval is the same at whatever hour it is asked, also of a job that runs often', () => {
  const table: [ScheduleRule, string][] = [
    [{ cron: '*/5 8-18 * * 1-5' }, 'weekly'],
    [{ cron: '* 9-17 * * *' }, 'daily'],
    [{ cron: '*/10 * 1 * *' }, 'monthly'],
    [{ calendar: 'Mon..Fri *:0/15' }, 'weekly'],
    [{ cron: '*/30 6-22 * * *' }, '8_hour'],
  ];
  for (const [rule, interval] of table) {
    for (let hour = 0; hour < 7 * 24; hour += 1) {
      const said = { timezone: 'Europe/Berlin', now: utc('2026-11-16 00:30:00') + hour * HOUR };
      const { value } = readNewSnitch({ name: 'often', schedule: rule }, said);
      assert.is(value?.interval, interval, `${JSON.stringify(rule)} at hour ${hour}`);
    }
  }
});

shape('the default grace is a tenth of the shortest gap, from a minute to 15', () => {
  const table: [ScheduleRule, number][] = [
    [{ cron: '* * * * *' }, 60],
    [{ cron: '*/20 * * * *' }, 120],
    [{ cron: '0 * * * *' }, 360],
    [{ cron: '0 0,1 1 * *' }, 360],
    [{ cron: '0 3 * * *' }, 900],
    [{ cron: '0,59 0,23 * * *' }, 60],
    [{ calendar: '2027-01-01' }, 900],
    [{ every: 5_400 }, 540],
    [{ every: 1_219 }, 121],
  ];
  for (const from of ['2026-11-21 22:00:00', '2026-03-28 20:00:00']) {
    for (const [rule, seconds] of table) {
      const grace = readSchedule(rule, 'Europe/Berlin').defaultGrace(utc(from));
      assert.is(grace, seconds * SECOND, JSON.stringify(rule));
    }
  }
});

shape('every is a whole number of seconds from a minute to 366 days', () => {
  for (const every of [59, 31_622_401, 90.5, Number.NaN, Number.POSITIVE_INFINITY, -60]) {
    assert.throws(
      () => readSchedule({ every }, 'UTC'),
      /whole number of seconds from 60 to 31622400/,
      String(every),
    );
  }
});

shape('the next instants of every count from where they are asked for', () => {
  assert.equal(instantsAfter(readSchedule({ every: 90 }, 'UTC'), 1_000, 3), [91_000, 181_000, 271_000]);
});

shape('what is remembered changes no answer', () => {
  const schedules = new Schedules();
  const next = randomFrom(5);
  const crons = ['*/5 * * * *', '30 2 * * *', '0 3 * * 1-5', '59 1-3 * * *', '15 4 1 * *'];
  for (let number = 0; number < 3_000; number += 1) {
    const rule = { cron: crons[Math.floor(next() * crons.length)]! };
    const at = utc('2027-03-20 00:00:00') + Math.floor(next() * 20 * DAY);
    const kept = schedules.read(rule, 'Europe/Berlin');
    const fresh = readSchedule(rule, 'Europe/Berlin');
    assert.is(kept.lastUntil(at), fresh.lastUntil(at), `${rule.cron} until ${shown(at)}`);
    assert.is(kept.nextAfter(at), fresh.nextAfter(at), `${rule.cron} after ${shown(at)}`);
    assert.is(kept.lastUntil(at), fresh.lastUntil(at), `${rule.cron} until ${shown(at)}, again`);
    if (next() < 0.2) instantsAfter(kept, at, 20);
  }
  assert.is(
    schedules.read({ cron: crons[0]! }, 'Europe/Berlin'),
    schedules.read({ cron: crons[0]! }, 'Europe/Berlin'),
  );
  assert.is.not(
    schedules.read({ cron: crons[0]! }, 'UTC'),
    schedules.read({ cron: crons[0]! }, 'Europe/Berlin'),
  );
});

shape.run();
