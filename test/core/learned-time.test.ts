/** When the check-in of a period is expected, judging by the places of the known ones. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar, type Interval } from '../../src/core/interval.ts';
import { learnedTime } from '../../src/core/smart-deadline.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const calendar = new Calendar();

const test = suite('learned times');

/** The first check-ins of the `count` periods before the one of `at`, each at the place that `placeOf` gives. */
function history(
  interval: Interval,
  timezone: string,
  at: number,
  count: number,
  placeOf: (index: number) => number,
): number[] {
  const instants: number[] = [];
  let { start } = calendar.periodAt(interval, timezone, at);
  for (let index = 0; index < count; index += 1) {
    ({ start } = calendar.periodAt(interval, timezone, start - 1));
    instants.unshift(start + placeOf(index));
  }
  return instants;
}

test('it is from the earliest to the latest place, in every zone whose clock stays as it is', () => {
  const at = Date.UTC(2026, 5, 17, 12);
  for (const timezone of ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/Phoenix', 'Europe/Berlin']) {
    for (const [interval, length] of [
      ['hourly', HOUR],
      ['6_hour', 6 * HOUR],
      ['daily', DAY],
      ['weekly', 7 * DAY],
    ] as const) {
      for (const count of [5, 7, 10]) {
        const places = Array.from(
          { length: count },
          (_, index) => ((index * 37 + count) % 11) * (length / 12),
        );
        const known = history(interval, timezone, at, count, (index) => places[index] ?? 0);
        const period = calendar.periodAt(interval, timezone, at);
        assert.equal(
          learnedTime(period, interval, timezone, known),
          { start: period.start + Math.min(...places), end: period.start + Math.max(...places) },
          `${count} times ${interval} in ${timezone}`,
        );
      }
    }
  }
});

test('a clock change within the history, or the period, leaves both readings open', () => {
  for (const [month, date] of [
    [2, 29],
    [2, 31],
    [9, 25],
    [9, 27],
  ] as const) {
    const at = Date.UTC(2026, month, date, 12);
    const period = calendar.periodAt('daily', 'Europe/Berlin', at);
    // By the local clock at five, on days of 23, 24 and 25 hours.
    const instants = Array.from(
      { length: 9 },
      (_, back) =>
        Temporal.Instant.fromEpochMilliseconds(at)
          .toZonedDateTimeISO('Europe/Berlin')
          .subtract({ days: back + 1 })
          .startOfDay()
          .with({ hour: 5 }).epochMilliseconds,
    ).reverse();
    const expected = learnedTime(period, 'daily', 'Europe/Berlin', instants);
    const real = Temporal.Instant.fromEpochMilliseconds(at)
      .toZonedDateTimeISO('Europe/Berlin')
      .startOfDay()
      .with({ hour: 5 }).epochMilliseconds;
    assert.ok(expected && expected.start <= real && real <= expected.end);
    assert.ok((expected?.end ?? 0) - (expected?.start ?? 0) <= HOUR);
  }
});

test('with fewer than five check-ins nothing is known', () => {
  const at = Date.UTC(2026, 5, 17, 12);
  const period = calendar.periodAt('daily', 'UTC', at);
  assert.is(
    learnedTime(
      period,
      'daily',
      'UTC',
      history('daily', 'UTC', at, 4, () => HOUR),
    ),
    null,
  );
});

test('a clock change at the very end of the period is not within it', () => {
  // In Havana clocks are set forward at midnight: Saturday ends as Sunday begins, at 01:00.
  const zone = 'America/Havana';
  const twoOClock = (day: string) => Temporal.PlainDateTime.from(`${day}T02:00`).toZonedDateTime(zone);
  const tenUntil = (day: string) =>
    Array.from({ length: 10 }, (_, back) => twoOClock(day).subtract({ days: 9 - back }).epochMilliseconds);
  // An earlier change in the history has shown that the job follows the local clock.
  const known = [...tenUntil('2025-10-20'), ...tenUntil('2026-03-06')];
  const saturday = twoOClock('2026-03-07').epochMilliseconds;
  const period = calendar.periodAt('daily', zone, saturday);
  assert.equal(learnedTime(period, 'daily', zone, known), { start: saturday, end: saturday });
});

test.run();
