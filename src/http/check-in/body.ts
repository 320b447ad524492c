/** Reads the body of a check-in, and keeps the most telling parts of a long one: its beginning and its end. */
import type { IncomingMessage } from 'node:http';

/** How much of a body is kept, in bytes. Clients cut what they send to this size. */
export const BODY_LIMIT = 10 * 1024;
const KEPT_HEAD = 2 * 1024;
const KEPT_TAIL = BODY_LIMIT - KEPT_HEAD;

/** How much of a body is read, in bytes. */
const MOST_READ = 1024 * 1024;

/** How much memory all bodies that are being read may take, beyond what is kept of each; in bytes. */
const SHARED_MEMORY = 64 * 1024 * 1024;

let memoryInUse = 0;

export interface CheckInBody {
  /** All that was read, or its beginning and its end if too many long bodies were being read at the same time. */
  text: string;
  /** The part to keep: at most 10 KiB, and lines that say how much is missing. */
  kept: string;
  /** Whether the body is longer than what was read. */
  goesOn: boolean;
}

export const NO_BODY: CheckInBody = { text: '', kept: '', goesOn: false };

/** Never fails. A client that goes away, or is so slow that it is cut off, has checked in all the same. */
export function readBody(request: IncomingMessage): Promise<CheckInBody> {
  return new Promise((resolve) => {
    const ends = new BothEnds();
    let over = false;
    const finish = () => {
      if (over) return;
      over = true;
      request.off('data', take);
      resolve(ends.take());
    };
    const take = (chunk: Buffer) => {
      if (ends.add(chunk)) return;
      request.pause();
      finish();
    };
    request.on('data', take);
    request.once('end', finish);
    request.once('error', finish);
    request.once('close', finish);
    // The client may have gone away before the listeners were added.
    if (request.destroyed) finish();
  });
}

/** Collects a body: all of it while there is memory, otherwise its beginning and its end. */
class BothEnds {
  #bytes = Buffer.alloc(0);
  #filled = 0;
  /** The last bytes, if not all are held; null while all are. */
  #tail: Tail | null = null;
  #size = 0;
  #borrowed = 0;
  #goesOn = false;

  /** @returns false when no more is wanted */
  add(chunk: Buffer): boolean {
    const part = chunk.subarray(0, MOST_READ - this.#size);
    this.#goesOn = part.length < chunk.length;
    this.#size += part.length;
    if (this.#tail === null && !this.#reserve(this.#filled + part.length)) this.#holdEnds();
    this.#filled += part.copy(this.#bytes, this.#filled);
    this.#tail?.add(part);
    return !this.#goesOn;
  }

  /** Room grows by doubling, so a body in many small pieces costs no more than one in a few. */
  #reserve(length: number): boolean {
    if (length <= this.#bytes.length) return true;
    const room = Math.max(length, Math.min(2 * this.#bytes.length, MOST_READ));
    if (room > BODY_LIMIT && memoryInUse + room - this.#borrowed > SHARED_MEMORY) return false;
    memoryInUse += room - this.#borrowed;
    this.#borrowed = room;
    this.#moveTo(room);
    return true;
  }

  #holdEnds(): void {
    this.#tail = new Tail();
    this.#tail.add(this.#bytes.subarray(0, this.#filled));
    this.#giveBack();
    this.#moveTo(BODY_LIMIT);
  }

  #moveTo(room: number): void {
    const bytes = Buffer.allocUnsafe(room);
    this.#filled = this.#bytes.copy(bytes, 0, 0, this.#filled);
    this.#bytes = bytes;
  }

  #giveBack(): void {
    memoryInUse -= this.#borrowed;
    this.#borrowed = 0;
  }

  /** Returns what was collected and frees the memory, so it must be called once. */
  take(): CheckInBody {
    this.#giveBack();
    const held = this.#bytes.subarray(0, this.#filled);
    const tail = this.#tail?.bytes() ?? held.subarray(-KEPT_TAIL);
    const unseen = this.#size - held.length;
    const text = unseen > 0 ? Buffer.concat([held, tail.subarray(-unseen)]) : held;
    return { text: decode(text), kept: this.#kept(held, tail), goesOn: this.#goesOn };
  }

  #kept(held: Buffer, last: Buffer): string {
    if (this.#size <= BODY_LIMIT) return decode(held);
    const head = withoutCutEnd(held.subarray(0, KEPT_HEAD));
    const tail = withoutCutStart(last);
    const end = this.#goesOn ? withoutCutEnd(tail) : tail;
    const missing = `[... ${this.#size - head.length - end.length} bytes are missing here ...]`;
    const rest = this.#goesOn ? '\n[... 1 MiB was read; what follows is missing ...]\n' : '';
    return `${decode(head)}\n${missing}\n${decode(end)}${rest}`;
  }
}

/** The last bytes of what is added. */
class Tail {
  readonly #bytes = Buffer.allocUnsafe(2 * KEPT_TAIL);
  #filled = 0;

  add(part: Buffer): void {
    const last = part.subarray(-KEPT_TAIL);
    if (this.#filled + last.length > this.#bytes.length) {
      this.#filled = this.bytes().copy(this.#bytes);
    }
    this.#filled += last.copy(this.#bytes, this.#filled);
  }

  bytes(): Buffer {
    return this.#bytes.subarray(Math.max(0, this.#filled - KEPT_TAIL), this.#filled);
  }
}

/** Replaces zero bytes, which the database's text cannot hold. */
function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8').decode(bytes).replaceAll('\0', '\uFFFD');
}

/** Without the beginning of a character whose end was cut off. Bytes that are not UTF-8 stay as they are. */
function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthOfCharacter(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Without the end of a character whose beginning was cut off. Bytes that are not UTF-8 stay as they are. */
function withoutCutStart(bytes: Buffer): Buffer {
  let count = 0;
  while (count < 4 && isContinuation(bytes[count] ?? 0)) count += 1;
  return count === 4 ? bytes : bytes.subarray(count);
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthOfCharacter(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
