/**
 * Reads files that somebody named: only up to a limit, and without waiting for ever for a pipe that has no writer.
 * Pipes are allowed otherwise: a shell's `--file <(…)` is one.
 */

// An import of `node:fs` would evaluate all its exports; this takes what is already loaded.
const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');

/**
 * How long a pipe may be without a writer, and how long a writer may send nothing: it may be asking for a passphrase.
 */
const NO_WRITER_MS = 3_000;
const SILENCE_MS = 120_000;
const LOOK_EVERY_MS = 20;

const CHUNK = 64 * 1024;

/** The limit for settings files that this program and people write; bytes. */
export const LARGEST_SETTINGS = 4 * 1024 * 1024;

/** A file that can be opened but is not usable; the message says what is wrong with it, but not what is in it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
  readonly isTooLarge: boolean;

  constructor(message: string, { isTooLarge = false } = {}) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/**
 * All of a file, or for 0 of standard input, which may take as long as it likes.
 *
 * @param most bytes
 * @throws Unreadable, or the error of the file system
 */
export function readWhole(file: string | 0, most: number): Buffer {
  const fd = open(file);
  try {
    const steps = reading(fd, most, file === 0 ? NO_LIMITS : limitsOf(fd));
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, value);
    }
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}

/** Like `readWhole`, as UTF-8 text. */
export function readWholeText(file: string | 0, most: number): string {
  return readWhole(file, most).toString('utf8');
}

/** Like `readWhole`, for a daemon that goes on with its work while it waits for a pipe. */
export async function readWholeMeanwhile(file: string, most: number): Promise<Buffer> {
  const fd = open(file);
  try {
    const steps = reading(fd, most, limitsOf(fd));
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await new Promise((resolve) => setTimeout(resolve, value));
    }
  } finally {
    closeSync(fd);
  }
}

/** Without O_NONBLOCK, a pipe that nobody writes to would block in the kernel. */
function open(file: string | 0): number {
  return file === 0 ? 0 : openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
}

/** For sentences such as `cannot read FILE: …`. */
export function faultOfReading(error: unknown): string {
  if (error instanceof Unreadable) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EISDIR' ? 'it is a directory' : (code ?? 'unknown error');
}

interface Limits {
  /** How long an end of file from a pipe means that the writer is yet to come; milliseconds. */
  noWriter: number;
  /** Milliseconds. */
  silence: number;
}

const NO_LIMITS: Limits = { noWriter: 0, silence: Number.POSITIVE_INFINITY };

/** At a terminal people may type as slowly as they like. */
function limitsOf(fd: number): Limits {
  const about = fstatSync(fd);
  if (about.isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)) return NO_LIMITS;
  return { noWriter: about.isFIFO() ? NO_WRITER_MS : 0, silence: SILENCE_MS };
}

/** Yields how many milliseconds to wait before it goes on. */
function* reading(fd: number, most: number, { noWriter, silence }: Limits): Generator<number, Buffer, void> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (let waited = 0; ; ) {
    // One byte more than allowed shows that the file is too large.
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, most + 1 - length));
    const count = readOnce(fd, chunk);
    if (count !== null && count > 0) {
      chunks.push(chunk.subarray(0, count));
      length += count;
      if (length > most) throw new Unreadable(`it is larger than ${inWords(most)}`, { isTooLarge: true });
      waited = 0;
      continue;
    }
    if (count === 0 && (length > 0 || noWriter === 0)) return Buffer.concat(chunks);
    if (count === 0 && waited >= noWriter) throw new Unreadable('it is a pipe, and nobody writes into it');
    if (waited >= silence) throw new Unreadable('nothing came from it for two minutes');
    yield LOOK_EVERY_MS;
    waited += LOOK_EVERY_MS;
  }
}

/** Null if there is nothing yet. */
function readOnce(fd: number, chunk: Buffer): number | null {
  try {
    return readSync(fd, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    return null;
  }
}

function inWords(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes} bytes`;
}
