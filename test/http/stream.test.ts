/** `/v1/stream` as a client of Server-Sent Events reads it. */
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { basic, type Client } from './client.ts';
import { type Fixture, hooks, newSnitch } from './fixture.ts';

interface Event {
  id: string | null;
  event: string;
  data: Record<string, unknown>;
}

interface Stream {
  /** The next event; the reader waits for it. */
  next(): Promise<Event>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

const test = suite<Fixture>('the stream of changes');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function open({ port, key }: Client, lastEventId?: string): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<AsyncIterator<string>>();
  const ended = Promise.withResolvers<void>();
  const headers = {
    authorization: basic(key ?? ''),
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  const outgoing = request({ host: '127.0.0.1', port, path: '/v1/stream', headers }, (response) => {
    assert.is(response.headers['content-type'], 'text/event-stream; charset=utf-8');
    response.on('close', ended.resolve);
    resolve(createInterface({ input: response })[Symbol.asyncIterator]());
  });
  outgoing.on('error', reject).end();
  const lines = await promise;
  return { next: () => readEvent(lines), ended: ended.promise, close: () => outgoing.destroy() };
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
async function informed(stream: Stream): Promise<{ events: Event[]; id: string }> {
  const events: Event[] = [];
  for (;;) {
    const event = await stream.next();
    if (event.event === 'informed') return { events, id: event.id ?? '' };
    events.push(event);
  }
}

test('it begins with reset, and then tells every change as it commits', async ({ acme, nobody }) => {
  const stream = await open(acme.read);
  assert.is((await stream.next()).event, 'reset');
  const created = await newSnitch(acme);
  const first = await informed(stream);
  assert.equal(
    first.events.map(({ event, data }) => [event, data]),
    [['snitch', created]],
  );
  await nobody.get(`/c/${created.token}`);
  const second = await informed(stream);
  assert.is(second.events[0]?.data.status, 'healthy');
  await acme.write.delete(`/v1/snitches/${created.token}`);
  const third = await informed(stream);
  assert.equal(
    third.events.map(({ event, data }) => [event, data]),
    [['deleted', { token: created.token }]],
  );
  stream.close();
});

test('a reader that comes back is told what it missed, and no more', async ({ acme }) => {
  const stream = await open(acme.read);
  await stream.next();
  await newSnitch(acme);
  const { id } = await informed(stream);
  stream.close();
  const missed = await newSnitch(acme);
  const again = await open(acme.read, id);
  const { events } = await informed(again);
  assert.equal(
    events.map(({ data }) => data.token),
    [missed.token],
  );
  again.close();
});

test('an id of another run of the daemon means that everything must be read again', async ({ acme }) => {
  for (const id of ['00000000-0000-0000-0000-000000000000:7', 'nonsense', '']) {
    const stream = await open(acme.read, id);
    assert.is((await stream.next()).event, 'reset');
    stream.close();
  }
});

test('a case is told of its own snitches only', async ({ acme, rival }) => {
  const stream = await open(acme.read);
  await stream.next();
  await newSnitch(rival);
  const own = await newSnitch(acme);
  const { events } = await informed(stream);
  assert.equal(
    events.map(({ data }) => data.token),
    [own.token],
  );
  stream.close();
});

test('it ends when the server stops', async (context) => {
  const stream = await open(context.acme.read);
  await stream.next();
  await context.close();
  await stream.ended;
});

test('it needs a key of a case', async ({ nobody, admin }) => {
  assert.is((await nobody.get('/v1/stream')).status, 401);
  assert.is((await admin.get('/v1/stream')).status, 403);
});

test.run();
