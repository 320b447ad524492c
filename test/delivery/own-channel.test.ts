/** A channel made for this test, in some forty lines, gets all the guarantees of the outbox. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Dispatch, type DispatchOptions } from '../../src/delivery/outbox/dispatch.ts';
import type { Attempt } from '../../src/delivery/outbox/settler.ts';
import { runUnless } from '../skipped.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { chatChannel } from './chat-channel.ts';
import { Outbox } from './outbox.ts';
import { type Behaviour, behave, type Receiver, startReceiver } from './receiver.ts';

const GROUP_WAIT = 300;

const test = suite<{ outbox: Outbox; server: Receiver }>('a channel of our own');

test.before.each(async (context) => {
  context.outbox = await openWithRooms(['ops@rooms.example']);
  context.server = await startReceiver();
});

test.after.each(async ({ outbox, server }) => {
  await outbox.dispose();
  server.close();
});

/** Whatever would be mailed goes to the chat instead: the store itself routes to no chat yet. */
async function openWithRooms(members: string[]): Promise<Outbox> {
  const outbox = await Outbox.open({ members });
  const database = new Database(join(outbox.directory, 'snitch.db'));
  try {
    database.exec(
      `CREATE TRIGGER to_chat AFTER INSERT ON deliveries WHEN NEW.channel = 'email'
       BEGIN UPDATE deliveries SET channel = 'chat', target = substr(NEW.target, 1, instr(NEW.target, '@') - 1)
         WHERE id = NEW.id; END`,
    );
  } finally {
    database.close();
  }
  return outbox;
}

function dispatch(outbox: Outbox, server: Receiver, options: Partial<DispatchOptions> = {}): Dispatch {
  const channel = chatChannel({ server: server.url, token: 'tk_secret_token', groupWait: GROUP_WAIT });
  return outbox.run(new Dispatch([channel], { ...outbox.parts(), ...options }));
}

const allDelivered = (outbox: Outbox) => async () =>
  (await outbox.deliveries()).every(({ state }) => state === 'delivered');

const said = ({ received }: Receiver, room = 'ops') =>
  received
    .map(({ body }) => JSON.parse(body) as { chat: string; text: string })
    .filter(({ chat }) => chat === room)
    .map(({ text }) => text);

test('a lone alert is sent at once, and counted', async ({ outbox, server }) => {
  const attempts: Attempt[] = [];
  const running = dispatch(outbox, server, { observe: (attempt) => attempts.push(attempt) });
  await outbox.raise(1, { names: ['nightly'] });
  await until(allDelivered(outbox), 'it is settled');
  assert.match(said(server)[0] ?? '', /^\[Error\] nightly reported exit status 1/);
  assert.is(server.received[0]?.headers.authorization, 'Bearer tk_secret_token');
  assert.equal(Object.keys(running.health().inFlight), ['chat']);
  await until(() => attempts.length > 0, 'it is counted');
  assert.equal(attempts, [{ channel: 'chat', result: 'delivered' }]);
});

test('more than five that wait for a chat become one message, and nothing is left out', async (context) => {
  const { outbox, server } = context;
  dispatch(outbox, server);
  await outbox.raise(1);
  await until(() => said(server).length === 1, 'the first is said at once');
  await outbox.raise(7);
  await until(allDelivered(outbox), 'all are settled');
  const [first, second, ...others] = said(server);
  assert.match(first ?? '', /^\[Error\]/);
  assert.match(second ?? '', /^\[Digest\] 7 alerts of Operations: 7 with errors/);
  assert.equal(others, []);
});

test('a permanent refusal is dead at once and says why', async ({ outbox, server }) => {
  server.behaviour = (response) => response.writeHead(403).end('{"description":"the bot was blocked"}');
  dispatch(outbox, server);
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
  const [dead] = await outbox.deliveries('dead');
  assert.is(dead?.attempts, 1);
  assert.is(dead?.lastError, 'answered 403 Forbidden: {"description":"the bot was blocked"}');
  assert.is(outbox.lines.filter(({ level }) => level === 'error').length, 1, 'the log tells it once');
  assert.not.match(JSON.stringify(outbox.lines), /tk_secret/);
});

test('an answer that quotes the token, or fills the log, shows neither', async ({ outbox, server }) => {
  server.behaviour = (response, { headers }) =>
    response.writeHead(400).end(`\u001b[31mwho is ${headers.authorization}?\n${'x'.repeat(100_000)}`);
  dispatch(outbox, server);
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
  const error = (await outbox.deliveries('dead'))[0]?.lastError ?? '';
  assert.match(error, /^answered 400 Bad Request: \\u001b\[31mwho is Bearer \*\*\*\?\\nxxx/);
  assert.ok(error.length <= 300);
  assert.not.match(JSON.stringify(outbox.lines), /tk_secret/);
});

test('after a temporary refusal it is tried again when the chat asks for it', async ({ outbox, server }) => {
  server.behaviour = behave.status(429, { 'retry-after': '1800' });
  const running = dispatch(outbox, server);
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries())[0]?.lastError !== null, 'the failure is settled');
  const [waiting] = await outbox.deliveries('pending');
  assert.ok(Math.abs(waiting!.nextAttemptAt! - outbox.clock() - 1_800_000) < 60_000);
  server.behaviour = behave.status(200);
  outbox.offset += 1_900_000;
  running.wake();
  await until(allDelivered(outbox), 'it is said in the end');
  assert.is((await outbox.deliveries())[0]?.attempts, 2);
});

test('chats that hang delay no other', async (context) => {
  await context.outbox.dispose();
  const stuck = ['one', 'two', 'three', 'four', 'five'];
  const rooms = [...stuck, 'ops'].map((room) => `${room}@rooms.example`);
  const outbox = await openWithRooms(rooms);
  context.outbox = outbox;
  const { server } = context;
  const answer: Behaviour = behave.status(200);
  server.behaviour = (response, received) => {
    if ((JSON.parse(received.body) as { chat: string }).chat === 'ops') answer(response, received);
  };
  dispatch(outbox, server, { grace: 100 });
  await outbox.raise(1);
  await until(() => said(server).length === 1, 'the one that answers is told');
  await outbox.raise(1);
  await until(() => said(server).length === 2, 'and told again');
  await until(async () => (await outbox.deliveries('delivered')).length === 2, 'both are settled');
});

test('a stop releases what is in flight: due at once, and no attempt counted', async ({ outbox, server }) => {
  server.behaviour = behave.hang();
  const running = dispatch(outbox, server, { grace: 100 });
  await outbox.raise(9);
  await until(() => server.received.length === 1, 'one is in flight');
  await running.stop();
  const given = await outbox.deliveries('pending');
  assert.is(given.length, 9);
  assert.ok(given.every(({ attempts, nextAttemptAt }) => attempts === 0 && nextAttemptAt! <= outbox.clock()));
});

runUnless(WITHOUT_SQLITE, test, 'a channel of our own');
