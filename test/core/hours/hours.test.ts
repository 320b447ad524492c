import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DAYS, type Hours, hoursText, openingFrom } from '../../../src/core/hours/hours.ts';
import { checkHours, parseHours } from '../../../src/core/hours/hours-input.ts';

const test = suite('hours');

const OFFICE: Hours = {
  timezone: 'Europe/Berlin',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '08:00',
  to: '18:00',
};

const at = (iso: string) => Date.parse(iso);
const opening = (hours: Partial<Hours>, iso: string) =>
  new Date(openingFrom({ ...OFFICE, ...hours }, at(iso))).toISOString().slice(0, 19);

const all = DAYS;

test('an instant within the hours is its own opening, the first one included and the last one not', () => {
  // 10 July 2025 is a Thursday; Berlin is two hours ahead of UTC.
  assert.is(opening({}, '2025-07-10T09:30:00Z'), '2025-07-10T09:30:00');
  assert.is(opening({}, '2025-07-10T06:00:00Z'), '2025-07-10T06:00:00');
  assert.is(opening({}, '2025-07-10T15:59:59Z'), '2025-07-10T15:59:59');
  assert.is(opening({}, '2025-07-10T16:00:00Z'), '2025-07-11T06:00:00');
  assert.is(opening({}, '2025-07-10T05:59:59Z'), '2025-07-10T06:00:00');
});

test('days that are not listed are skipped', () => {
  assert.is(opening({}, '2025-07-11T16:00:00Z'), '2025-07-14T06:00:00');
  assert.is(opening({ days: ['thu'] }, '2025-07-10T16:00:00Z'), '2025-07-17T06:00:00');
});

test('a window over midnight belongs to the day on which it opens', () => {
  const night = { from: '22:00', to: '06:00', days: ['fri'] as const };
  assert.is(opening(night, '2025-07-11T19:00:00Z'), '2025-07-11T20:00:00');
  assert.is(opening(night, '2025-07-12T03:00:00Z'), '2025-07-12T03:00:00', 'Saturday at five');
  assert.is(opening(night, '2025-07-11T03:00:00Z'), '2025-07-11T20:00:00', 'Friday at five');
  assert.is(opening(night, '2025-07-12T04:00:00Z'), '2025-07-18T20:00:00');
});

test('from and to at the same time mean a whole day, and 24:00 is its end', () => {
  const day = { from: '09:00', to: '09:00', days: ['mon'] as const };
  assert.is(opening(day, '2025-07-15T06:59:59Z'), '2025-07-15T06:59:59');
  assert.is(opening(day, '2025-07-15T07:00:00Z'), '2025-07-21T07:00:00');
  const always = { from: '00:00', to: '24:00', days: all };
  for (const hour of ['2025-07-10T21:59:59', '2025-07-10T22:00:00', '2025-07-11T12:00:00']) {
    assert.is(opening(always, `${hour}Z`), hour);
  }
  assert.is(
    opening({ from: '18:00', to: '24:00', days: ['thu'] }, '2025-07-10T22:00:00Z'),
    '2025-07-17T16:00:00',
  );
});

test('an opening that a clock change skips is the end of the gap', () => {
  // Berlin goes from 02:00 to 03:00 on 30 March 2025, at 01:00 UTC.
  const early = { from: '02:30', to: '05:00', days: all };
  assert.is(opening(early, '2025-03-30T00:00:00Z'), '2025-03-30T01:00:00');
  assert.is(opening(early, '2025-03-29T00:00:00Z'), '2025-03-29T01:30:00');
  // Lord Howe goes from 02:00 to 02:30 on 5 October 2025, at 15:30 UTC of the day before.
  const howe = { timezone: 'Australia/Lord_Howe', from: '02:15', to: '04:00', days: all };
  assert.is(opening(howe, '2025-10-04T14:00:00Z'), '2025-10-04T15:30:00');
});

test('a closing that a clock change skips is the end of the gap as well', () => {
  const late = { from: '22:00', to: '02:30', days: all };
  assert.is(opening(late, '2025-03-30T00:59:59Z'), '2025-03-30T00:59:59');
  assert.is(opening(late, '2025-03-30T01:00:00Z'), '2025-03-30T20:00:00');
  assert.is(
    opening({ from: '02:10', to: '02:50', days: ['sun'] }, '2025-03-29T12:00:00Z'),
    '2025-04-06T00:10:00',
    'all of it is skipped',
  );
});

