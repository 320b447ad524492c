/**
 * Everything that a command prints on its standard output, in order and in pieces, each when there is room for it: one
 * string for all could be longer than any may be, and a pipe with a slow reader would keep all of it in memory.
 */
import { once } from 'node:events';

/** How many items become one piece. */
const AT_ONCE = 1_000;

type Sink = Pick<NodeJS.WriteStream, 'write' | 'once'>;

export class Printer {
  readonly #sink: Sink;
  readonly #waiting: Iterator<string>[] = [];
  #printed: Promise<void> = Promise.resolve();
  #outlives = false;
  #isUnread = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** From now on the command goes on without its reader, because it changes something. */
  outliveReader(): void {
    this.#outlives = true;
  }

  /** The reader is gone: nothing is printed any more. @returns whether the command goes on without it */
  readerGone(): boolean {
    this.#isUnread = true;
    return this.#outlives;
  }

  /** Writes at once what there is room for. The rest, and what is printed after it, waits for the reader. */
  print(pieces: Iterable<string>): void {
    if (this.#isUnread) return;
    const rest = pieces[Symbol.iterator]();
    if (this.#waiting.length === 0 && this.#fill(rest)) return;
    this.#waiting.push(rest);
    if (this.#waiting.length > 1) return;
    this.#printed = this.#writeOn();
    // A piece that cannot be made is an error of whoever waits, also if nobody does so yet.
    this.#printed.catch(() => {});
  }

  /** Resolves once nothing waits any more; rejects if a piece could not be made. */
  printed(): Promise<void> {
    return this.#printed;
  }

  /** @returns whether all of it is written, and there is room for more */
  #fill(pieces: Iterator<string>): boolean {
    for (;;) {
      if (this.#isUnread) return true;
      const { done, value } = pieces.next();
      if (done) return true;
      if (!this.#sink.write(value)) return false;
    }
  }

  /** Begins when there is no room. */
  async #writeOn(): Promise<void> {
    await this.#drained();
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      while (!this.#fill(next)) await this.#drained();
      this.#waiting.shift();
    }
  }

  async #drained(): Promise<void> {
    try {
      await once(this.#sink as NodeJS.WriteStream, 'drain');
    } catch (error) {
      if (!this.#isUnread) throw error;
    }
  }
}

const OURS = Symbol.for('snitch.printer');
const processWide = globalThis as { [OURS]?: Printer };

/** One for the whole process: in the build this module is there twice, in the program and in what commands load later. */
const printer = processWide[OURS] ?? new Printer(process.stdout);
processWide[OURS] = printer;

/** Prints on the standard output. @param pieces must be safe to show on a terminal; each is made when its turn comes */
export function print(pieces: Iterable<string>): void {
  printer.print(pieces);
}

/**
 * For commands that change something: whoever reads their output may stop early, as `grep -q` and `head` do, and what
 * was asked for must be done all the same.
 */
export function outliveReader(): void {
  printer.outliveReader();
}

/** @returns whether the command goes on without the reader of its output */
export function readerGone(): boolean {
  return printer.readerGone();
}

/** Resolves once all that was printed is given to the system, or waits in its stream for no more than a piece. */
export function printed(): Promise<void> {
  return printer.printed();
}

/** Some lines at a time, each with its line break. */
export function* linePieces(lines: Iterable<string>): Generator<string> {
  let some: string[] = [];
  for (const line of lines) {
    if (some.push(line) < AT_ONCE) continue;
    yield `${some.join('\n')}\n`;
    some = [];
  }
  if (some.length > 0) yield `${some.join('\n')}\n`;
}

/** What `JSON.stringify(value, null, 2)` makes of an array, or of an object with long arrays in its fields. */
export function* jsonPieces(value: unknown, indent = ''): Generator<string> {
  const within = (text: string) => (indent === '' ? text : text.replaceAll('\n', `\n${indent}`));
  if (Array.isArray(value) && value.length > AT_ONCE) {
    for (let at = 0; at < value.length; at += AT_ONCE) {
      // Without the brackets, which are those of the piece.
      const items = JSON.stringify(value.slice(at, at + AT_ONCE), null, 2).slice(1, -2);
      yield within(`${at === 0 ? '[' : ','}${items}`);
    }
    yield `\n${indent}]`;
  } else if (indent === '' && hasLongArray(value)) {
    let before = '{';
    for (const [key, item] of Object.entries(value).filter(([, item]) => item !== undefined)) {
      yield `${before}\n  ${JSON.stringify(key)}: `;
      yield* jsonPieces(item, '  ');
      before = ',';
    }
    yield '\n}';
  } else yield within(JSON.stringify(value, null, 2));
}

function hasLongArray(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((item) => Array.isArray(item) && item.length > AT_ONCE);
}
