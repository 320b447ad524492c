import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nextAttemptAt, RETRY_WAITS } from '../../src/core/backoff.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const FAILED_AT = Date.UTC(2025, 5, 1, 12);

const backoff = suite('backoff');

backoff('the schedule of decisions.md: ten retries, then the delivery is dead', () => {
  const waits = [
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
  ];
  assert.equal([...RETRY_WAITS], waits);
  waits.forEach((wait, index) => {
    assert.is(nextAttemptAt(index + 1, FAILED_AT, 0.5), FAILED_AT + wait);
  });
  assert.is(nextAttemptAt(11, FAILED_AT, 0.5), null);
  assert.is(nextAttemptAt(500, FAILED_AT, 0.5), null);
});

backoff('each wait is up to 10 % shorter or longer', () => {
  assert.is(nextAttemptAt(1, FAILED_AT, 0), FAILED_AT + 9 * SECOND);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: RETRY_WAITS.length }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempts, random) => {
        const wait = nextAttemptAt(attempts, FAILED_AT, random)! - FAILED_AT;
        const nominal = RETRY_WAITS[attempts - 1]!;
        assert.ok(Number.isInteger(wait));
        assert.ok(wait >= 0.9 * nominal && wait <= 1.1 * nominal, `${wait} for ${nominal}`);
        assert.ok(wait <= 25 * HOUR, `a start would take ${wait} for the plan of a clock that ran ahead`);
      },
    ),
  );
});

backoff('Retry-After lengthens a wait', () => {
  assert.is(nextAttemptAt(1, FAILED_AT, 0.5, 2 * HOUR), FAILED_AT + 2 * HOUR);
});

backoff('Retry-After never shortens a wait', () => {
  assert.is(nextAttemptAt(6, FAILED_AT, 0.5, SECOND), FAILED_AT + HOUR);
  assert.is(nextAttemptAt(6, FAILED_AT, 0.5, 0), FAILED_AT + HOUR);
});

backoff('Retry-After is honoured up to 24 h', () => {
  assert.is(nextAttemptAt(1, FAILED_AT, 0.5, 24 * HOUR), FAILED_AT + 24 * HOUR);
  assert.is(nextAttemptAt(1, FAILED_AT, 0.5, 400 * HOUR), FAILED_AT + 24 * HOUR);
});

backoff('Retry-After brings no dead delivery back', () => {
  assert.is(nextAttemptAt(11, FAILED_AT, 0.5, HOUR), null);
});

backoff.run();