test('a window contains a repeated hour both times', () => {
  // Berlin goes from 03:00 back to 02:00 on 26 October 2025, at 01:00 UTC.
  const early = { from: '02:30', to: '05:00', days: all };
  assert.is(opening(early, '2025-10-26T00:00:00Z'), '2025-10-26T00:30:00', 'opens the first time');
  assert.is(opening(early, '2025-10-26T01:10:00Z'), '2025-10-26T01:10:00', 'and stays open');
  const late = { from: '22:00', to: '02:30', days: all };
  assert.is(opening(late, '2025-10-26T00:45:00Z'), '2025-10-26T00:45:00');
  assert.is(opening(late, '2025-10-26T01:29:59Z'), '2025-10-26T01:29:59', 'closes the second time');
  assert.is(opening(late, '2025-10-26T01:30:00Z'), '2025-10-26T21:00:00');
  // New York does so on 2 November 2025, at 06:00 UTC.
  const york = { timezone: 'America/New_York', from: '20:00', to: '01:30', days: all };
  assert.is(opening(york, '2025-11-02T06:29:00Z'), '2025-11-02T06:29:00');
  assert.is(opening(york, '2025-11-02T06:30:00Z'), '2025-11-03T01:00:00');
});

test('if a zone skipped a day, the hours open on the next one', () => {
  // Samoa had no 30 December 2011, a Friday.
  const apia = { timezone: 'Pacific/Apia', from: '08:00', to: '18:00', days: ['fri'] as const };
  assert.is(opening(apia, '2011-12-29T12:00:00Z'), '2012-01-05T18:00:00');
});

test('an opening lies within the hours, and never before the instant asked about', () => {
  for (let hour = 0; hour < 24 * 400; hour += 5) {
    const from = at('2025-01-01T00:17:00Z') + hour * 3_600_000;
    for (const to of ['18:00', '08:00', '03:00']) {
      const hours = { ...OFFICE, to };
      const opens = openingFrom(hours, from);
      assert.ok(opens >= from);
      assert.is(openingFrom(hours, opens), opens);
    }
  }
});

test('hours in a request are checked and normalised', () => {
  const given = { timezone: 'europe/berlin', days: ['Fri', 'mon', 'mon'], from: '8:00', to: '24:00' };
  assert.equal(checkHours(given), {
    hours: { timezone: 'Europe/Berlin', days: ['mon', 'fri'], from: '08:00', to: '24:00' },
  });
  assert.equal(checkHours({ timezone: 'UTC', from: '08:00', to: '09:00' }).hours?.days, DAYS);
  const bad: [unknown, RegExp][] = [
    ['08:00-18:00', /must be null or like/],
    [[], /must be null or like/],
    [{ ...given, timezone: 'Berlin' }, /needs a timezone/],
    [{ ...given, timezone: undefined }, /needs a timezone/],
    [{ ...given, days: [] }, /at least one of mon/],
    [{ ...given, days: ['monday'] }, /at least one of mon/],
    [{ ...given, days: 'mon' }, /at least one of mon/],
    [{ ...given, from: '24:00' }, /from as a time/],
    [{ ...given, from: 8 }, /from as a time/],
    [{ ...given, to: '24:01' }, /to as a time/],
    [{ ...given, to: '18' }, /to as a time/],
  ];
  for (const [body, message] of bad) assert.match(checkHours(body).problem ?? '', message);
});

test('hours are written as a line of text and read back', () => {
  const table: [string, string][] = [
    ['mon-fri 08:00-18:00 Europe/Berlin', 'mon-fri 08:00-18:00 Europe/Berlin'],
    ['Fri-Mon 22:00-6:00', 'mon,fri-sun 22:00-06:00 UTC'],
    ['mon, wed,sun 08:00-24:00 utc', 'mon,wed,sun 08:00-24:00 UTC'],
    ['08:00-18:00', '08:00-18:00 UTC'],
    ['daily 08:00-08:00', '08:00-08:00 UTC'],
  ];
  for (const [text, shown] of table) {
    const { hours, problem } = parseHours(text, 'UTC');
    assert.is(problem, undefined);
    assert.is(hours && hoursText(hours), shown);
  }
  for (const text of [
    '',
    'mon-fri',
    'mon-fri 8-18',
    'moon 08:00-18:00',
    '08:00-18:00 UTC now',
    'mon-tue-wed 08:00-18:00',
    '08:00-25:00',
    '08:00-18:00 Nowhere/Land',
  ]) {
    assert.match(parseHours(text, 'UTC').problem ?? '', /write "mon-fri 08:00-18:00 Europe\/Berlin"/, text);
  }
});

test.run();
