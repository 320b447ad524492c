/**
 * Columns of rows as arrays in the binary form of PostgreSQL, for `unnest`. Writing and reading them as text would cost
 * more than everything else that many small statements combined into one have to do.
 */
import type { Value } from '../transaction.ts';
import { toParameter } from './dialect.ts';

/** The object identifiers (OIDs) of these types in PostgreSQL. */
const BYTEA = 17;
const BIGINT = 20;
const TEXT = 25;

/** Bytes: dimensions, whether there are nulls, the type of the elements, how many there are, and the first index. */
const HEADER = 20;
const LENGTH = 4;
const NULL = -1;
const ONE_DIMENSION = 1;

const UPPER_HALF = 2 ** 32;

/**
 * An array of whole numbers of eight bytes.
 *
 * @throws ValueOutOfRange
 */
export function bigintArray(values: readonly Value[]): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER + values.length * (LENGTH + 8));
  let at = HEADER;
  let hasNull = 0;
  for (const value of values) {
    if (value === null) {
      hasNull = 1;
      at = buffer.writeInt32BE(NULL, at);
      continue;
    }
    if (!Number.isSafeInteger(value)) throw new ValueOutOfRange(value);
    const number = value as number;
    at = buffer.writeInt32BE(8, at);
    at = buffer.writeInt32BE(Math.floor(number / UPPER_HALF), at);
    at = buffer.writeUInt32BE(number >>> 0, at);
  }
  writeHeader(buffer, hasNull, BIGINT, values.length);
  return buffer.subarray(0, at);
}

export function textArray(values: readonly Value[]): Buffer {
  return arrayOf(
    TEXT,
    values.map((value) => (value === null ? null : Buffer.from(String(toParameter(value))))),
  );
}

export function byteaArray(values: readonly Value[]): Buffer {
  return arrayOf(
    BYTEA,
    values.map((value) => value as Uint8Array | null),
  );
}

function arrayOf(type: number, values: readonly (Uint8Array | null)[]): Buffer {
  const size = values.reduce((sum, value) => sum + LENGTH + (value?.length ?? 0), HEADER);
  const buffer = Buffer.allocUnsafe(size);
  let at = HEADER;
  let hasNull = 0;
  for (const value of values) {
    at = buffer.writeInt32BE(value?.length ?? NULL, at);
    if (value === null) {
      hasNull = 1;
      continue;
    }
    buffer.set(value, at);
    at += value.length;
  }
  writeHeader(buffer, hasNull, type, values.length);
  return buffer;
}

function writeHeader(buffer: Buffer, hasNull: number, type: number, length: number): void {
  buffer.writeInt32BE(ONE_DIMENSION, 0);
  buffer.writeInt32BE(hasNull, 4);
  buffer.writeInt32BE(type, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
}

/** Anything but a whole number that both sides can hold is refused as by the server, so that only its own row fails. */
export class ValueOutOfRange extends RangeError {
  readonly code = '22003';

  constructor(value: Value) {
    super(`${String(value)} is not a whole number that the database can keep`);
  }
}
