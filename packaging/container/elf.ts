/**
 * What an executable or a library asks the system's loader for. It is read from the file (elf(5)), because `ldd` starts
 * the program, and can do that only on its own architecture.
 */
import { closeSync, openSync, readSync } from 'node:fs';

export interface Wants {
  /** The path of the loader; null for a library. */
  loader: string | null;
  /** The names of the libraries, such as `libc.so.6`. */
  libraries: string[];
}

const [PT_LOAD, PT_DYNAMIC, PT_INTERP] = [1, 2, 3];
const [DT_NEEDED, DT_STRTAB, DT_STRSZ] = [1, 5, 10];

/** A limit for the size of the names in a program, in bytes: those of Node take 3 MB. */
const LARGEST_TABLE = 64 << 20;

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

/** @throws Error if the file is not a 64-bit program for a little-endian machine */
export function wantsOf(path: string): Wants {
  const file = openSync(path, 'r');
  try {
    const read = (offset: number, size: number) => readAt(file, path, offset, size);
    const segments = segmentsOf(read, path);
    const part = (type: number) => segments.find((segment) => segment.type === type);
    const [loader, dynamic] = [part(PT_INTERP), part(PT_DYNAMIC)];
    return {
      loader: loader ? textAt(read(loader.offset, loader.size), 0) : null,
      libraries: dynamic ? librariesIn(read(dynamic.offset, dynamic.size), segments, read) : [],
    };
  } finally {
    closeSync(file);
  }
}

type Read = (offset: number, size: number) => Buffer;

function readAt(file: number, path: string, offset: number, size: number): Buffer {
  if (size > LARGEST_TABLE) throw new Error(`${path} is no program that could be understood`);
  const bytes = Buffer.alloc(size);
  if (readSync(file, bytes, 0, size, offset) < size) throw new Error(`${path} ends too early for a program`);
  return bytes;
}

function segmentsOf(read: Read, path: string): Segment[] {
  const header = read(0, 64);
  const isElf = header.readUInt32BE(0) === 0x7f454c46 && header[4] === 2 && header[5] === 1;
  if (!isElf) throw new Error(`${path} is no 64-bit program of a little-endian machine`);
  const [size, count] = [header.readUInt16LE(54), header.readUInt16LE(56)];
  const table = read(Number(header.readBigUInt64LE(32)), size * count);
  return Array.from({ length: count }, (_, index) => {
    const row = table.subarray(index * size, (index + 1) * size);
    const number = (at: number) => Number(row.readBigUInt64LE(at));
    return { type: row.readUInt32LE(0), offset: number(8), address: number(16), size: number(32) };
  });
}

function librariesIn(table: Buffer, segments: readonly Segment[], read: Read): string[] {
  const entries: [tag: number, value: number][] = [];
  for (let at = 0; at + 16 <= table.length; at += 16)
    entries.push([Number(table.readBigInt64LE(at)), Number(table.readBigUInt64LE(at + 8))]);
  const find = (wanted: number) => entries.find(([tag]) => tag === wanted)?.[1] ?? 0;
  const strings = read(offsetOf(find(DT_STRTAB), segments), find(DT_STRSZ));
  return entries.filter(([tag]) => tag === DT_NEEDED).map(([, value]) => textAt(strings, value));
}

/** The offset in the file of what is loaded at this address in memory. */
function offsetOf(address: number, segments: readonly Segment[]): number {
  const segment = segments.find(
    ({ type, address: from, size }) => type === PT_LOAD && address >= from && address < from + size,
  );
  return segment ? address - segment.address + segment.offset : 0;
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, bytes.indexOf(0, start));
}
