/** Lengths of time and instants, as people read them everywhere. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  compactDuration,
  DAY,
  durationInWords,
  durationOf,
  HOUR,
  MINUTE,
  runDuration,
  SECOND,
  shortDuration,
  WEEK,
} from '../../src/text/durations.ts';
import {
  ago,
  exactTime,
  inTimeZone,
  minuteInTimeZone,
  relativeTime,
  terminalTime,
  wallMinute,
  wallTime,
} from '../../src/text/times.ts';

const test = suite('lengths of time and instants');

const LENGTHS = [0, 999, SECOND, 61 * SECOND, HOUR, 25 * HOUR, 2 * DAY, DAY + 59 * SECOND];

test('a length of time in words, in short, and in a column', () => {
  assert.equal(LENGTHS.map(durationInWords), [
    ...['0 s', '0 s', '1 s', '1 min 1 s', '1 h', '1 day 1 h', '2 days', '1 day'],
  ]);
  assert.equal(LENGTHS.map(shortDuration), ['0ms', '999ms', '1s', '1m 1s', '1h', '1d 1h', '2d', '1d']);
  assert.equal(LENGTHS.map(compactDuration), ['0s', '0s', '1s', '1m', '1h', '1d1h', '2d', '1d']);
});

test('the second unit is shown only where it says something', () => {
  assert.is(shortDuration(9 * HOUR + 59 * MINUTE), '9h 59m');
  assert.is(shortDuration(10 * HOUR + 59 * MINUTE), '10h');
  assert.is(compactDuration(9 * DAY + 23 * HOUR), '9d23h');
  assert.is(compactDuration(10 * DAY + 23 * HOUR), '10d');
  assert.is(compactDuration(HOUR + MINUTE), '1h1m');
  assert.is(compactDuration(5 * MINUTE + 30 * SECOND), '5m', 'seconds beside minutes are too restless');
  assert.is(shortDuration(-1), '0ms');
  assert.is(shortDuration(1.9), '1ms');
});

test('how long a job ran', () => {
  const lengths = [0, 849.6, 999, SECOND, 4_249, 59_900, MINUTE, 190_999, HOUR - 1, HOUR, 200 * MINUTE];
  assert.equal(lengths.map(runDuration), [
    ...['0ms', '850ms', '999ms', '1.0s', '4.2s', '59.9s', '1m0s', '3m10s', '59m59s', '1h', '3h20m'],
  ]);
});

test('what people type as a length of time', () => {
  const typed: Record<string, number | null> = {
    '250ms': 250,
    '90s': 90 * SECOND,
    '5 sec': 5 * SECOND,
    '1 second': SECOND,
    '15m': 15 * MINUTE,
    '2min': 2 * MINUTE,
    '3 minutes': 3 * MINUTE,
    '2h': 2 * HOUR,
    '1 hour 30 minutes': 90 * MINUTE,
    ' 1D12H ': 36 * HOUR,
    '1 day  2 hours': 26 * HOUR,
    '2 weeks': 2 * WEEK,
    '1.5h': 90 * MINUTE,
    '0.0004s': 0,
    '0.0006s': 1,
    '': null,
    '  ': null,
    '5': null,
    h: null,
    '2h5': null,
    '2h and 5m': null,
    '-2h': null,
    '1.h': null,
    [`${'9'.repeat(30)}w`]: null,
  };
  for (const [text, length] of Object.entries(typed)) assert.is(durationOf(text), length, text);
});

test('an instant as it is seen from now', () => {
  const now = Date.UTC(2026, 2, 10, 12);
  const seen = (distance: number) => relativeTime(new Date(now + distance).toISOString(), now);
  assert.equal([-999, 0, 999, -SECOND, SECOND, -310 * SECOND, 2 * HOUR].map(seen), [
    'just now',
    'just now',
    'just now',
    '1s ago',
    'in 1s',
    '5m 10s ago',
    'in 2h',
  ]);
  assert.is(relativeTime('soon', now), 'soon');
  assert.is(ago(now - 200 * MINUTE, now), '3h20m ago');
  assert.is(ago(now + MINUTE, now), '0s ago', 'a clock that is ahead');
  assert.is(ago(null, now), 'never');
});

test('an instant on the clock of this terminal', () => {
  const zone = process.env.TZ;
  try {
    const shown: Record<string, string> = {
      UTC: '2026-01-02 03:04:05 +00:00',
      'Europe/Berlin': '2026-01-02 04:04:05 +01:00',
      'America/St_Johns': '2026-01-01 23:34:05 -03:30',
      'Asia/Kathmandu': '2026-01-02 08:49:05 +05:45',
    };
    for (const [name, text] of Object.entries(shown)) {
      process.env.TZ = name;
      assert.is(terminalTime('2026-01-02T03:04:05.678Z'), text);
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
  assert.is(terminalTime('soon'), 'soon');
});

test('a column of five is wide enough for thirty years', () => {
  for (const length of [59 * SECOND, 59 * MINUTE, 23 * HOUR, 10 * HOUR - 1, 10 * DAY - 1, 9_999 * DAY]) {
    assert.ok(compactDuration(length).length <= 5, compactDuration(length));
  }
});

test('the hour that a clock change repeats is told apart where it matters', () => {
  const second = Date.UTC(2026, 9, 25, 1, 30, 5);
  assert.is(exactTime(second - HOUR, 'Europe/Berlin'), '2026-10-25 02:30:05 (Europe/Berlin, UTC+02:00)');
  assert.is(exactTime(second, 'Europe/Berlin'), '2026-10-25 02:30:05 (Europe/Berlin, UTC+01:00)');
  assert.is(exactTime(second, 'UTC'), '2026-10-25 01:30:05 (UTC)');
  assert.is(inTimeZone(second, 'Europe/Berlin'), '2026-10-25 02:30:05 (Europe/Berlin)');
  assert.is(minuteInTimeZone(second, 'Europe/Berlin'), '2026-10-25 02:30 (Europe/Berlin)');
  assert.is(wallTime(second, 'Europe/Berlin'), '2026-10-25 02:30:05');
  assert.is(wallMinute(second, 'Europe/Berlin'), '2026-10-25 02:30');
});

test.run();
