/** How the data comes in: the stream, what it missed, and what happens without it. */
import { PassThrough } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApiError, Unreachable } from '../../../src/api/client.ts';
import { createEventParser } from '../../../src/api/event-stream.ts';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { Feed } from '../../../src/tui/live/feed.ts';
import { retryDelay } from '../../../src/tui/live/retry-delay.ts';
import type { Event } from '../../../src/tui/model/state.ts';
import { NOON, snitch } from '../samples.ts';

const test = suite('the feed');

test('events are read across any cuts of the text', () => {
  const text = ': still here\n\nevent: snitch\ndata: {"a":\ndata: 1}\n\nid: 7\nevent: informed\ndata: {}\n\n';
  const expected = [
    { event: 'snitch', data: '{"a":\n1}', id: null },
    { event: 'informed', data: '{}', id: '7' },
  ];
  for (let cut = 0; cut <= text.length; cut += 1) {
    const parse = createEventParser();
    assert.equal([...parse(text.slice(0, cut)), ...parse(text.slice(cut))], expected, `cut at ${cut}`);
  }
});

test('only line feeds end the lines of an event: JSON has other line separators in it as they are', () => {
  const said = ['a\u2028b', '\u2029', '\u0085', '\r'].map((tag) => JSON.stringify({ tags: [tag] }));
  const events = createEventParser()(said.map((data) => `event: snitch\ndata: ${data}\n\n`).join(''));
  assert.equal(
    events.map(({ data }) => data),
    said,
  );
});

/** A server in the test's hand: each attempt takes the next answer. */
function rig(answers: (PassThrough | Error)[], snitches: WireSnitch[] | Error = []) {
  const events: Event[] = [];
  const asked: (string | null)[] = [];
  const waits: number[] = [];
  const attempts = answers[Symbol.iterator]();
  const feed = new Feed({
    client: {
      listSnitches: async () => {
        if (snitches instanceof Error) throw snitches;
        return snitches;
      },
      stream: async (lastEventId) => {
        asked.push(lastEventId);
        const { value: answer } = attempts.next();
        if (answer === undefined) feed.stop();
        if (!(answer instanceof PassThrough)) throw answer ?? new Error('stopped');
        return answer as never;
      },
    },
    clock: () => NOON,
    wait: async (ms) => {
      waits.push(ms);
    },
    random: () => 0,
    emit: (event) => events.push(event),
  });
  return { feed, events, asked, waits };
}

function streamOf(...texts: string[]): PassThrough {
  const stream = new PassThrough();
  for (const text of texts) stream.write(text);
  stream.end();
  return stream;
}

const RESET = 'id: run:1\nevent: reset\ndata: {}\n\n';
const told = (one: WireSnitch) => `event: snitch\ndata: ${JSON.stringify(one)}\n\n`;
const informed = (id: string) => `id: ${id}\nevent: informed\ndata: {}\n\n`;

test('reset reads everything; changes come together; a lost connection goes on where it was', async () => {
  const deleted = 'event: deleted\ndata: {"token":"gone"}\n\n';
  const { feed, events, asked } = rig(
    [
      streamOf(RESET, told(snitch('a')), told(snitch('b')), deleted, informed('run:4')),
      streamOf(informed('run:5')),
    ],
    [snitch('a')],
  );
  await feed.run();
  const kinds = events.map((event) => (event.kind === 'link' ? event.link.state : event.kind));
  assert.equal(kinds.slice(0, 4), ['all', 'live', 'changes', 'heard']);
  const changes = events.find((event) => event.kind === 'changes');
  assert.equal(changes, {
    kind: 'changes',
    changed: [snitch('a'), snitch('b')],
    deleted: ['gone'],
    at: NOON,
  });
  assert.equal(asked, [null, 'run:4', 'run:5']);
});

test('a server that is away is asked again, ever more seldom', async () => {
  const away = new Unreachable('http://x', new Error('refused'));
  const { feed, events, waits } = rig([away, away, away, away]);
  await feed.run();
  assert.equal(waits, [500, 1_000, 2_000, 4_000]);
  const link = events.at(-1);
  assert.ok(link?.kind === 'link');
  assert.equal(link.link, { state: 'lost', error: away.message, retryAt: NOON + 4_000 });
});

