/** Numbers that jobs report, and their usual values. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MOST_NAMES, usualIn, type ValueHistories, withReport } from '../../../src/core/judgement/usual.ts';
import { readValues } from '../../../src/core/judgement/values.ts';

const values = suite('reported values');

values('a number is a number in any everyday spelling', () => {
  const numbers: [string, number][] = [
    ['0', 0],
    ['-0', 0],
    ['1234', 1234],
    [' 12\n', 12],
    ['+7', 7],
    ['-1.5', -1.5],
    ['.5', 0.5],
    ['3.', 3],
    ['1e3', 1_000],
    ['4.2E-2', 0.042],
  ];
  for (const [text, number] of numbers) {
    assert.equal(readValues([['bytes', text]]), { values: { bytes: number }, dropped: [] }, text);
  }
  assert.equal(readValues([['bytes', 12]]).values, { bytes: 12 });
});

values('values that are not numbers are left out, and reported', () => {
  for (const text of [
    '',
    'abc',
    '12k',
    '1,5',
    '1 2',
    '0x10',
    'NaN',
    'Infinity',
    '1e999',
    '--1',
    '1_000',
    '١٢',
  ]) {
    assert.equal(
      readValues([['bytes', text]]),
      { values: {}, dropped: [`v.bytes=${text} is no number`] },
      text,
    );
  }
  for (const [given, shown] of [
    [null, 'null'],
    [true, 'true'],
    [Number.NaN, 'null'],
    [[1], '[1]'],
  ] as const) {
    assert.equal(readValues([['bytes', given]]).dropped, [`v.bytes=${shown} is no number`]);
  }
});

values('a name that is none is left out, and said without what disturbs a terminal', () => {
  const rule =
    'has no name of a value: a name is a lower-case letter, then up to 31 lower-case letters, digits or _';
  for (const name of ['', 'Bytes', '1st', 'a.b', '__proto__', 'x'.repeat(33), 'größe']) {
    const { values: kept, dropped } = readValues([[name, '1']]);
    assert.equal(kept, {});
    assert.is(dropped[0], `v.${name}=1 ${rule}`, name);
  }
  const [hostile = ''] = readValues([['a\u001B[31m\u202E', 'x'.repeat(1e6)]]).dropped;
  assert.match(hostile, /^v\.a\[31m=x+… has no name/);
  assert.ok(hostile.length < 200);
});

values('what is said of one is cut only if it is longer than 60 characters', () => {
  const said = (length: number) => readValues([['bytes', 'x'.repeat(length - 'v.bytes='.length)]]).dropped;
  assert.equal(said(60), [`v.bytes=${'x'.repeat(52)} is no number`]);
  assert.equal(said(61), [`v.bytes=${'x'.repeat(52)}… is no number`]);
});

values('twenty are kept, the first of each name, and few of the rest are named', () => {
  const told = Array.from({ length: 40 }, (_, index) => [`v${index}`, String(index)] as const);
  const read = readValues([...told, ['v0', '99']]);
  assert.is(Object.keys(read.values).length, 20);
  assert.is(read.values.v0, 0);
  assert.equal(read.dropped.length, 6);
  assert.is(read.dropped[0], 'v.v20=20 is one too many: 20 values are kept of a check-in');
  assert.is(read.dropped[5], 'and others');
});

values('whatever comes, what is kept is a finite number with a name', () => {
  const told = fc.array(fc.tuple(fc.string(), fc.oneof(fc.string(), fc.double(), fc.anything())));
  fc.assert(
    fc.property(told, (pairs) => {
      const read = readValues(pairs);
      for (const [name, number] of Object.entries(read.values)) {
        assert.match(name, /^[a-z][a-z0-9_]{0,31}$/);
        assert.ok(Number.isFinite(number));
      }
      assert.ok(read.dropped.length <= 6);
    }),
  );
});

values.run();

const usual = suite('what is usual of a value');

const report = (number: number, at = 0, isSuccess = true) => ({ at, values: { bytes: number }, isSuccess });
const after = (...numbers: number[]) =>
  numbers.reduce<ValueHistories>((known, number, at) => withReport(known, report(number, at)), {});

usual('it is the median of the last 20 successful runs, and of at least 5', () => {
  assert.is(usualIn(after(1, 2, 3, 4), 'bytes'), null);
  assert.is(usualIn(after(5, 1, 4, 2, 3), 'bytes'), 3);
  assert.is(usualIn(after(5, 1, 4, 2, 3, 100), 'bytes'), 3.5);
  assert.is(usualIn({}, 'bytes'), null);
  assert.is(usualIn({}, 'constructor'), null);
  const thirty = Array.from({ length: 30 }, (_, index) => index);
  assert.is(usualIn(after(...thirty), 'bytes'), 19.5, 'of 10 to 29');
});

usual('a run that failed adds nothing to it, but is the last one', () => {
  const known = withReport(after(1, 2, 3, 4, 5), report(1_000, 9, false));
  assert.is(usualIn(known, 'bytes'), 3);
  assert.is(known.bytes?.last, 1_000);
});

usual('one that comes late is not the last one', () => {
  const known = withReport(withReport({}, report(7, 100)), report(3, 50));
  assert.equal([known.bytes?.last, known.bytes?.at], [7, 100]);
  assert.equal(known.bytes?.runs, [7, 3]);
});

usual('a job that makes up names fills nothing, and what is expected stays', () => {
  let known = withReport({}, report(1), ['bytes']);
  for (let index = 0; index < 200; index += 1) {
    known = withReport(known, { at: index, values: { [`x${index}`]: 1 }, isSuccess: true }, ['bytes']);
  }
  assert.is(Object.keys(known).length, MOST_NAMES);
  assert.ok('bytes' in known && 'x199' in known);
  assert.not.ok('x0' in known);
});

usual.run();
