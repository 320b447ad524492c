/** Keeps the last bytes of a job's output in bounded memory. */
import { UsageError } from '../failure/failure.ts';
import { LARGEST_TAIL, restOfCharacter } from '../sending/body.ts';

/** @throws UsageError if the text is not a size, or more than the server keeps */
export function parseTail(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})\s*(k|kb|kib)?$/i.exec(text.trim()) ?? [];
  if (count === '') throw new UsageError(`--tail: "${text}" is no size: write 10k, 512 or 0`);
  const bytes = Number(count) * (unit === '' ? 1 : 1024);
  if (bytes > LARGEST_TAIL) throw new UsageError('--tail: at most 10k of the output are kept');
  return bytes;
}

export class Tail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #cut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    if (this.#limit === 0) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > 8 * this.#limit) this.#compact();
  }

  /** At most as many as the limit. If the output is UTF-8, they begin with a whole character. */
  bytes(): Buffer {
    this.#compact();
    const kept = Buffer.concat(this.#chunks);
    return this.#cut ? kept.subarray(restOfCharacter(kept)) : kept;
  }

  /** Copies the end, so that a few bytes do not keep the large buffers alive that they came in. */
  #compact(): void {
    if (this.#size <= this.#limit) return;
    const end = Buffer.from(Buffer.concat(this.#chunks).subarray(-this.#limit));
    this.#chunks = [end];
    this.#size = end.length;
    this.#cut = true;
  }
}