test('a server without a stream is polled', async () => {
  const refused = new ApiError(
    503,
    { type: 'service_unavailable', error: 'Too many streams are open.' },
    null,
  );
  const { feed, events } = rig([refused], [snitch('a')]);
  await feed.run();
  assert.equal(events[0], { kind: 'all', snitches: [snitch('a')], at: NOON });
  assert.ok(events[1]?.kind === 'link' && events[1].link.state === 'polling');
});

test('a stream that is refused for a time is not asked for, and the list is read meanwhile', async () => {
  const full = new ApiError(503, { type: 'service_unavailable', error: 'Too many streams are open.' }, 40);
  const { feed, events, waits, asked } = rig([full], [snitch('a')]);
  await feed.run();
  assert.equal(waits, [15_000, 15_000, 10_000]);
  assert.is(events.filter(({ kind }) => kind === 'all').length, 3);
  assert.ok(events[1]?.kind === 'link' && events[1].link.state === 'polling');
  assert.is(asked.length, 2);
});

test('a refusal of everything that names a time is honoured', async () => {
  const blocked = new ApiError(429, null, 60);
  const { feed, events, waits } = rig([blocked], blocked);
  await feed.run();
  assert.equal(waits, [60_000]);
  assert.ok(events[0]?.kind === 'link' && events[0].link.state === 'lost');
});

for (const [name, data] of [
  ['null', 'null'],
  ['no JSON', '{"token"'],
  ['a list', '[]'],
  ['a snitch without tags', JSON.stringify({ ...snitch('a'), tags: null })],
]) {
  test(`an event that is ${name} is not shown; the list is read instead`, async () => {
    const broken = streamOf(RESET, `event: snitch\ndata: ${data}\n\n`, informed('run:2'));
    const { feed, events, waits } = rig([broken], [snitch('b')]);
    await feed.run();
    assert.equal(waits, [15_000]);
    assert.equal(
      events.filter(({ kind }) => kind === 'changes'),
      [],
    );
    const last = events.at(-1);
    assert.ok(last?.kind === 'link' && last.link.state === 'polling');
    assert.match(last.link.error ?? '', /^cannot understand the stream of changes: /);
  });
}

test('a deletion that names nothing is not taken for one', async () => {
  const { feed, events } = rig([streamOf(RESET, 'event: deleted\ndata: {"token":7}\n\n')], [snitch('b')]);
  await feed.run();
  const last = events.at(-1);
  assert.ok(last?.kind === 'link');
  assert.match(last.link.error ?? '', /an event "deleted" has no text at token/);
});

test('an event without an end is given up', () => {
  const parse = createEventParser();
  assert.throws(() => {
    for (let count = 0; count < 100; count += 1) parse('x'.repeat(64 * 1024));
  }, /an event has no end/);
});

test('a list that cannot be read leaves the position where it was', async () => {
  const { feed, asked } = rig([streamOf(RESET), new Error('away')], new Error('away'));
  await feed.run();
  assert.equal(asked, [null, null, null]);
});

test('attempts are spread, and never further apart than 15 seconds', () => {
  assert.is(retryDelay(0, 0), 500);
  assert.is(retryDelay(50, 0), 15_000);
  assert.is(retryDelay(50, 1), 11_250);
});

const REFUSED = new ApiError(
  401,
  { type: 'api_key_invalid', error: 'the API key is missing or wrong' },
  null,
);

test('a key that is refused at the start ends it, with the words of the server', async () => {
  const { feed, events, waits } = rig([REFUSED], REFUSED);
  const error = await feed.run().catch((reason: Error) => reason);
  assert.is(error, REFUSED);
  assert.equal([events, waits], [[], []]);
});

test('a key that is refused later is said so, and not tried in a loop', async () => {
  const { feed, events, waits } = rig([streamOf('event: reset\ndata: {}\n\n'), REFUSED], [snitch('a')]);
  await feed.run();
  const links = events.flatMap((event) => (event.kind === 'link' ? [event.link] : []));
  assert.equal(links.at(-1), { state: 'refused', error: 'the API key is missing or wrong', retryAt: null });
  assert.is(waits.at(-1), 60_000);
});

test.run();
