/** Long output is written in pieces, each when there is room for it, and equals the output in one piece. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { jsonPieces, linePieces, Printer } from '../../../src/cli/output/pieces.ts';
import { rejection } from '../../store/fixture.ts';

const test = suite('output in pieces');

const items = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, text: 'a\n]\n["', none: [] }));

for (const count of [0, 1, 999, 1_000, 1_001, 2_000, 2_500]) {
  test(`the JSON of ${count} items is that of the whole`, () => {
    for (const value of [items(count), { before: 1, list: items(count), gone: undefined, after: items(3) }]) {
      assert.is([...jsonPieces(value)].join(''), JSON.stringify(value, null, 2));
    }
  });

  test(`${count} lines are those of the whole`, () => {
    const lines = items(count).map(({ index }) => `line ${index}`);
    assert.is([...linePieces(lines)].join(''), lines.map((line) => `${line}\n`).join(''));
  });
}

test('JSON of other values stays as it is', () => {
  for (const value of [
    null,
    'text',
    {},
    { list: items(3) },
    [[]],
    [''],
    [items(1_001)],
    Object.assign([1], { x: items(1_001) }),
    { deep: { list: items(1_001) } },
  ]) {
    assert.is([...jsonPieces(value)].join(''), JSON.stringify(value, null, 2));
  }
});

/** A pipe with room for one byte, whose reader reads on request. */
function slowPipe() {
  const waiting: (() => void)[] = [];
  const taken: string[] = [];
  const sink = new Writable({
    highWaterMark: 1,
    write: (chunk, _encoding, done) => {
      taken.push(String(chunk));
      waiting.push(done);
    },
  });
  return { sink: sink as never, taken, take: () => waiting.shift()?.() };
}

test('no piece is made before there is room for it', async () => {
  const { sink, taken, take } = slowPipe();
  let made = 0;
  const pieces = function* () {
    while (made < 3) yield `piece ${++made}`;
  };
  const printer = new Printer(sink);
  printer.print(pieces());
  for (const expected of [1, 2, 3]) {
    await nextTurn();
    assert.is(made, expected);
    take();
  }
  await printer.printed();
  assert.equal(taken, ['piece 1', 'piece 2', 'piece 3']);
});

test('later output comes after all of a long one', async () => {
  const { sink, taken, take } = slowPipe();
  const printer = new Printer(sink);
  printer.print(['a', 'b', 'c']);
  printer.print([]);
  printer.print(['d']);
  printer.print(['e']);
  let isPrinted = false;
  const printed = printer.printed().then(() => {
    isPrinted = true;
  });
  for (const so of ['a', 'ab', 'abc', 'abcd', 'abcde']) {
    await nextTurn();
    assert.is(taken.join(''), so);
    assert.not(isPrinted);
    take();
  }
  await printed;
});

test('output that has room is written at once, and needs no wait', async () => {
  const taken: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      taken.push(String(chunk));
      done();
    },
  });
  const printer = new Printer(sink as never);
  printer.print(['a', 'b']);
  printer.print(['c']);
  assert.is(taken.join(''), 'abc');
  await printer.printed();
});

test('a piece that cannot be made is an error of the command, whenever its turn comes', async () => {
  const { sink, take } = slowPipe();
  const printer = new Printer(sink);
  printer.print(
    (function* () {
      yield 'a';
      throw new Error('no such piece');
    })(),
  );
  await nextTurn();
  take();
  assert.is(((await rejection(printer.printed())) as Error).message, 'no such piece');
});

test('nothing but the printer writes on the standard output of a command', () => {
  const folder = fileURLToPath(new URL('../../../src/cli/', import.meta.url));
  const writers = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && /\bstdout\.write\(/.test(readFileSync(join(folder, name), 'utf8')),
  );
  assert.equal(writers, []);
});

test.run();
