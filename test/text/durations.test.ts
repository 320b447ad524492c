/** Lengths of time and instants, as people read them everywhere. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  compactDuration,
  DAY,
  durationInWords,
  HOUR,
  MINUTE,
  SECOND,
  shortDuration,
} from '../../src/text/durations.ts';
import { exactTime, inTimeZone, minuteInTimeZone, wallMinute, wallTime } from '../../src/text/times.ts';

const test = suite('lengths of time and instants');

const LENGTHS = [0, 999, SECOND, 61 * SECOND, HOUR, 25 * HOUR, 2 * DAY, DAY + 59 * SECOND];

test('a length of time in words, in short, and in a column', () => {
  assert.equal(LENGTHS.map(durationInWords), [
    ...['0 s', '0 s', '1 s', '1 min 1 s', '1 h', '1 day 1 h', '2 days', '1 day'],
  ]);
  assert.equal(LENGTHS.map(shortDuration), ['0ms', '999ms', '1s', '1m 1s', '1h', '1d 1h', '2d', '1d']);
  assert.equal(LENGTHS.map(compactDuration), ['0s', '0s', '1s', '1m', '1h', '1d1h', '2d', '1d']);
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
