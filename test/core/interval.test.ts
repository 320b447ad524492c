import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addIntervals,
  Calendar,
  INTERVALS,
  type Interval,
  isInterval,
  isMinuteInterval,
  isTimeZone,
  nominalLength,
} from '../../src/core/interval.ts';
import { cases } from '../cases.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A fresh calendar for each question, so that no answer depends on a remembered one. */
const periodAt = (interval: Interval, timezone: string, at: number) =>
  new Calendar().periodAt(interval, timezone, at);
const utc = (iso: string) => Date.parse(`${iso}Z`);
const local = (iso: string, timezone: string) =>
  Temporal.PlainDateTime.from(iso).toZonedDateTime(timezone).epochMilliseconds;
const shown = (at: number, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at)
    .toZonedDateTimeISO(timezone)
    .toString({ timeZoneName: 'never', smallestUnit: 'minute' });

function assertPeriod(interval: Interval, timezone: string, at: number, start: string, end: string) {
  const period = periodAt(interval, timezone, at);
  assert.is(shown(period.start, timezone), start, `${interval} in ${timezone}: start`);
  assert.is(shown(period.end, timezone), end, `${interval} in ${timezone}: end`);
}

const names = suite('interval: names');

names('are the 17 of the specification', () => {
  const expected =
    '1_minute 2_minute 3_minute 5_minute 10_minute 15_minute 30_minute hourly 2_hour 3_hour 4_hour 6_hour 8_hour 12_hour daily weekly monthly';
  assert.equal([...INTERVALS], expected.split(' '));
  for (const interval of INTERVALS) assert.ok(isInterval(interval));
});

names('nothing else is an interval', () => {
  for (const value of ['', 'minutely', 'Hourly', 'toString', '__proto__', 7, null, undefined, ['daily']]) {
    assert.not(isInterval(value), String(value));
  }
});

names('only those under an hour are minute intervals', () => {
  assert.equal(INTERVALS.filter(isMinuteInterval), INTERVALS.slice(0, 7));
});

names('each has a usual length, a month that of 30 days', () => {
  const minutes = [1, 2, 3, 5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1_440, 7 * 1_440, 30 * 1_440];
  assert.equal(
    INTERVALS.map((interval) => nominalLength(interval) / 60_000),
    minutes,
  );
});

names('a time zone is an IANA name that the runtime knows', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/Port-au-Prince', 'Etc/GMT+5'])
    assert.ok(isTimeZone(name));
  for (const name of ['', 'Mars/Base', '+01:00', 'Europe/Berlin\n', ' UTC'])
    assert.not(isTimeZone(name), name);
});

names('old abbreviations, with which no period could be computed, are no time zones', () => {
  const at = utc('2026-01-01T00:00');
  for (const name of ['PST', 'CST', 'IST', 'JST', 'EST', 'EST5EDT', 'US/Pacific', 'US/Pacific-New', 'GMT']) {
    if (isTimeZone(name)) assert.ok(periodAt('daily', name, at), name);
    else assert.throws(() => periodAt('daily', name, at), RangeError);
  }
  assert.not(isTimeZone('PST'));
});

names.run();

const bounds = suite('interval: bounds');

/** Around Thursday 2024-02-29 13:47:25.678, in UTC and in a zone that is 5 h 45 min ahead of it. */
const TABLE: [Interval, string, string][] = [
  ['1_minute', '2024-02-29T13:47', '2024-02-29T13:48'],
  ['2_minute', '2024-02-29T13:46', '2024-02-29T13:48'],
  ['3_minute', '2024-02-29T13:45', '2024-02-29T13:48'],
  ['5_minute', '2024-02-29T13:45', '2024-02-29T13:50'],
  ['10_minute', '2024-02-29T13:40', '2024-02-29T13:50'],
  ['15_minute', '2024-02-29T13:45', '2024-02-29T14:00'],
  ['30_minute', '2024-02-29T13:30', '2024-02-29T14:00'],
  ['hourly', '2024-02-29T13:00', '2024-02-29T14:00'],
  ['2_hour', '2024-02-29T12:00', '2024-02-29T14:00'],
  ['3_hour', '2024-02-29T12:00', '2024-02-29T15:00'],
  ['4_hour', '2024-02-29T12:00', '2024-02-29T16:00'],
  ['6_hour', '2024-02-29T12:00', '2024-02-29T18:00'],
  ['8_hour', '2024-02-29T08:00', '2024-02-29T16:00'],
  ['12_hour', '2024-02-29T12:00', '2024-03-01T00:00'],
  ['daily', '2024-02-29T00:00', '2024-03-01T00:00'],
  ['weekly', '2024-02-26T00:00', '2024-03-04T00:00'],
  ['monthly', '2024-02-01T00:00', '2024-03-01T00:00'],
];

