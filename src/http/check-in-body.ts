/** Reads what a check-in carries, and keeps of a long body what tells most: how it begins and how it ends. */
import type { IncomingMessage } from 'node:http';

/** What is kept of a body, in bytes; clients cut what they send to this. */
export const BODY_LIMIT = 10 * 1024;
const KEPT_HEAD = 2 * 1024;
const KEPT_TAIL = BODY_LIMIT - KEPT_HEAD;

/** What is read of a body, in bytes. */
const MOST_READ = 1024 * 1024;

/** What all bodies that are being read may hold in memory beyond what is kept of them, in bytes. */
const SHARED_MEMORY = 64 * 1024 * 1024;

let memoryInUse = 0;

export interface CheckInBody {
  /** All that was read; only how it begins and ends where too many long bodies are being read at the same time. */
  text: string;
  /** What to keep of it: at most 10 KiB, and lines that say how much of it is missing. */
  kept: string;
  /** Whether it goes on behind what was read. */
  goesOn: boolean;
}

export const NO_BODY: CheckInBody = { text: '', kept: '', goesOn: false };

/** Never fails. A client that goes away, or drips until it is cut off, has checked in all the same. */
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
  });
}

/** Collects a body: wholly while there is memory, else how it begins and how it ends. */
class BothEnds {
  #whole: Buffer[] | null = [];
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #size = 0;
  #borrowed = 0;
  #goesOn = false;

  /** Answers false when no more is wanted. */
  add(chunk: Buffer): boolean {
    const part = chunk.subarray(0, MOST_READ - this.#size);
    this.#goesOn = part.length < chunk.length;
    this.#size += part.length;
    if (this.#head.length < BODY_LIMIT) {
      this.#head = Buffer.concat([this.#head, part.subarray(0, BODY_LIMIT - this.#head.length)]);
    }
    this.#tail = Buffer.concat([this.#tail, part.subarray(-KEPT_TAIL)]);
    if (this.#tail.length > 2 * KEPT_TAIL) this.#tail = Buffer.from(this.#tail.subarray(-KEPT_TAIL));
    this.#keepWhole(part);
    return !this.#goesOn;
  }

  #keepWhole(part: Buffer): void {
    if (this.#whole === null) return;
    if (memoryInUse + part.length > SHARED_MEMORY) {
      this.#giveBack();
      return;
    }
    this.#whole.push(part);
    this.#borrowed += part.length;
    memoryInUse += part.length;
  }

  #giveBack(): void {
    memoryInUse -= this.#borrowed;
    this.#borrowed = 0;
    this.#whole = null;
  }

  /** What was collected. To be called once: it frees the memory. */
  take(): CheckInBody {
    const body = { text: this.#text(), kept: this.#kept(), goesOn: this.#goesOn };
    this.#giveBack();
    return body;
  }

  #text(): string {
    if (this.#whole !== null) return decode(Buffer.concat(this.#whole));
    if (this.#size <= BODY_LIMIT) return decode(this.#head);
    return decode(Buffer.concat([this.#head, this.#tail.subarray(-(this.#size - this.#head.length))]));
  }

  #kept(): string {
    if (this.#size <= BODY_LIMIT) return decode(this.#head);
    const head = withoutCutEnd(this.#head.subarray(0, KEPT_HEAD));
    const tail = withoutCutStart(this.#tail.subarray(-KEPT_TAIL));
    const end = this.#goesOn ? withoutCutEnd(tail) : tail;
    const missing = `[... ${this.#size - head.length - end.length} bytes are missing here ...]`;
    const rest = this.#goesOn ? '\n[... 1 MiB was read; what follows is missing ...]\n' : '';
    return `${decode(head)}\n${missing}\n${decode(end)}${rest}`;
  }
}

/** A database's text holds no zero byte. */
function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8').decode(bytes).replaceAll('\0', '\uFFFD');
}

/** Without the beginning of a character whose end was cut off. Bytes that are no UTF-8 stay as they are. */
function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthOfCharacter(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Without the end of a character whose beginning was cut off. Bytes that are no UTF-8 stay as they are. */
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
