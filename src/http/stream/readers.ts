/** The open streams: who may have one, and what each is sent next. */
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { SnitchError } from '../../core/errors.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { withSilences } from '../endpoint/silenced.ts';
import { wireSnitch } from '../endpoint/wire.ts';
import { ChangeLog } from './change-log.ts';
import { room } from './room.ts';

/** Changes of a snitch within this time are reported as one, in milliseconds. */
const GATHER = 100;

/** A comment this often keeps proxies from closing a quiet stream. */
const KEEP_ALIVE = 15_000;

/** At most this much may wait for a reader, in bytes. Anything more is sent when the reader has received that. */
const MOST_BEHIND = 1024 * 1024;

/** Events are written in slices of about this size, in bytes, reading this many snitches from the store at a time. */
const SLICE = 64 * 1024;
const READ_AT_ONCE = 16;

/** A reader that has received nothing during this many keep-alives is gone. */
const MOST_STALLS = 2;

export const MOST_READERS = 200;
export const MOST_OF_KEY = 20;

export class Reader {
  readonly caseId: string;
  readonly keyId: string;
  readonly response: ServerResponse;
  /** The id of the last change that it knows of. */
  position = '';
  /** Whether it is still catching up at its own pace, and not yet sent what commits now. */
  behind = false;
  /** How much waited for it at the last keep-alive, in bytes. */
  waiting = 0;
  /** For how many keep-alives in a row the above has not shrunk. */
  stalls = 0;

  constructor({ caseId, keyId, response }: Pick<Reader, 'caseId' | 'keyId' | 'response'>) {
    this.caseId = caseId;
    this.keyId = keyId;
    this.response = response;
  }
}

export class Readers {
  readonly #log = new ChangeLog();
  /** In the order in which they came. */
  readonly #readers = new Set<Reader>();
  readonly #changed = new Map<string, Set<string>>();
  readonly #context: Pick<RouteContext, 'store' | 'addresses' | 'clock'>;
  #gathering: NodeJS.Timeout | null = null;
  readonly #keepAlive: NodeJS.Timeout;
  /** How many times changes have been sent to the readers that are not behind. */
  #round = 0;
  /**
   * Whether anybody has connected yet. Until then nobody can come back for what was missed, so nothing is
   * remembered.
   */
  #heard = false;

  constructor(context: Pick<RouteContext, 'store' | 'addresses' | 'clock'>) {
    this.#context = context;
    context.store.onChange((change) => {
      if (change.kind === 'snitch') this.#note(change.caseId, change.token);
      if (change.kind === 'silences') this.#tellOfSilences(change.caseId);
      if (change.kind === 'access') this.#revoke(change.caseId, change.keyId);
      if (change.kind === 'reset') this.#beginAnew();
    });
    this.#keepAlive = setInterval(() => this.#keepAllAlive(), KEEP_ALIVE).unref();
  }

