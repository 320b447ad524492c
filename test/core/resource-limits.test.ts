/** How many of each resource there can be (`decisions: Limits on resources`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Invalid } from '../../src/core/errors.ts';
import { assertRoom, MOST_API_KEYS, MOST_MEMBERS, MOST_WEBHOOKS } from '../../src/core/resource-limits.ts';

const test = suite('limits on resources');

test('the limits are the decided ones', () => {
  assert.equal([MOST_WEBHOOKS, MOST_API_KEYS, MOST_MEMBERS], [100, 100, 200]);
});

test('one more than the limit is refused, with what to do about it', () => {
  assertRoom('webhooks', 99, 100);
  for (const count of [100, 101]) {
    assert.throws(
      () => assertRoom('webhooks', count, 100),
      (error: unknown) =>
        error instanceof Invalid &&
        error.validations[0]?.attribute === 'webhooks' &&
        error.validations[0].message === 'are too many: 100 is the most, so delete one first',
    );
  }
});

test.run();
