/** Why nobody was told, in the words of the lists of alerts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { whyUntold } from '../../src/core/told.ts';

const test = suite('why nobody was told');

test('an alert of a snitch without targets has nobody to tell', () => {
  assert.is(whyUntold(undefined), 'nobody to tell');
  assert.is(whyUntold(null), 'nobody to tell');
});

test('a blind window is told only where it was longer than a minute', () => {
  const from = '2026-03-14T12:00:00.000Z';
  assert.is(whyUntold({ from, to: '2026-03-14T12:01:00.000Z' }), 'too short to tell');
  assert.is(whyUntold({ from, to: '2026-03-14T12:01:00.001Z' }), 'nobody to tell');
});

test.run();