for (const timezone of ['UTC', 'Asia/Kathmandu', 'Europe/Berlin', 'America/St_Johns']) {
  for (const [interval, start, end] of TABLE) {
    bounds(`${interval} in ${timezone}`, () => {
      assert.equal(periodAt(interval, timezone, local('2024-02-29T13:47:25.678', timezone)), {
        start: local(start, timezone),
        end: local(end, timezone),
      });
    });
  }
}

bounds('the table names every interval', () => {
  assert.equal(
    TABLE.map(([interval]) => interval),
    [...INTERVALS],
  );
});

bounds('an instant on a boundary opens its period', () => {
  for (const interval of INTERVALS) {
    const { start, end } = periodAt(interval, 'Europe/Berlin', utc('2025-07-09T10:11:12'));
    assert.is(periodAt(interval, 'Europe/Berlin', start).start, start);
    assert.is(periodAt(interval, 'Europe/Berlin', end - 1).start, start);
    assert.is(periodAt(interval, 'Europe/Berlin', end).start, end);
  }
});

bounds('weekly is Monday to Monday', () => {
  for (let day = 0; day < 14; day += 1) {
    const { start, end } = periodAt('weekly', 'America/New_York', utc('2025-10-27T12:00:00') + day * DAY);
    for (const at of [start, end]) {
      const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('America/New_York');
      assert.is(wall.dayOfWeek, 1);
      assert.is(wall.toPlainTime().toString(), '00:00:00');
    }
    // The clock goes back on Sunday, November 2: that week has an hour more.
    assert.is(end - start, day < 7 ? 7 * DAY + HOUR : 7 * DAY);
  }
});

bounds('a month has its own length', () => {
  const days = (iso: string) => {
    const { start, end } = periodAt('monthly', 'UTC', utc(iso));
    return (end - start) / DAY;
  };
  assert.is(days('2024-02-10T00:00:00'), 29);
  assert.is(days('2025-02-28T23:59:59'), 28);
  assert.is(days('2100-02-01T00:00:00'), 28);
  assert.is(days('2000-02-29T00:00:00'), 29);
  assert.is(days('2025-12-31T23:59:59'), 31);
});

bounds('times before 1970 and far ahead have their periods too', () => {
  assertPeriod(
    'daily',
    'UTC',
    utc('1969-12-31T23:59:59'),
    '1969-12-31T00:00+00:00',
    '1970-01-01T00:00+00:00',
  );
  assertPeriod('hourly', 'UTC', -1, '1969-12-31T23:00+00:00', '1970-01-01T00:00+00:00');
  assertPeriod(
    'monthly',
    'UTC',
    utc('2399-12-31T23:59:59'),
    '2399-12-01T00:00+00:00',
    '2400-01-01T00:00+00:00',
  );
});

bounds.run();

const clockChanges = suite('interval: clock changes');

clockChanges('a day in Berlin has 23 hours in March and 25 in October', () => {
  const length = (iso: string) => {
    const { start, end } = periodAt('daily', 'Europe/Berlin', utc(iso));
    return (end - start) / HOUR;
  };
  assert.is(length('2025-03-29T12:00:00'), 24);
  assert.is(length('2025-03-30T12:00:00'), 23);
  assert.is(length('2025-10-26T12:00:00'), 25);
  assert.is(length('2025-10-27T12:00:00'), 24);
});

clockChanges('a month in Berlin gains and loses the hour', () => {
  const length = (iso: string) => {
    const { start, end } = periodAt('monthly', 'Europe/Berlin', utc(iso));
    return (end - start) / HOUR;
  };
  assert.is(length('2025-03-15T00:00:00'), 31 * 24 - 1);
  assert.is(length('2025-10-15T00:00:00'), 31 * 24 + 1);
});

clockChanges('hourly periods are neither skipped nor doubled', () => {
  for (const [timezone, day, count] of [
    ['Europe/Berlin', '2025-03-30', 23],
    ['Europe/Berlin', '2025-10-26', 25],
    ['America/New_York', '2025-03-09', 23],
    ['America/New_York', '2025-11-02', 25],
    ['America/Havana', '2025-03-09', 23],
    ['America/Havana', '2025-11-02', 25],
    ['Asia/Beirut', '2025-03-30', 23],
    ['Africa/Casablanca', '2025-02-23', 25],
  ] as const) {
    const { start, end } = periodAt('daily', timezone, local(`${day}T12:00`, timezone));
    let periods = 0;
    for (let at = start; at < end; periods += 1) {
      const period = periodAt('hourly', timezone, at);
      assert.is(period.start, at);
      assert.is(period.end - period.start, HOUR, `${timezone} ${shown(at, timezone)}`);
      at = period.end;
    }
    assert.is(periods, count, `${timezone} ${day}`);
  }
});

