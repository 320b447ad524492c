/**
 * Passes on what the job prints byte by byte, and keeps the end of it.
 *
 * A stream that is a terminal is handed to the job as it is: colours, progress bars and line buffering work as without
 * us. Nothing is kept of it, because the person at the terminal sees it. Every other stream goes through a pipe. If
 * stdout and stderr are the same file, they share a pipe, so that the order of their lines stays.
 */
import type { Stats } from 'node:fs';
import type { Readable } from 'node:stream';
import { delay } from '../../system/delay.ts';
import { Tail } from './tail.ts';
import { tell } from './tell.ts';

const fs = process.getBuiltinModule('node:fs');

/** How long output is awaited after the job's end, in milliseconds; see `JobOutput.copy`. */
const QUIET_FOR = 1_000;
const LONGEST_REST = 5_000;
const LOOK_EVERY = 50;

type Stdio = 'inherit' | 'pipe' | number;

interface Through {
  /** The descriptors of the job that write into it. */
  from: readonly (1 | 2)[];
  /** Our own descriptor, to which the output is copied. */
  to: 1 | 2;
  /** A real pipe; null if none could be made, so that the job gets what Node makes. */
  pipe: { read: number; write: number } | null;
}

interface Progress {
  writing: boolean;
  /** When the last output came, on the monotonic clock. */
  last: number;
}

export class JobOutput {
  readonly #streams: readonly Through[];
  readonly #tail: Tail;

  constructor(tailBytes: number) {
    this.#tail = new Tail(tailBytes);
    this.#streams = tailBytes === 0 ? [] : withPipes(streamsToKeep());
  }

  get stdio(): Stdio[] {
    const stdio: Stdio[] = ['inherit', 'inherit', 'inherit'];
    for (const { from, pipe } of this.#streams) {
      for (const fd of from) stdio[fd] = pipe === null ? 'pipe' : pipe.write;
    }
    return stdio;
  }

  tail(): Buffer {
    return this.#tail.bytes();
  }

  /**
   * Copies until the job and everything it started have closed their ends. A process that the job leaves behind may
   * never do so. Therefore copying also ends when nothing has come for a second after the job's end, or after 5 s.
   *
   * @param child has the streams for which there is no pipe of ours
   */
  async copy(
    child: { stdout: Readable | null; stderr: Readable | null } | null,
    ended: Promise<unknown>,
  ): Promise<void> {
    const copies = this.#streams.flatMap((stream) =>
      readersOf(stream, child).map((reader) => startCopy(reader, stream.to, this.#tail)),
    );
    const all = Promise.all(copies.map(({ done }) => done));
    await ended;
    await Promise.race([all, untilQuiet(copies.map(({ progress }) => progress))]);
    for (const { reader } of copies) reader.destroy();
    await all;
  }
}

function streamsToKeep(): Omit<Through, 'pipe'>[] {
  const { isatty } = process.getBuiltinModule('node:tty');
  const kept = ([1, 2] as const).filter((fd) => !isatty(fd));
  if (kept.length === 2 && isSameFile(fs.fstatSync(1), fs.fstatSync(2))) return [{ from: [1, 2], to: 1 }];
  return kept.map((fd) => ({ from: [fd], to: fd }));
}

function isSameFile(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/**
 * Node uses sockets as the pipes of a child, and a job that opens /dev/stdout or /dev/stderr cannot open a socket. A
 * FIFO whose name is removed is a real pipe.
 */
function withPipes(streams: readonly Omit<Through, 'pipe'>[]): Through[] {
  if (streams.length === 0) return [];
  let directory: string | null = null;
  try {
    const { join } = process.getBuiltinModule('node:path');
    const { tmpdir } = process.getBuiltinModule('node:os');
    directory = fs.mkdtempSync(join(tmpdir(), 'snitch-exec-'));
    const paths = streams.map(({ to }) => join(directory ?? '', String(to)));
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    spawnSync('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' });
    return streams.map((stream, index) => ({ ...stream, pipe: openPipe(paths[index] ?? '') }));
  } catch {
    return streams.map((stream) => ({ ...stream, pipe: null }));
  } finally {
    if (directory !== null) fs.rmSync(directory, { recursive: true, force: true });
  }
}

function openPipe(path: string): { read: number; write: number } {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;
  const read = fs.openSync(path, O_RDONLY | O_NONBLOCK);
  return { read, write: fs.openSync(path, O_WRONLY) };
}

function readersOf(
  { from, pipe }: Through,
  child: { stdout: Readable | null; stderr: Readable | null } | null,
): Readable[] {
  if (pipe === null) {
    return from
      .map((fd) => (fd === 1 ? child?.stdout : child?.stderr))
      .filter((stream) => stream !== null && stream !== undefined);
  }
  // Only the job may hold the writing end, or the reading end would never see the end of the output.
  fs.closeSync(pipe.write);
  const { Socket } = process.getBuiltinModule('node:net');
  return [new Socket({ fd: pipe.read, readable: true, writable: false })];
}

interface Copy {
  reader: Readable;
  progress: Progress;
  done: Promise<void>;
}

function startCopy(reader: Readable, to: 1 | 2, tail: Tail): Copy {
  const progress = { writing: false, last: performance.now() };
  return { reader, progress, done: copyAll(reader, to, tail, progress) };
}

/** Reads only as fast as our own output is taken, so that memory stays bounded. */
async function copyAll(reader: Readable, to: 1 | 2, tail: Tail, progress: Progress): Promise<void> {
  try {
    for await (const chunk of reader as AsyncIterable<Buffer>) {
      tail.add(chunk);
      progress.writing = true;
      await writeAll(to, chunk);
      progress.writing = false;
      progress.last = performance.now();
    }
  } catch (error) {
    // This closes the pipe, so that the job's next write fails as it would without us.
    const { code } = error as NodeJS.ErrnoException;
    if (progress.writing && code !== 'EPIPE') tell(`the job's output cannot be written: ${code}`);
  } finally {
    progress.writing = false;
    reader.destroy();
  }
}

/** Writes outside the event loop, because a stalled reader must not hold up signals and time limits. */
async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  let pause = 1;
  for (let from = 0; from < bytes.length; ) {
    try {
      from += await writeSome(fd, bytes.subarray(from));
      pause = 1;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      // Another program that shares this stream has made it non-blocking, and it is full.
      await delay(pause);
      pause = Math.min(pause * 2, 20);
    }
  }
}

function writeSome(fd: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(fd, bytes, (error, written) => (error ? reject(error) : resolve(written)));
  });
}

async function untilQuiet(streams: readonly Progress[]): Promise<void> {
  const since = performance.now();
  for (;;) {
    await delay(LOOK_EVERY);
    const now = performance.now();
    // What is being written may come from the job itself, and must not be lost, however long it takes.
    if (streams.some(({ writing }) => writing)) continue;
    const last = Math.max(since, ...streams.map((stream) => stream.last));
    if (now - last >= QUIET_FOR || now - since >= LONGEST_REST) return;
  }
}
