/** The quick way to write instants writes what `Date` does. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isoTime } from '../../src/text/iso-time.ts';

const DAY = 86_400_000;
const LAST = 8.64e15;

const test = suite('instants in ISO 8601');

test('an instant is written as Date writes it, on every side of a day, a year and the epoch', () => {
  const days = [
    0,
    -DAY,
    Date.UTC(2000, 1, 29),
    Date.UTC(2026, 2, 10),
    Date.UTC(9999, 11, 31),
    Date.UTC(10_000),
    -62_167_219_200_000,
    LAST - DAY,
    -LAST,
  ];
  for (const day of days) {
    for (const within of [0, 1, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 46_805_250, DAY - 1]) {
      assert.is(isoTime(day + within), new Date(day + within).toISOString());
      // The second time, it comes from what is remembered of the day.
      assert.is(isoTime(day + within), new Date(day + within).toISOString());
    }
  }
  assert.is(isoTime(LAST), new Date(LAST).toISOString());
});

test('more days than are remembered are written as well', () => {
  for (let day = 0; day < 2_500; day += 1) assert.is(isoTime(day * DAY), new Date(day * DAY).toISOString());
  assert.is(isoTime(0), '1970-01-01T00:00:00.000Z');
});

test('what is no instant is refused', () => {
  for (const at of [Number.NaN, Number.POSITIVE_INFINITY, LAST + DAY])
    assert.throws(
      () => isoTime(at),
      (error: unknown) => error instanceof RangeError,
    );
});

test.run();
