/** Reads the text of a snitch file or of the standard input, up to a limit. */
import { closeSync, openSync, readSync } from 'node:fs';
import { Failure } from '../failure/failure.ts';

const MIB = 1024 * 1024;

/** The largest file, and the largest that can only be parsed as a whole: its tree takes fifty times its size. */
const LARGEST_FILE = 64 * MIB;
const LARGEST_WHOLE = 8 * MIB;
const SPLIT = 'split it into several files, each with an `owner:` of its own';

/** @throws Failure if the text can only be parsed as a whole, and is too large for that */
export function checkWhole(path: string, text: string): void {
  if (text.length <= LARGEST_WHOLE) return;
  throw new Failure(
    `${path}: has more than ${LARGEST_WHOLE / MIB} MiB, and its snitches are no list of the form that \`snitch export\` writes: bring it into that form, or ${SPLIT}`,
  );
}

/** @throws Failure if it cannot be read, is no text or is too large */
export function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readBytes(path === '-' ? 0 : path));
  } catch (error) {
    if (error instanceof TooLarge) {
      throw new Failure(`${path}: is larger than ${LARGEST_FILE / MIB} MiB: ${SPLIT}`);
    }
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'it does not exist' : code;
    const fault = error instanceof TypeError ? 'the file is not UTF-8 text' : `cannot read it: ${reason}`;
    throw new Failure(`${path}: ${fault}`);
  }
}

class TooLarge extends Error {}

const EMPTY_PIPE_MS = 20;

/** Waits for a non-blocking pipe whose writer has nothing yet, as in `snitch export | snitch diff -f -`. */
function readPatiently(descriptor: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(descriptor, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EMPTY_PIPE_MS);
    }
  }
}

/** Never reads much more than is allowed, however much a pipe or a device has to give. */
function readBytes(file: string | number): Buffer {
  const descriptor = typeof file === 'number' ? file : openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let size = 0; ; ) {
      const chunk = Buffer.allocUnsafe(MIB);
      const count = readPatiently(descriptor, chunk);
      if (count === 0) return Buffer.concat(chunks);
      size += count;
      if (size > LARGEST_FILE) throw new TooLarge();
      chunks.push(chunk.subarray(0, count));
    }
  } finally {
    if (descriptor !== file) closeSync(descriptor);
  }
}
