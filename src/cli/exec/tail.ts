/** The last bytes of what a job prints, in bounded memory. */
import { UsageError } from '../failure.ts';

/** The server keeps this much of a run's output, in bytes. */
export const LARGEST_TAIL = 10 * 1024;

/** @throws UsageError for what is no size, or more than the server keeps */
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

  /** At most the limit, beginning with a whole character where the output is UTF-8. */
  bytes(): Buffer {
    this.#compact();
    const kept = Buffer.concat(this.#chunks);
    return this.#cut ? kept.subarray(restOfCharacter(kept)) : kept;
  }

  /** Copies the end, so that a few bytes do not keep the large buffers that they came in. */
  #compact(): void {
    if (this.#size <= this.#limit) return;
    const end = Buffer.from(Buffer.concat(this.#chunks).subarray(-this.#limit));
    this.#chunks = [end];
    this.#size = end.length;
    this.#cut = true;
  }
}

/** How many bytes at the start belong to a character that was cut; none where this is no UTF-8. */
function restOfCharacter(bytes: Buffer): number {
  let count = 0;
  while (count < 4 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count === 4 ? 0 : count;
}

/** Looks like JSON, so that the server does not take it for a form, but does not parse as JSON either. */
const NO_PARAMETERS = Buffer.from('{…}\n');

/**
 * What to send as the body, so that the server keeps it as output. It takes a body that looks like a form or like
 * JSON with `m`, `s` or `rid` for parameters of the check-in, which what a job prints never are.
 */
export function asBody(output: Buffer): Buffer {
  const text = output.toString('utf8');
  if (!looksLikeParameters(text)) return output;
  const room = LARGEST_TAIL - NO_PARAMETERS.length;
  const end = output.length > room ? output.subarray(-room) : output;
  return Buffer.concat([NO_PARAMETERS, end.subarray(restOfCharacter(end))]);
}

const PARAMETERS = ['m', 's', 'rid'];

function looksLikeParameters(text: string): boolean {
  if (!text.trimStart().startsWith('{')) {
    const form = new URLSearchParams(text);
    return PARAMETERS.some((name) => form.has(name));
  }
  try {
    const parsed: unknown = JSON.parse(text);
    return PARAMETERS.some((name) => Object.hasOwn(Object(parsed), name));
  } catch {
    return false;
  }
}
