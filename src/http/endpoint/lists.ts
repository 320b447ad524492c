/**
 * Answers that are lists. They are made in slices, each when the client has received the one before. So a long list is
 * never in memory as a whole, others get their turn in between, and the work ends when the client goes away.
 */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Store } from '../../store/store.ts';
import { MINUTE } from '../../text/durations.ts';
import type { Caller } from './auth.ts';
import { RETRY_AFTER_S, TryLater } from './errors.ts';
import { Turns } from './turns.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The size that slices should have, in characters, and the fewest and the most items in one. */
const SLICE = 128 * 1024;
const FEWEST = 1;
const MOST = 200;

/** How many items are read before it is known how large they are. */
const FIRST = 20;

/** How many lists of a key, and of a case, may be under way at the same time. Further ones wait. */
const MOST_OF_KEY = 4;
const MOST_OF_CASE = 8;

/** In milliseconds. */
export interface Patience {
  /** How long a list waits for its turn. */
  turnWithin: number;
  /**
   * How often to check whether the client receives anything. A client that received nothing since the last check is
   * gone.
   */
  look: number;
}

const PATIENCE: Patience = { turnWithin: MINUTE, look: 15_000 };

/** Some items, and where the next ones begin; null at the end. */
export interface Slice<Item, Position> {
  items: readonly Item[];
  next: Position | null;
}

/** The items as JSON, separated by commas. */
type Write<Item> = (items: readonly Item[]) => string;

const asJson: Write<unknown> = (items) => JSON.stringify(items).slice(1, -1);

export class Lists {
  readonly #turns = new Turns();
  readonly #patience: Patience;
  /**
   * The lists that wait or are under way. A client may take long to read one, and must learn nothing more once its
   * key is gone.
   */
  readonly #open = new Map<FastifyReply, Caller>();

  constructor(store: Pick<Store, 'onChange'>, patience = PATIENCE) {
    this.#patience = patience;
    store.onChange((change) => {
      if (change.kind === 'access') this.#revoke(change.caseId, change.keyId);
      // It is not known whose key is gone: clients that try again have to show theirs.
      if (change.kind === 'reset') for (const reply of this.#open.keys()) reply.raw.destroy();
    });
  }

  /**
   * Answers the request with the JSON array of all items.
   *
   * @param read reads at most `count` items from `position`, which is null at the beginning
   * @param write writes items as JSON, if there is something quicker than `JSON.stringify`
   * @throws TryLater when too many lists of this key or its case stay under way for too long
   */
  async send<Item, Position>(
    request: FastifyRequest,
    reply: FastifyReply,
    read: (count: number, position: Position | null) => Promise<Slice<Item, Position>>,
    write: Write<Item> = asJson,
  ): Promise<FastifyReply> {
    const gone = await this.#turn(request, reply);
    return gone.aborted ? reply.hijack() : answer(request, reply, slices(read, write));
  }

  /**
   * Answers the request with a text of another type, in pieces, each made when the one before was received. The
   * first piece is made before anything is sent, so that an error up to then gets a status of its own.
   *
   * @param make makes the pieces, and may stop when nobody wants them any more
   * @throws TryLater when too many lists of this key or its case stay under way for too long
   */
  async sendText(
    request: FastifyRequest,
    reply: FastifyReply,
    type: string,
    make: (gone: AbortSignal) => AsyncGenerator<string>,
  ): Promise<FastifyReply> {
    const gone = await this.#turn(request, reply);
    if (gone.aborted) return reply.hijack();
    const texts = make(gone);
    const first = await texts.next();
    reply.type(type);
    return reply.send(Readable.from(request.method === 'HEAD' ? [] : behind(first.value ?? '', texts)));
  }

  /** Waits for a turn, which ends with the answer. The signal is aborted when there is nobody left to answer. */
  async #turn(request: FastifyRequest, reply: FastifyReply): Promise<AbortSignal> {
    const gone = new AbortController();
    if (reply.raw.closed) gone.abort();
    else if (request.caller) this.#open.set(reply, request.caller);
    reply.raw.once('close', () => {
      this.#open.delete(reply);
      gone.abort();
    });
    const release = await this.#turns.take(claimsOf(request), this.#patience.turnWithin, gone.signal);
    if (gone.signal.aborted) {
      release?.();
      return gone.signal;
    }
    if (!release) {
      const message = 'Too many long lists are being read with this API key, or in its case: end one first.';
      throw new TryLater('rate_limited', message, RETRY_AFTER_S);
    }
    gone.signal.addEventListener('abort', release);
    reply.raw.setTimeout(this.#patience.look, () => {
      // If there is nothing to receive, the client is waiting for us.
      if (reply.raw.writableLength > 0) reply.raw.destroy();
    });
    return gone.signal;
  }

  #revoke(caseId: string, keyId: string | null): void {
    for (const [reply, { apiKey }] of this.#open) {
      if (apiKey.caseId === caseId && (keyId === null || apiKey.id === keyId)) reply.raw.destroy();
    }
  }
}

function claimsOf({ caller }: FastifyRequest) {
  const key = { name: `key ${caller?.apiKey.id}`, most: MOST_OF_KEY };
  return caller?.case ? [key, { name: `case ${caller.case.id}`, most: MOST_OF_CASE }] : [key];
}

/**
 * A list of one slice is answered with its length. The second slice is read before anything is sent, so that an error
 * up to then still gets a status of its own.
 */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncGenerator<string>,
): Promise<FastifyReply> {
  reply.type(JSON_TYPE);
  const first = await texts.next();
  const second = await texts.next();
  if (second.done) return reply.send(`[${first.value ?? ''}]`);
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  return reply.send(Readable.from(array(first.value ?? '', second.value, texts)));
}

async function* behind(first: string, others: AsyncIterable<string>): AsyncGenerator<string> {
  if (first !== '') yield first;
  yield* others;
}

async function* array(first: string, second: string, others: AsyncIterable<string>): AsyncGenerator<string> {
  yield `[${first}`;
  yield `,${second}`;
  for await (const text of others) yield `,${text}`;
  yield ']';
}

/** The items as JSON, separated by commas; never an empty text. */
async function* slices<Item, Position>(
  read: (count: number, position: Position | null) => Promise<Slice<Item, Position>>,
  write: Write<Item>,
): AsyncGenerator<string> {
  let count = FIRST;
  let position: Position | null = null;
  do {
    const { items, next }: Slice<Item, Position> = await read(count, position);
    position = next;
    if (items.length === 0) {
      count = Math.min(MOST, 2 * count);
      continue;
    }
    const text = write(items);
    yield text;
    count = Math.max(FEWEST, Math.min(MOST, Math.floor((SLICE * items.length) / text.length)));
    // Without this, a client that reads fast could keep the event loop to itself, because it makes room again within
    // the same turn.
    await nextTurn();
  } while (position !== null);
}