  /**
   * Counts a stream before it begins, so revoking its key from now on ends it.
   *
   * @throws SnitchError if its key has too many, or if there are too many and none has to give way
   */
  admit(reader: Reader): void {
    if (this.#count((other) => other.keyId === reader.keyId) >= MOST_OF_KEY) {
      const message = `This API key has ${MOST_OF_KEY} streams open, which is the most: close one, or use another key.`;
      // It gives no time to come back, so a client that can do without a stream reads the list instead, as the
      // dashboard does.
      throw new SnitchError('rate_limited', message);
    }
    if (this.#readers.size >= MOST_READERS) this.#makeRoomFor(reader);
    this.#readers.add(reader);
    reader.response.on('close', () => this.#readers.delete(reader));
    reader.response.on('error', () => this.#readers.delete(reader));
  }

  /** Whether the stream was neither closed nor revoked since it was admitted. */
  has(reader: Reader): boolean {
    return this.#readers.has(reader);
  }

  remove(reader: Reader): void {
    this.#readers.delete(reader);
  }

  /** Begins an admitted stream with what was missed since the event `lastId`, or with `reset`. */
  begin(reader: Reader, lastId: string | null): void {
    this.#heard = true;
    reader.position = lastId ?? '';
    this.#letCatchUp(reader);
  }

  close(): void {
    clearInterval(this.#keepAlive);
    if (this.#gathering) clearTimeout(this.#gathering);
    for (const { response } of this.#readers) response.end();
  }

  /** Ends a stream of the case with the most streams, and of its key with the most, if that is fair to both. */
  #makeRoomFor({ caseId, keyId }: Reader): void {
    const cases = Map.groupBy(this.#readers, (reader) => reader.caseId);
    const others = largestOf(cases);
    const own = cases.get(caseId) ?? [];
    const keys = Map.groupBy(others === own ? own : others, (reader) => reader.keyId);
    const most = largestOf(keys);
    const isFair =
      others === own ? most.length > (keys.get(keyId)?.length ?? 0) + 1 : others.length > own.length + 1;
    const [oldest] = most;
    if (!oldest || !isFair) throw new SnitchError('service_unavailable', 'Too many streams are open.');
    this.#end(oldest);
  }

  #count(matches: (reader: Reader) => boolean): number {
    let count = 0;
    for (const reader of this.#readers) if (matches(reader)) count += 1;
    return count;
  }

  #revoke(caseId: string, keyId: string | null): void {
    for (const reader of this.#readers) {
      if (reader.caseId === caseId && (keyId === null || reader.keyId === keyId)) this.#end(reader);
    }
  }

  /**
   * It is not known what changed, nor whose key was deleted: readers that reconnect must show their key, and get
   * `reset`.
   */
  #beginAnew(): void {
    this.#log.forget();
    this.#changed.clear();
    for (const reader of this.#readers) this.#end(reader);
  }

  /** Sends nothing more, not even what is already waiting. */
  #end(reader: Reader): void {
    this.#readers.delete(reader);
    const { response } = reader;
    if (response.writableLength > 0) response.destroy();
    else if (response.headersSent) response.end();
  }

  #keepAllAlive(): void {
    for (const reader of this.#readers) {
      const { writableLength } = reader.response;
      const isStalled = writableLength > 0 && reader.waiting > 0 && writableLength >= reader.waiting;
      reader.stalls = isStalled ? reader.stalls + 1 : 0;
      reader.waiting = writableLength;
      if (reader.stalls >= MOST_STALLS) this.#end(reader);
      else if (writableLength === 0) this.#send(reader, ': still here\n\n');
    }
  }

  #note(caseId: string, token: string): void {
    if (!this.#heard) return;
    this.#log.add(caseId, token);
    if (this.#readers.size === 0) return;
    const tokens = this.#changed.get(caseId) ?? new Set();
    this.#changed.set(caseId, tokens.add(token));
    this.#gather();
  }

  /** A reader that is just catching up is not told, and will reread silences now and then, as every reader should. */
  #tellOfSilences(caseId: string): void {
    for (const reader of this.#readers) {
      if (reader.caseId === caseId && !reader.behind)
        this.#sendOrFallBehind(reader, 'event: silences\ndata: {}\n\n');
    }
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => {
      this.#tell()
        // A reader that is cut off reconnects and is sent what it missed.
        .catch(() => this.#cutOff())
        .finally(() => {
          this.#gathering = null;
          if (this.#changed.size > 0) this.#gather();
        });
    }, GATHER);
  }

  async #tell(): Promise<void> {
    this.#round += 1;
    const { id } = this.#log;
    const gathered = [...this.#changed];
    this.#changed.clear();
    for (const [caseId, tokens] of gathered) {
      const told = [...this.#readers].filter((reader) => reader.caseId === caseId && !reader.behind);
      if (told.length === 0) continue;
      for await (const text of this.#slices(caseId, tokens)) {
        for (const reader of told) this.#sendOrFallBehind(reader, text);
        await nextTurn();
      }
      for (const reader of told) if (!reader.behind) this.#informed(reader, id);
    }
  }

  #sendOrFallBehind(reader: Reader, text: string): void {
    if (reader.behind) return;
    if (reader.response.writableLength + Buffer.byteLength(text) <= MOST_BEHIND) this.#send(reader, text);
    else this.#letCatchUp(reader);
  }

  #letCatchUp(reader: Reader): void {
    reader.behind = true;
    this.#catchUp(reader).catch(() => reader.response.destroy());
  }

  /** Sends a reader what changed since its position, never more at a time than it can receive. */
  async #catchUp(reader: Reader): Promise<void> {
    let round: number;
    do {
      await room(reader.response);
      round = this.#round;
      const { id } = this.#log;
      const missed = this.#log.since(reader.caseId, reader.position);
      if (missed === null) {
        reader.position = id;
        this.#send(reader, `id: ${id}\nevent: reset\ndata: {}\n\n`);
        break;
      }
      for await (const text of this.#slices(reader.caseId, missed)) {
        if (!this.has(reader)) return;
        this.#send(reader, text);
        await room(reader.response);
      }
      this.#informed(reader, id);
      // This reader does not know yet what the others were sent in the meantime.
      if (round !== this.#round) await sleep(GATHER, undefined, { ref: false });
    } while (round !== this.#round && this.has(reader));
    reader.behind = false;
  }

  #cutOff(): void {
    for (const { response } of this.#readers) response.destroy();
  }

  #informed(reader: Reader, id: string): void {
    reader.position = id;
    this.#send(reader, `id: ${id}\nevent: informed\ndata: {}\n\n`);
  }

  #send(reader: Reader, text: string): void {
    if (this.has(reader)) reader.response.write(text);
  }

  /** The snitches as they are now, in pieces of about the size of a slice. */
  async *#slices(caseId: string, tokens: Iterable<string>): AsyncGenerator<string> {
    const { store, addresses, clock } = this.#context;
    const all = [...tokens];
    const timezone = (await store.getCase(caseId))?.timezone ?? 'UTC';
    let text = '';
    for (let start = 0; start < all.length; start += READ_AT_ONCE) {
      const some = all.slice(start, start + READ_AT_ONCE);
      const read = await Promise.all(some.map((token) => store.getSnitch(caseId, token)));
      const there = read.filter((snitch) => snitch !== null);
      const shown = new Map(
        (await withSilences(store, caseId, there, clock())).map((one) => [one.token, one]),
      );
      for (const [index, token] of some.entries()) {
        const snitch = read[index] && shown.get(read[index].token);
        const event = snitch ? 'snitch' : 'deleted';
        const data = snitch ? wireSnitch(snitch, { ...addresses(), timezone }) : { token };
        text += `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
        if (text.length < SLICE) continue;
        yield text;
        text = '';
      }
    }
    if (text !== '') yield text;
  }
}

function largestOf(groups: ReadonlyMap<string, Reader[]>): Reader[] {
  let largest: Reader[] = [];
  for (const group of groups.values()) if (group.length > largest.length) largest = group;
  return largest;
}
