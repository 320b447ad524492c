/** When a run that its job reported as a success counts as an error, and how that is worded. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { judge } from '../../../src/core/judgement/judge.ts';
import { roundedNumber } from '../../../src/core/judgement/number-words.ts';
import { ANY_RUN, type Expectation, type RunRules } from '../../../src/core/judgement/rules.ts';

const test = suite('the judgement of a run');

const BYTES: Expectation = { value: 'bytes', min: null, max: null, of_usual: null, required: true };

function reason(
  rules: Partial<RunRules>,
  values: Record<string, number> = {},
  { durationMs = null, usual = null }: { durationMs?: number | null; usual?: number | null } = {},
): string | null {
  return judge({ durationMs, values }, { ...ANY_RUN, ...rules }, () => usual);
}

const expecting = (expectation: Partial<Expectation>) => ({ expect: [{ ...BYTES, ...expectation }] });

test('without rules, every run is what its job says', () => {
  assert.is(reason({}, { bytes: 0 }, { durationMs: 0 }), null);
});

test('a run that is known to have taken less is too short', () => {
  const rules = { minRuntime: 300 };
  assert.is(reason(rules, {}, { durationMs: 2_400 }), 'too short: 2 s of at least 5 min');
  assert.is(reason(rules, {}, { durationMs: 299_999 }), 'too short: 4 min 59 s of at least 5 min');
  assert.is(reason(rules, {}, { durationMs: 300_000 }), null);
  assert.is(reason(rules, {}, { durationMs: null }), null, 'its start was not reported');
});

test('a value has limits, and the limits themselves are allowed', () => {
  assert.is(reason(expecting({ min: 1_000_000 }), { bytes: 120 }), 'bytes 120 is below 1000000');
  assert.is(reason(expecting({ min: 1_000_000 }), { bytes: 1_000_000 }), null);
  assert.is(reason(expecting({ max: 2.5 }), { bytes: 2.6 }), 'bytes 2.6 is above 2.5');
  assert.is(reason(expecting({ max: 2.5 }), { bytes: 2.5 }), null);
});

test('an absent value is reported missing unless it is optional', () => {
  assert.is(reason(expecting({ min: 1 }), { other: 7 }), 'bytes is missing');
  assert.is(reason(expecting({})), 'bytes is missing');
  assert.is(reason(expecting({ min: 1, required: false })), null);
  assert.is(reason(expecting({ min: 1, required: false }), { bytes: 0 }), 'bytes 0 is below 1');
  const named: Expectation = { ...BYTES, value: 'constructor' };
  assert.is(reason({ expect: [named] }), 'constructor is missing');
});

test('a value is compared with the usual one, in everyday words', () => {
  const of = (factors: Expectation['of_usual'], bytes: number, usual: number | null) =>
    reason(expecting({ of_usual: factors }), { bytes }, { usual });
  assert.is(of([0.5, 3], 4_100_000, 812e6), 'bytes 4.1 M is less than half of the usual 812 M');
  assert.is(of([0.5, 3], 2.5e9, 812e6), 'bytes 2.5 G is more than 3 times the usual 812 M');
  assert.is(of([0.3, null], 1, 100), 'bytes 1 is less than 0.3 times the usual 100');
  assert.is(of([0.1, null], 9, 100), 'bytes 9 is less than a tenth of the usual 100');
  assert.is(of([null, 2], 201, 100), 'bytes 201 is more than twice the usual 100');
  assert.is(of([0.5, 3], 406e6, 812e6), null, 'half of it is not less than half');
  assert.is(of([0.5, 3], 3 * 812e6, 812e6), null);
  assert.is(of([0.5, 3], 1, null), null, 'too few runs are known');
  assert.is(of([0.5, 3], 5, -100), null, 'half of a number below zero is more');
  assert.is(of([null, 3], 2, 0), 'bytes 2 is more than 3 times the usual 0');
});

test('broken rules are named, at most three of them', () => {
  const expect = ['a', 'b', 'c', 'd'].map((value) => ({ ...BYTES, value }));
  const two = reason({ minRuntime: 60, expect: expect.slice(0, 1) }, {}, { durationMs: 1_000 });
  assert.is(two, 'too short: 1 s of at least 1 min; a is missing');
  assert.is(reason({ expect }), 'a is missing; b is missing; c is missing; and 1 more');
  assert.is(reason({ expect: expect.slice(0, 3) }), 'a is missing; b is missing; c is missing');
});

test('large numbers are rounded as people would say them', () => {
  const shown: [number, string][] = [
    [0, '0'],
    [0.25, '0.25'],
    [7, '7'],
    [999, '999'],
    [999.6, '1 k'],
    [1_000, '1 k'],
    [12_345, '12 k'],
    [999_499, '999 k'],
    [999_600, '1 M'],
    [-4_100_000, '-4.1 M'],
    [3e15, '3 P'],
    [1e20, '100000000000000000000'],
    [0.00012, '0.00012'],
  ];
  for (const [number, words] of shown) assert.is(roundedNumber(number), words, String(number));
});

test.run();
