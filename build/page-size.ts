/**
 * Makes an executable run on kernels with large pages. Those of arm64 may have pages of 4, 16 (Raspberry Pi 5) or 64
 * KB, and parts of a program with different permissions must not share a page: the kernel maps whole pages, so the
 * later part would remove the permission to write from the end of the earlier one.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** From the format: `Elf64_Ehdr` and `Elf64_Phdr`, in the byte order of both architectures. */
const HEADER = { bytes: 64, tableAt: 0x20, entryBytesAt: 0x36, countAt: 0x38 };
const ENTRY = { typeAt: 0, offsetAt: 8, addressAt: 16, memoryAt: 40, alignmentAt: 48 };
const LOADED = 1;

/** A part of the program that the kernel maps; numbers in bytes. */
interface Segment {
  /** Where the file describes it. */
  at: number;
  offset: number;
  address: number;
  /** Its length in memory. */
  length: number;
  alignment: number;
}

/**
 * Extends the last part to a multiple of its alignment, which is the size of the largest page. Node puts the content of
 * the executable after it, at the next 4 KB, which could otherwise be in the middle of a larger page.
 */
export function fillLastPage(file: string): void {
  const fd = openSync(file, 'r+');
  try {
    const last = segmentsOf(fd).at(-1);
    if (!last) throw new Error(`${file} is no program`);
    const end = Math.ceil((last.address + last.length) / last.alignment) * last.alignment;
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(end - last.address));
    writeSync(fd, length, 0, length.length, last.at + ENTRY.memoryAt);
  } finally {
    closeSync(fd);
  }
}

/**
 * @returns the parts that a kernel with pages as large as the program's largest alignment could not map, in words;
 * empty
 *   if the program runs on all kernels
 */
export function misplacedParts(file: string): string[] {
  const fd = openSync(file, 'r');
  try {
    const segments = segmentsOf(fd);
    const page = Math.max(...segments.map(({ alignment }) => alignment));
    const number = (address: number) => Math.floor(address / page);
    const words = ({ address }: Segment) => `the part at 0x${address.toString(16)}`;
    const torn = segments.filter(({ offset, address }) => offset % page !== address % page);
    const met = segments.filter((segment, index) => {
      const before = segments[index - 1];
      return before && number(before.address + before.length - 1) >= number(segment.address);
    });
    return [
      ...torn.map((segment) => `${words(segment)} does not begin where its page does in the file`),
      ...met.map((segment) => `${words(segment)} shares a page of ${page} bytes with the one before`),
    ];
  } finally {
    closeSync(fd);
  }
}

/** In the order of their addresses. */
function segmentsOf(fd: number): Segment[] {
  const header = read(fd, 0, HEADER.bytes);
  if (header.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') return [];
  const table = Number(header.readBigUInt64LE(HEADER.tableAt));
  const bytes = header.readUInt16LE(HEADER.entryBytesAt);
  return Array.from({ length: header.readUInt16LE(HEADER.countAt) }, (_, index) => table + index * bytes)
    .map((at) => ({ at, entry: read(fd, at, bytes) }))
    .filter(({ entry }) => entry.readUInt32LE(ENTRY.typeAt) === LOADED)
    .map(({ at, entry }) => {
      const number = (position: number) => Number(entry.readBigUInt64LE(position));
      return {
        at,
        offset: number(ENTRY.offsetAt),
        address: number(ENTRY.addressAt),
        length: number(ENTRY.memoryAt),
        alignment: number(ENTRY.alignmentAt),
      };
    })
    .sort((one, other) => one.address - other.address);
}

function read(fd: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  readSync(fd, buffer, 0, length, at);
  return buffer;
}
