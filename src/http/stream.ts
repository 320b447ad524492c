/** `/v1/stream`: every change of a case's snitches as it commits, as Server-Sent Events. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { SnitchError } from '../core/errors.ts';
import { caseOf } from './auth.ts';
import { resource } from './resource.ts';
import type { RouteContext } from './server.ts';
import { wireSnitch } from './wire.ts';

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** Changes of a snitch within this time are told as one, in milliseconds. */
const GATHER = 100;

/** A comment this often keeps proxies from closing a quiet stream. */
const KEEP_ALIVE = 15_000;

/** A reader this far behind, in bytes, is cut off; it comes back and is told only what it missed. */
const MOST_BEHIND = 1024 * 1024;

const MOST_READERS = 200;

/** Changed snitches that are remembered for readers who come back; past it they must read everything again. */
const MOST_REMEMBERED = 200_000;

interface Reader {
  caseId: string;
  response: ServerResponse;
}

/**
 * Which snitches changed, in the order of their last changes. An event's id is the position up to which its reader
 * is informed; it holds for one run of the daemon, and an id of another run answers with `reset`.
 */
class ChangeLog {
  #run = randomUUID();
  #position = 0;
  /** Token to the case and the position of its last change. */
  readonly #last = new Map<string, { caseId: string; position: number }>();

  get id(): string {
    return `${this.#run}:${this.#position}`;
  }

  add(caseId: string, token: string): void {
    this.#position += 1;
    this.#last.delete(token);
    this.#last.set(token, { caseId, position: this.#position });
    if (this.#last.size <= MOST_REMEMBERED) return;
    this.#last.clear();
    this.#run = randomUUID();
  }

  /** The tokens that changed after the event `id`, or null when that is no longer known. */
  since(caseId: string, id: string): string[] | null {
    const [run, position] = id.split(':');
    if (run !== this.#run || !/^\d+$/.test(position ?? '')) return null;
    const changed: string[] = [];
    for (const [token, last] of this.#last) {
      if (last.caseId === caseId && last.position > Number(position)) changed.push(token);
    }
    return changed;
  }
}

/** The open streams, and what they are to be told next. */
class Readers {
  readonly log = new ChangeLog();
  readonly #readers = new Set<Reader>();
  readonly #changed = new Map<string, Set<string>>();
  readonly #context: RouteContext;
  #gathering: NodeJS.Timeout | null = null;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(context: RouteContext) {
    this.#context = context;
    context.store.onChange((change) => {
      if (change.kind === 'snitch') this.#note(change.caseId, change.token);
    });
    this.#keepAlive = setInterval(() => {
      for (const reader of this.#readers) send(reader, ': still here\n\n');
    }, KEEP_ALIVE).unref();
  }

  get full(): boolean {
    return this.#readers.size >= MOST_READERS;
  }

  /** Until somebody listens for the first time, nobody can come back and ask what was missed. */
  #heard = false;

  /** Opens a stream that begins with what was missed since the event `lastId`, or with `reset`. */
  async add(reader: Reader, lastId: string | null): Promise<void> {
    const { id } = this.log;
    const missed = lastId === null ? null : this.log.since(reader.caseId, lastId);
    this.#heard = true;
    this.#readers.add(reader);
    reader.response.on('close', () => this.#readers.delete(reader));
    reader.response.on('error', () => this.#readers.delete(reader));
    if (missed) send(reader, await this.#eventsFor(reader.caseId, missed, id));
    else send(reader, `id: ${id}\nevent: reset\ndata: {}\n\n`);
  }

  close(): void {
    clearInterval(this.#keepAlive);
    if (this.#gathering) clearTimeout(this.#gathering);
    for (const { response } of this.#readers) response.end();
  }

  #note(caseId: string, token: string): void {
    if (!this.#heard) return;
    this.log.add(caseId, token);
    if (this.#readers.size === 0) return;
    const tokens = this.#changed.get(caseId) ?? new Set();
    this.#changed.set(caseId, tokens.add(token));
    this.#gathering ??= setTimeout(() => {
      // A reader that is cut off comes back and is told what it missed.
      this.#tell().catch(() => this.#cutOff());
    }, GATHER);
  }

  async #tell(): Promise<void> {
    this.#gathering = null;
    const { id } = this.log;
    const gathered = [...this.#changed];
    this.#changed.clear();
    for (const [caseId, tokens] of gathered) {
      const interested = [...this.#readers].filter((reader) => reader.caseId === caseId);
      if (interested.length === 0) continue;
      const text = await this.#eventsFor(caseId, tokens, id);
      for (const reader of interested) send(reader, text);
    }
  }

  #cutOff(): void {
    for (const { response } of this.#readers) response.destroy();
  }

  /** The snitches as they are now, and that the reader is informed up to `id`. */
  async #eventsFor(caseId: string, tokens: Iterable<string>, id: string): Promise<string> {
    const { store, addresses } = this.#context;
    let events = '';
    for (const token of tokens) {
      const snitch = await store.getSnitch(caseId, token);
      const [event, data] = snitch
        ? ['snitch', wireSnitch(snitch, addresses().checkInBase)]
        : ['deleted', { token }];
      events += `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    }
    return `${events}id: ${id}\nevent: informed\ndata: {}\n\n`;
  }
}

export function streamRoutes(app: FastifyInstance, context: RouteContext): void {
  const readers = new Readers(context);
  app.addHook('preClose', async () => readers.close());
  resource(app, '/stream', {
    GET: async (request, reply) => {
      if (readers.full) throw new SnitchError('service_unavailable', 'Too many streams are open.');
      const { id: caseId } = caseOf(request);
      if (request.method === 'HEAD') return reply.type(EVENT_STREAM).send();
      const lastId = request.headers['last-event-id'];
      reply.hijack();
      reply.raw.writeHead(200, {
        'content-type': EVENT_STREAM,
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      await readers.add({ caseId, response: reply.raw }, typeof lastId === 'string' ? lastId : null);
      return reply;
    },
  });
}

function send({ response }: Reader, text: string): void {
  if (response.writableLength > MOST_BEHIND) response.destroy();
  else response.write(text);
}
