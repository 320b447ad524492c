/** Splits what one process prints about several test files at the lines that say that the next one begins. */

/** More is cut from the front: the output of a file that runs wild must not fill the memory. */
const MOST_OUTPUT = 4 << 20;

export interface Section {
  output: string;
  seconds: number;
}

export class Sections {
  readonly #mark: string;
  readonly #began: (index: number) => void;
  readonly #sections: Section[] = [{ output: '', seconds: 0 }];
  /** The file that each stream is about now, and the beginning of a line that may become a mark. */
  readonly #streams = { stdout: { index: 0, held: '' }, stderr: { index: 0, held: '' } };
  #since = performance.now();

  /** @param began called for each file but the first, as it begins */
  constructor(mark: string, began: (index: number) => void) {
    this.#mark = mark;
    this.#began = began;
  }

  /** How many files have begun. */
  get count(): number {
    return this.#sections.length;
  }

  /** Whether the last file has printed how long its tests took, which is the last thing that it does. */
  get hasDuration(): boolean {
    return /^ {2}Duration: /m.test(this.#sections.at(-1)?.output.slice(-4_000) ?? '');
  }

  add(name: 'stdout' | 'stderr', chunk: string): void {
    const stream = this.#streams[name];
    const lines = (stream.held + chunk).split(/(?<=\n)/);
    stream.held = '';
    const last = lines.at(-1) ?? '';
    // The two streams arrive separately: either may be the first to say that a file begins.
    if (!last.endsWith('\n') && (this.#mark.startsWith(last) || last.startsWith(this.#mark))) {
      stream.held = last;
      lines.pop();
    }
    for (const line of lines) {
      if (line.startsWith(this.#mark)) this.#begin(stream, Number(line.slice(this.#mark.length)));
      else this.#print(stream.index, line);
    }
  }

  /** To be called when there is no more output. */
  end(): readonly Section[] {
    for (const { index, held } of Object.values(this.#streams)) this.#print(index, held);
    this.#tellTime();
    return this.#sections;
  }

  #begin(stream: { index: number }, index: number): void {
    stream.index = index;
    if (index < this.#sections.length) return;
    this.#tellTime();
    this.#since = performance.now();
    this.#sections.push({ output: '', seconds: 0 });
    this.#began(index);
  }

  #tellTime(): void {
    const section = this.#sections.at(-1);
    if (section) section.seconds = (performance.now() - this.#since) / 1_000;
  }

  #print(index: number, text: string): void {
    const section = this.#sections[index];
    if (section) section.output = (section.output + text).slice(-MOST_OUTPUT);
  }
}
