/** Numbers that jobs report, as sentences show them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exactNumber, roundedNumber } from '../../../src/core/judgement/number-words.ts';

const test = suite('number words');

test('numbers are rounded to what people remember, with the unit that fits', () => {
  const rounded: [number, string][] = [
    [0, '0'],
    [0.25, '0.25'],
    [0.001, '0.001'],
    [12.34, '12'],
    [999.4, '999'],
    [999.5, '1 k'],
    [1_234, '1.2 k'],
    [123_456, '123 k'],
    [999_499, '999 k'],
    [999_500, '1 M'],
    [4.1e6, '4.1 M'],
    [-4.1e6, '-4.1 M'],
    [1e9, '1 G'],
    [999.4e9, '999 G'],
    [1.5e12, '1.5 T'],
    [999.4e12, '999 T'],
    [1e15, '1 P'],
    [9.9e17, '990 P'],
  ];
  assert.equal(
    rounded.map(([number]) => roundedNumber(number)),
    rounded.map(([, words]) => words),
  );
});

test('what no unit makes easier to read keeps its digits or its exponent', () => {
  const shown = [1e18, 1.26e21, 0.000_94, -0.000_000_123].map(roundedNumber);
  assert.equal(shown, ['1000000000000000000', '1.3e+21', '0.00094', '-1.2e-7']);
});

test('limits are shown as they were typed', () => {
  assert.equal([1_000_000, 0.5, 1e21].map(exactNumber), ['1000000', '0.5', '1e+21']);
});

test.run();