clockChanges('the hour that Berlin repeats is two periods of an hour, and of each minute interval', () => {
  const first = utc('2025-10-26T00:30:00');
  assertPeriod('hourly', 'Europe/Berlin', first, '2025-10-26T02:00+02:00', '2025-10-26T02:00+01:00');
  assertPeriod('hourly', 'Europe/Berlin', first + HOUR, '2025-10-26T02:00+01:00', '2025-10-26T03:00+01:00');
  assertPeriod('30_minute', 'Europe/Berlin', first, '2025-10-26T02:30+02:00', '2025-10-26T02:00+01:00');
  assertPeriod(
    '30_minute',
    'Europe/Berlin',
    first + HOUR,
    '2025-10-26T02:30+01:00',
    '2025-10-26T03:00+01:00',
  );
});

clockChanges('periods of several hours keep to the local clock', () => {
  const timezone = 'Europe/Berlin';
  const spring = utc('2025-03-30T01:30:00');
  assertPeriod('2_hour', timezone, spring - HOUR, '2025-03-30T00:00+01:00', '2025-03-30T03:00+02:00');
  assertPeriod('2_hour', timezone, spring, '2025-03-30T03:00+02:00', '2025-03-30T04:00+02:00');
  assertPeriod('6_hour', timezone, spring, '2025-03-30T00:00+01:00', '2025-03-30T06:00+02:00');
  const autumn = utc('2025-10-26T01:30:00');
  assertPeriod('2_hour', timezone, autumn, '2025-10-26T02:00+02:00', '2025-10-26T04:00+01:00');
  assertPeriod('12_hour', timezone, autumn, '2025-10-26T00:00+02:00', '2025-10-26T12:00+01:00');
});

clockChanges('Lord Howe moves by half an hour: the odd half joins the hour before it', () => {
  const timezone = 'Australia/Lord_Howe';
  const spring = utc('2025-10-04T15:40:00');
  assertPeriod('hourly', timezone, spring, '2025-10-05T01:00+10:30', '2025-10-05T03:00+11:00');
  const autumn = utc('2025-04-05T15:10:00');
  assertPeriod('hourly', timezone, autumn, '2025-04-06T01:00+11:00', '2025-04-06T02:00+10:30');
  assertPeriod('30_minute', timezone, autumn, '2025-04-06T01:30+10:30', '2025-04-06T02:00+10:30');
});

clockChanges('Apia had no 30 December 2011', () => {
  const timezone = 'Pacific/Apia';
  const before = local('2011-12-29T12:00', timezone);
  assertPeriod('daily', timezone, before, '2011-12-29T00:00-10:00', '2011-12-31T00:00+14:00');
  assertPeriod('daily', timezone, before + DAY, '2011-12-31T00:00+14:00', '2012-01-01T00:00+14:00');
  assertPeriod('hourly', timezone, before + 11 * HOUR, '2011-12-29T23:00-10:00', '2011-12-31T00:00+14:00');
  assertPeriod('weekly', timezone, before, '2011-12-26T00:00-10:00', '2012-01-02T00:00+14:00');
  assert.is(new Calendar().periodAfter('daily', timezone, before).start, local('2011-12-31T00:00', timezone));
});

clockChanges('a day that starts at one in the morning, and one that has midnight twice', () => {
  // Beirut and Havana skip midnight in spring; Havana repeats the hour after it in autumn.
  assertPeriod(
    'daily',
    'Asia/Beirut',
    local('2025-03-30T12:00', 'Asia/Beirut'),
    '2025-03-30T01:00+03:00',
    '2025-03-31T00:00+03:00',
  );
  assertPeriod(
    'daily',
    'America/Havana',
    utc('2025-11-02T05:30:00'),
    '2025-11-02T00:00-04:00',
    '2025-11-03T00:00-05:00',
  );
  // St. John's went back from 00:01 to 23:01 of the day before: that minute of midnight had opened the day already.
  assertPeriod(
    'daily',
    'America/St_Johns',
    utc('2010-11-07T03:00:00'),
    '2010-11-07T00:00-02:30',
    '2010-11-08T00:00-03:30',
  );
});

clockChanges.run();

const tiling = suite('interval: tiling');

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Casablanca',
  'Pacific/Apia',
  'America/Havana',
  'Asia/Beirut',
  'America/St_Johns',
];
const FROM = Date.UTC(2000, 0);
const TO = Date.UTC(2035, 0);

function changesOf(timezone: string): number[] {
  const changes: number[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(FROM).toZonedDateTimeISO(timezone);
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (!next || next.epochMilliseconds > TO) return changes;
    changes.push(next.epochMilliseconds);
    at = next;
  }
}

