/** Expectations as people type them. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { expectTexts, mergedExpectations, readExpectText } from '../../../src/core/judgement/expect-text.ts';
import type { Expectation } from '../../../src/core/judgement/rules.ts';

const test = suite('expectations as texts');

const BYTES: Expectation = { value: 'bytes', min: null, max: null, of_usual: null, required: true };

test('spellings that people are likely to try are understood', () => {
  const texts: [string, Partial<Expectation>][] = [
    ['bytes', {}],
    ['bytes>=1000000', { min: 1e6 }],
    [' bytes >= 1M ', { min: 1e6 }],
    ['bytes<=1.5Gi', { max: 1.5 * 2 ** 30 }],
    ['bytes<=10k', { max: 10_000 }],
    ['bytes=10..20', { min: 10, max: 20 }],
    ['bytes=10..', { min: 10 }],
    ['bytes=..20', { max: 20 }],
    ['bytes=-1..1e3', { min: -1, max: 1_000 }],
    ['bytes=0', { min: 0, max: 0 }],
    ['bytes=0.5x..3x', { of_usual: [0.5, 3] }],
    ['bytes=0.5x..', { of_usual: [0.5, null] }],
    ['bytes>=0.5x', { of_usual: [0.5, null] }],
    ['bytes<=3X', { of_usual: [null, 3] }],
    ['bytes?>=1', { min: 1, required: false }],
    ['bytes? = 1..2', { min: 1, max: 2, required: false }],
  ];
  for (const [text, expected] of texts) assert.equal(readExpectText(text), { ...BYTES, ...expected }, text);
});

test('anything else is refused with an explanation', () => {
  const wrong: [string, RegExp][] = [
    ['', /begins with the name/],
    ['Bytes>=1', /begins with the name/],
    ['bytes>1', /write >= or <=/],
    ['bytes<1', /write >= or <=/],
    ['bytes≥1', /write >= or <=/],
    ['bytes>=', /"" is no number/],
    ['bytes>=1Q', /"1Q" is no number/],
    ['bytes>=1,5', /no number/],
    ['bytes=..', /is no range/],
    ['bytes=1..2..3', /is no range/],
    ['bytes=1..3x', /"1" is no factor/],
    ['bytes=ax..3x', /"ax" is no factor/],
    ['bytes?', /it expects nothing/],
    ['bytes == 1', /no number/],
    ['rows between 1 and 2', /begins with the name/],
  ];
  for (const [text, words] of wrong) {
    const read = readExpectText(text);
    assert.type(read, 'string', text);
    assert.match(String(read), words, text);
  }
});

test('several limits of one value are combined', () => {
  const read = ['bytes>=1', 'bytes=0.5x..3x', 'rows?<=9', 'bytes<=5'].map(readExpectText) as Expectation[];
  assert.equal(mergedExpectations(read), [
    { ...BYTES, min: 1, max: 5, of_usual: [0.5, 3] },
    { ...BYTES, value: 'rows', max: 9, required: false },
  ]);
});

test('each expectation can be written as text and read back', () => {
  const number = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
  );
  const factor = fc.double({ min: 0, max: 1e9, noNaN: true }).map((one) => one + 0);
  const both = <T>(one: fc.Arbitrary<T>) => fc.tuple(fc.option(one), fc.option(one));
  fc.assert(
    fc.property(both(number), fc.option(both(factor)), fc.boolean(), ([min, max], factors, required) => {
      const isNothing = factors === null || factors.every((one) => one === null);
      const of_usual = isNothing ? null : factors;
      if (!required && min === null && max === null && of_usual === null) return;
      const one: Expectation = { value: 'bytes', min, max, of_usual, required };
      const read = expectTexts(one).map(readExpectText) as Expectation[];
      assert.equal(mergedExpectations(read), [one], expectTexts(one).join(' '));
    }),
  );
});

test.run();
