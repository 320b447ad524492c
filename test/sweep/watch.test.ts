/** Where time does not pass evenly, nothing was heard. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Watch } from '../../src/sweep/watch.ts';

const SECOND = 1_000;

const test = suite('the watch over the clock');

/** A watch that looks at each of these seconds. */
function lookingAt(...seconds: number[]): Watch {
  let now = 0;
  const watch = new Watch(() => now);
  for (const second of seconds) {
    now = second * SECOND;
    assert.is(watch.look(), now);
  }
  return watch;
}

test('a quarter of a minute without a look is none, and a moment more is a window', () => {
  assert.is(lookingAt(100).window, null);
  assert.is(lookingAt(100, 115, 130).window, null);
  assert.equal(lookingAt(100, 115.001).window, { start: 100 * SECOND, end: 115_001 });
  assert.equal(lookingAt(100, 101, 120).window, { start: 101 * SECOND, end: 120 * SECOND });
});

test('a clock that is set back is no window', () => {
  assert.is(lookingAt(1_000, 100, 110).window, null);
});

test('two windows that nobody was told about are one', () => {
  assert.equal(lookingAt(100, 200, 201, 300).window, { start: 100 * SECOND, end: 300 * SECOND });
});

test('what was noticed after a window was reported remains', () => {
  const watch = lookingAt(100, 200);
  const { window } = watch;
  watch.blind(200 * SECOND, 250 * SECOND);
  watch.told(window);
  assert.equal(watch.window, { start: 100 * SECOND, end: 250 * SECOND });
  watch.told(watch.window);
  assert.is(watch.window, null);
});

test('a daemon that begins to listen was blind until then, and only where it was blind before', () => {
  let now = 10 * SECOND;
  const watch = new Watch(() => now);
  watch.listens();
  assert.is(watch.window, null);
  watch.blind(5 * SECOND, now);
  now = 12 * SECOND;
  watch.listens();
  assert.equal(watch.window, { start: 5 * SECOND, end: 12 * SECOND });
});

test.run();