/** Any instant, but half of the time one within two days of a clock change, where mistakes are likely. */
const somewhere = fc.constantFrom(...ZONES).chain((timezone) => {
  const changes = changesOf(timezone);
  const anyInstant = fc.integer({ min: FROM, max: TO });
  if (changes.length === 0) return fc.record({ timezone: fc.constant(timezone), at: anyInstant });
  const nearChange = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -2 * DAY, max: 2 * DAY }))
    .map(([change, distance]) => change + distance);
  const atChange = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -90, max: 90 }))
    .map(([change, minutes]) => change + minutes * MINUTE);
  return fc.record({ timezone: fc.constant(timezone), at: fc.oneof(anyInstant, nearChange, atChange) });
});
const anyInterval = fc.constantFrom(...INTERVALS);

tiling('periods tile the time line without gap or overlap', () => {
  fc.assert(
    fc.property(somewhere, anyInterval, ({ timezone, at }, interval) => {
      const period = periodAt(interval, timezone, at);
      assert.ok(period.start <= at && at < period.end, 'the period contains the instant');
      assert.equal(periodAt(interval, timezone, period.start), period);
      assert.equal(periodAt(interval, timezone, period.end - 1), period);
      assert.is(periodAt(interval, timezone, period.end).start, period.end);
      assert.is(periodAt(interval, timezone, period.start - 1).end, period.start);
    }),
    { numRuns: cases(1_500) },
  );
});

tiling('no period of up to an hour is shorter than its interval, and none is twice as long', () => {
  fc.assert(
    fc.property(somewhere, fc.constantFrom(...INTERVALS.slice(0, 8)), ({ timezone, at }, interval) => {
      const { start, end } = periodAt(interval, timezone, at);
      assert.ok(end - start >= nominalLength(interval), 'not shorter');
      assert.ok(end - start < 2 * nominalLength(interval), 'not doubled');
    }),
    { numRuns: cases(1_000) },
  );
});

tiling('a daily period starts at local midnight, or where the day starts that has none', () => {
  fc.assert(
    fc.property(somewhere, ({ timezone, at }) => {
      const { start } = periodAt('daily', timezone, at);
      const wall = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timezone);
      assert.is(wall.toPlainDate().toZonedDateTime(timezone).epochMilliseconds, start);
    }),
    { numRuns: cases(500) },
  );
});

tiling('a calendar that remembers answers as one that does not', () => {
  const calendar = new Calendar();
  fc.assert(
    fc.property(somewhere, anyInterval, ({ timezone, at }, interval) => {
      const period = periodAt(interval, timezone, at);
      assert.equal(calendar.periodAt(interval, timezone, at), period);
      assert.equal(calendar.periodAfter(interval, timezone, at), periodAt(interval, timezone, period.end));
    }),
    { numRuns: cases(1_000) },
  );
});

tiling('a period that was found once is not calculated again for the next instant in it', () => {
  const calendar = new Calendar();
  const at = Date.UTC(2026, 2, 10, 10);
  const [day, hour] = [calendar.periodAt('daily', 'UTC', at), calendar.periodAt('hourly', 'UTC', at)];
  const after = calendar.periodAfter('daily', 'UTC', at);
  assert.is(calendar.periodAt('daily', 'UTC', day.end - 1), day);
  assert.is(calendar.periodAt('hourly', 'UTC', at + 1), hour);
  assert.is(calendar.periodAfter('daily', 'UTC', at), after);
  const next = calendar.periodAt('daily', 'UTC', day.end);
  assert.is.not(next, day);
  for (const one of [day, next, day]) assert.is(calendar.periodAt('daily', 'UTC', one.start), one);
});

tiling.run();

const adding = suite('interval: adding intervals');

adding('keeps the time of day for a day and more, across a clock change', () => {
  const timezone = 'Europe/Berlin';
  const at = local('2025-03-29T02:30', timezone);
  assert.is(addIntervals('daily', timezone, at, 2), local('2025-03-31T02:30', timezone));
  assert.is(addIntervals('weekly', timezone, at, 1), local('2025-04-05T02:30', timezone));
  assert.is(addIntervals('monthly', timezone, at, 1), local('2025-04-29T02:30', timezone));
});

adding('counts real hours for less than a day', () => {
  const at = local('2025-03-30T01:30', 'Europe/Berlin');
  assert.is(addIntervals('hourly', 'Europe/Berlin', at, 3), at + 3 * HOUR);
  assert.is(addIntervals('12_hour', 'Europe/Berlin', at, 1), at + 12 * HOUR);
  assert.is(addIntervals('5_minute', 'Europe/Berlin', at, 2), at + 10 * MINUTE);
});

adding('a monthly job of the 31st is next expected on the last day of a shorter month', () => {
  assert.is(addIntervals('monthly', 'UTC', utc('2025-01-31T04:00:00'), 1), utc('2025-02-28T04:00:00'));
  assert.is(addIntervals('monthly', 'UTC', utc('2025-01-31T04:00:00'), 2), utc('2025-03-31T04:00:00'));
});

adding.run();
