/** What a run is expected to report, in words. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWords } from '../../../src/core/explanation/run-rule-reasons.ts';

const test = suite('an expectation in words');

const bytes = { value: 'bytes', min: null, max: null, of_usual: null, required: true } as const;

test('its limits, and whether it may be left out', () => {
  assert.is(inWords({ ...bytes, min: 1 }), 'bytes, 1 or more');
  assert.is(inWords({ ...bytes, max: 9 }), 'bytes, 9 or less');
  assert.is(inWords({ ...bytes, min: 3, max: 3 }), 'bytes, 3');
  assert.is(
    inWords({ ...bytes, min: 0, max: 3, required: false }),
    'bytes, from 0 to 3, if it reports it at all',
  );
  assert.is(inWords(bytes), 'bytes');
});

test.run();
