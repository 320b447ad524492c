/** A client of `/v1/stream` that reads Server-Sent Events one by one. */
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import * as assert from 'uvu/assert';
import { basic, type Client } from './client.ts';

export interface Event {
  id: string | null;
  event: string;
  data: Record<string, unknown>;
}

export interface Stream extends Disposable {
  /** The next event; the reader waits for it. */
  next(): Promise<Event>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  /** All that has arrived. */
  readonly text: string;
  /** Stops taking what arrives, and goes on. */
  pause(): void;
  resume(): void;
  close(): void;
}

export async function open({ port, key }: Client, lastEventId?: string): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const ended = Promise.withResolvers<void>();
  const headers = {
    authorization: basic(key ?? ''),
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  const outgoing = request({ host: '127.0.0.1', port, path: '/v1/stream', headers }, (response) => {
    response.on('close', ended.resolve);
    resolve(response);
  });
  outgoing.on('error', reject).end();
  const response = await promise;
  const close = () => void outgoing.destroy();
  if (response.headers['content-type'] !== 'text/event-stream; charset=utf-8') {
    close();
    assert.unreachable(`a stream was answered with ${response.statusCode}`);
  }
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const lines = createInterface({ input: response })[Symbol.asyncIterator]();
  return {
    next: () => readEvent(lines),
    ended: ended.promise,
    get text() {
      return text;
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close,
    [Symbol.dispose]: close,
  };
}

/** The status that a stream is refused with; null where it begins, and stays open until the fixture is closed. */
export async function refusal({ port, key }: Client): Promise<number | null> {
  const headers = { authorization: basic(key ?? '') };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request({ host: '127.0.0.1', port, path: '/v1/stream', headers }, (response) => {
    if (response.statusCode !== 200) outgoing.destroy();
    resolve(response);
  });
  outgoing.on('error', reject).end();
  const { statusCode = 0 } = await promise;
  return statusCode === 200 ? null : statusCode;
}

async function readEvent(lines: AsyncIterator<string>): Promise<Event> {
  const event: Event = { id: null, event: '', data: {} };
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error('the stream ended');
    if (value === '' && event.event !== '') return event;
    const [name, text] = value.split(/: (.*)/s) as [string, string];
    if (name === 'id') event.id = text;
    if (name === 'event') event.event = text;
    if (name === 'data') event.data = JSON.parse(text) as Record<string, unknown>;
  }
}

/** The events up to the one that says how far the reader is informed, and that one's id. */
export async function informed(stream: Stream): Promise<{ events: Event[]; id: string }> {
  const events: Event[] = [];
  for (;;) {
    const event = await stream.next();
    if (event.event === 'informed') return { events, id: event.id ?? '' };
    events.push(event);
  }
}
