/** What a run is expected to report, in words. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWords, toleranceReasons } from '../../../src/core/explanation/run-rule-reasons.ts';
import type { SnitchState } from '../../../src/core/snitch.ts';
import { newSnitchState } from '../../../src/core/snitch.ts';

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

test('how many errors in a row are tolerated, and how many there were', () => {
  const said = (changes: Partial<SnitchState>, errorNotices = true) => {
    const tolerant = { ...newSnitchState('daily', 'basic'), failuresBeforeAlert: 3 };
    return toleranceReasons({ ...tolerant, ...changes }, { errorNotices });
  };
  const rule = 'It becomes errored after 3 error check-ins in a row';
  assert.equal(said({}), [`${rule}.`]);
  assert.equal(said({ errorsInRow: 1 }), [`${rule}; the last check-in was one.`]);
  assert.equal(said({ errorsInRow: 2 }), [`${rule}; the last 2 were.`]);
  assert.equal(said({ errorsInRow: 3, status: 'errored' }), [`${rule}.`]);
  assert.equal(said({ failuresBeforeAlert: 1 }), []);
  assert.equal(said({}, false), []);
});

test.run();
