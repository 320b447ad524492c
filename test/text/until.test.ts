/** What people type for the end of a pause: the command line and the dashboard take the same. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { understandUntil } from '../../src/text/until.ts';

/** A Monday, on the clock of this host. */
const MONDAY = new Date(2026, 2, 2, 12).getTime();
const DAY = 86_400_000;

const test = suite('the end of a pause');

function local(text: string, now = MONDAY): string {
  const understood = understandUntil(text, now);
  if ('problem' in understood) throw new Error(understood.problem);
  const at = new Date(understood.until);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

test('words, lengths of time, times of day and dates', () => {
  assert.equal(understandUntil(' Forever ', MONDAY), { until: 'unpaused' });
  assert.equal(understandUntil('healthy', MONDAY), { until: 'healthy' });
  assert.is(local('15m'), '2026-03-02 12:15');
  assert.is(local('in 1d12h'), '2026-03-04 00:00');
  assert.is(local('14:30'), '2026-03-02 14:30');
  assert.is(local('9:05'), '2026-03-03 09:05');
  assert.is(local('tomorrow'), '2026-03-03 00:00');
  assert.is(local('2026-03-15'), '2026-03-15 00:00');
  assert.is(local('2026-03-15 08:15'), '2026-03-15 08:15');
});

test('a time of day is the next one, and an instant with an offset is that instant', () => {
  assert.is(local('12:00'), '2026-03-03 12:00', 'now is not the next noon');
  assert.is(local('12:01'), '2026-03-02 12:01');
  assert.is(local('00:00'), '2026-03-03 00:00');
  assert.is(local('23:59'), '2026-03-02 23:59');
  assert.equal(understandUntil('14:30', MONDAY + 59_999), understandUntil('14:30', MONDAY));
  assert.equal(understandUntil('2026-03-15T08:15:30+02:00', MONDAY), { until: '2026-03-15T06:15:30.000Z' });
  assert.equal(understandUntil('2026-03-15t08:15:30z', MONDAY), { until: '2026-03-15T08:15:30.000Z' });
  assert.equal(understandUntil('unpaused', MONDAY), { until: 'unpaused' });
  const latest = 8_640_000_000_000_000;
  assert.equal(understandUntil(`${latest - MONDAY}ms`, MONDAY), { until: new Date(latest).toISOString() });
});

test('a weekday is never today: on a Monday, monday is a week away', () => {
  assert.is(local('monday'), '2026-03-09 00:00');
  assert.is(local('mon'), '2026-03-09 00:00');
  assert.is(local('sun'), '2026-03-08 00:00');
  assert.is(local('Thu'), '2026-03-05 00:00');
  assert.is(local('saturday'), '2026-03-07 00:00');
  assert.is(local('sunday', MONDAY + 6 * DAY), '2026-03-15 00:00');
  assert.is(local('tuesday', MONDAY + DAY), '2026-03-10 00:00');
});

test('a day that its month does not have is not understood, and not taken for one of the next month', () => {
  for (const text of ['2027-02-30', '2027-02-29 08:00', '2026-04-31T10:00', '2026-11-31T00:00:00Z']) {
    assert.match(
      (understandUntil(text, MONDAY) as { problem?: string }).problem ?? 'understood',
      /is not understood/,
      text,
    );
  }
  assert.is(local('2028-02-29'), '2028-02-29 00:00');
});

test('what is not understood, or lies in the past, is said in words', () => {
  const problemOf = (text: string) => {
    const understood = understandUntil(text, MONDAY);
    return 'problem' in understood ? understood.problem : '';
  };
  assert.match(problemOf('soon'), /^"soon" is not understood: write healthy, unpaused, a length of time/);
  assert.match(problemOf(''), /^until when\? Write healthy/);
  assert.match(problemOf('2026-03-01'), /^2026-.* is in the past$/);
  assert.match(problemOf(new Date(MONDAY).toISOString()), /is in the past$/);
  assert.match(problemOf('0s'), /is in the past$/);
  for (const text of [
    '24:00',
    '14:60',
    'to',
    'mond',
    '2026-03',
    '2026-03-15T',
    '3000000000h',
    '1 2026-03-15',
  ]) {
    assert.match(problemOf(text), 'is not understood', text);
  }
  for (const text of ['25:00', '2026-13-01', '999999999d', 'next', '-2h']) assert.ok(problemOf(text), text);
});

test.run();
