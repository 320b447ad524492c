/** A list that is read in pieces gives what `JSON.parse` gives for the whole, however it was cut on its way. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ArrayPieces } from '../../src/api/pieces.ts';
import { anyCharacter } from '../characters.ts';

const test = suite('the pieces of a long list');

/** Text that looks like the place between two elements, and characters of one to four bytes. */
const nasty = fc.oneof(
  fc.constantFrom('},{"token":', '"},{"token":"', '}]', '\\', '"', 'ü', '日本', '🚨', '\u2028'),
  fc.string({ unit: anyCharacter }),
);

const element = fc.record({
  token: nasty,
  notes: nasty,
  inner: fc.array(fc.record({ token: nasty }), { maxLength: 3 }),
});

/** Cuts the bytes at the given places, each a share of the length. */
function cutAt(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const places = shares.map((share) => Math.floor(share * bytes.length)).sort((one, other) => one - other);
  return [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
}

interface Read {
  value: unknown;
  /** How many of the elements were there before the end. */
  early: number;
}

function readAll(chunks: readonly Buffer[], piece: number): Read {
  const pieces = new ArrayPieces(piece);
  const items: unknown[] = [];
  for (const chunk of chunks) items.push(...pieces.add(chunk));
  const early = items.length;
  const rest = pieces.end();
  return { value: early === 0 ? rest : [...items, ...(rest as unknown[])], early };
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 });
const piece = fc.integer({ min: 1, max: 400 });
const indent = fc.constantFrom(undefined, 1);

test('give what JSON.parse gives, for every way to cut the text', () => {
  fc.assert(
    fc.property(fc.array(element, { maxLength: 30 }), shares, piece, indent, (list, cuts, size, space) => {
      const text = JSON.stringify(list, null, space);
      assert.equal(readAll(cutAt(Buffer.from(text), cuts), size).value, JSON.parse(text));
    }),
    { numRuns: 1_000 },
  );
});

test('give what JSON.parse gives also for what is no list of objects', () => {
  fc.assert(
    fc.property(fc.json(), shares, piece, (text, cuts, size) => {
      assert.equal(readAll(cutAt(Buffer.from(text), cuts), size).value, JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test('refuse every text that ends too early', () => {
  fc.assert(
    fc.property(
      fc.array(element, { minLength: 1, maxLength: 10 }),
      fc.nat(),
      shares,
      piece,
      (list, at, cuts, size) => {
        const bytes = Buffer.from(JSON.stringify(list));
        const short = bytes.subarray(0, at % bytes.length);
        assert.throws(
          () => readAll(cutAt(short, cuts), size),
          (error: unknown) => error instanceof SyntaxError,
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('are there before the end, and nearly nothing waits', () => {
  const bytes = Buffer.from(
    JSON.stringify(Array.from({ length: 1_000 }, (_, token) => ({ token: `${token}` }))),
  );
  const pieces = new ArrayPieces(500);
  let count = 0;
  for (let at = 0; at < bytes.length; at += 97) {
    count += pieces.add(bytes.subarray(at, at + 97)).length;
    assert.ok(pieces.waiting < 2 * 500, `${pieces.waiting} bytes wait`);
  }
  assert.ok(count > 900, `${count} elements before the end`);
});

test('are not searched for from the start with each chunk if there is no place to cut', () => {
  const inner = `{"token":1,"inner":[${'{"token":2},'.repeat(5_000)}{"token":3}]}`;
  const chunks = cutAt(
    Buffer.from(`[${inner}]`),
    Array.from({ length: 999 }, (_, index) => index / 1_000),
  );
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (text: string) => {
    parsed += text.length;
    return parse(text);
  };
  try {
    assert.is(readAll(chunks, 100).early, 0);
  } finally {
    JSON.parse = parse;
  }
  assert.ok(parsed < 4 * inner.length, `parsed ${parsed} characters of ${inner.length}`);
});

test.run();
