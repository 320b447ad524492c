/** Reported values drawn as lines, on terminals of any width. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../../src/api/wire.ts';
import type { WireValue } from '../../../src/api/wire-explanation.ts';
import { UNICODE } from '../../../src/tui/drawing/glyphs.ts';
import { valueLines } from '../../../src/tui/model/value-lines.ts';

const test = suite('lines of values');

const checkIn = (values: Record<string, number> | null) => ({ values }) as unknown as WireCheckIn;
const known = (name: string, last: number, usual: number | null): WireValue => ({
  ...{ name, last, usual, runs: 5 },
  at: '2026-01-01T00:00:00.000Z',
});
const textOf = (width: number, checkIns: WireCheckIn[], values: WireValue[]) =>
  valueLines(checkIns, values, { glyphs: UNICODE, width }).map((line) =>
    line.map(({ text }) => text).join(''),
  );

test('one line each, the oldest left, with the last and the usual', () => {
  const checkIns = [
    checkIn({ bytes: 8e6 }),
    checkIn(null),
    checkIn({ bytes: 4e6 }),
    checkIn({ bytes: 0, rows: 1 }),
  ];
  assert.equal(textOf(100, checkIns, [known('rows', 1, null), known('bytes', 8e6, 4e6)]), [
    'bytes         ▁▅█  last 8 M, usual 4 M',
    'rows          █  last 1',
  ]);
});

test('two lines on a narrow terminal, and none that is wider', () => {
  const checkIns = Array.from({ length: 100 }, (_, index) => checkIn({ bytes: index }));
  const lines = textOf(40, checkIns, [known('bytes', 0, 50)]);
  assert.is(lines.length, 2);
  assert.ok(
    lines.every((line) => line.length <= 40),
    lines.join('\n'),
  );
});

test('values below zero are drawn from the lowest on, and a crowd is bounded', () => {
  assert.match(textOf(100, [checkIn({ t: 4 }), checkIn({ t: -4 })], [known('t', 4, null)])[0] ?? '', /▁█/);
  const many = Array.from({ length: 40 }, (_, index) => known(`v${index}`, index, null));
  assert.is(textOf(100, [], many).length, 8);
});

test.run();
