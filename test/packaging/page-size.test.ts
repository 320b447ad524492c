/** The executable for kernels whose pages are larger than 4 KB. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fillLastPage, misplacedParts } from '../../build/page-size.ts';
import { ownDirectory } from '../data-directory.ts';

const test = suite('the parts of a program');

interface Part {
  offset: number;
  address: number;
  length: number;
  alignment: number;
}

/** A file that consists only of headers that say where its segments go. */
function program(file: string, parts: readonly Part[]): void {
  const bytes = Buffer.alloc(64 + parts.length * 56);
  bytes.write('\x7fELF\x02\x01', 'latin1');
  bytes.writeBigUInt64LE(64n, 0x20);
  bytes.writeUInt16LE(56, 0x36);
  bytes.writeUInt16LE(parts.length, 0x38);
  for (const [index, { offset, address, length, alignment }] of parts.entries()) {
    const at = 64 + index * 56;
    bytes.writeUInt32LE(1, at);
    for (const [position, value] of [
      [8, offset],
      [16, address],
      [40, length],
      [48, alignment],
    ] as const)
      bytes.writeBigUInt64LE(BigInt(value), at + position);
  }
  writeFileSync(file, bytes);
}

const CODE = { offset: 0, address: 0x400000, length: 0x1234, alignment: 0x10000 };
const DATA = { offset: 0x10000, address: 0x410000, length: 0xd600, alignment: 0x10000 };

test('it finds a segment that begins in a page of another, even if no 4 KB page is shared', () => {
  using directory = ownDirectory();
  const file = join(directory.path, 'program');
  const added = { offset: 0x1e000, address: 0x41e000, length: 0x508, alignment: 0x1000 };
  program(file, [CODE, DATA, added]);
  assert.equal(misplacedParts(file), [
    'the part at 0x41e000 shares a page of 65536 bytes with the one before',
  ]);
  program(file, [CODE, DATA, { ...added, offset: 0x20000, address: 0x420000 }]);
  assert.equal(misplacedParts(file), []);
  program(file, [CODE, DATA, { ...added, offset: 0x21000, address: 0x422000 }]);
  assert.match(misplacedParts(file).join(), 'does not begin where its page does');
});

test('the last segment is filled to the end of its page, so that an added one begins on the next', () => {
  using directory = ownDirectory();
  const file = join(directory.path, 'program');
  program(file, [CODE, DATA]);
  const before = readFileSync(file);
  fillLastPage(file);
  const after = readFileSync(file);
  assert.is(after.readBigUInt64LE(64 + 56 + 40), 0x10000n);
  after.writeBigUInt64LE(BigInt(DATA.length), 64 + 56 + 40);
  assert.equal(after, before, 'and nothing else is changed');
});

test('a segment that ends with its page stays as it is, and a file that is not a program is refused', () => {
  using directory = ownDirectory();
  const file = join(directory.path, 'program');
  program(file, [CODE, { ...DATA, length: 0x20000 }]);
  const before = readFileSync(file);
  fillLastPage(file);
  assert.equal(readFileSync(file), before);
  writeFileSync(file, 'x'.repeat(100));
  assert.throws(() => fillLastPage(file), /is no program/);
  rmSync(file);
});

test.run();
