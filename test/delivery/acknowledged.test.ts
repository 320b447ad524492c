/** An alert that still waits for a chat, or for a service that takes one at a time, is dropped once acknowledged. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ChannelKind, DEFAULT_EVENTS } from '../../src/core/channel.ts';
import type { Deliverer } from '../../src/delivery/deliverer.ts';
import { until } from '../until.ts';
import { Outbox } from './outbox.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { settingsAt } from './service-settings.ts';

const test = suite<{ outbox: Outbox; server: Receiver }>('acknowledged while it waits to be sent');

test.before.each(async (context) => {
  context.outbox = await Outbox.open();
  context.server = await startReceiver((response) => response.writeHead(200).end('ok'));
});

test.after.each(async ({ outbox, server }) => {
  await outbox.dispose();
  server.close();
});

const SECOND = 1_000;
/** Of the escalation. */
const AFTER = 60 * SECOND;

function run(outbox: Outbox): Deliverer {
  const monotonic = () => performance.now() + outbox.offset;
  return outbox.deliverer({ monotonic, limits: { service: { groupWait: 200 } } });
}

async function addPager({ outbox, server }: { outbox: Outbox; server: Receiver }, kind: ChannelKind) {
  const settings = settingsAt(`http://127.0.0.1:${server.port}`)[kind];
  const fields = { settings, events: DEFAULT_EVENTS, tags: [], after: AFTER / SECOND };
  await outbox.store.createChannel(outbox.owner.id, { kind, name: null, fields }, outbox.clock());
}

async function acknowledge({ store, owner, clock }: Outbox, tokens: readonly string[]): Promise<void> {
  const said = { note: null, by: 'Ann' };
  await Promise.all(tokens.map((token) => store.acknowledgeSnitch(owner.id, token, said, clock())));
}

const delivered = async (outbox: Outbox) => (await outbox.deliveries('delivered')).length;

test('a chat that must not be written to for some time is not told about it afterwards', async (context) => {
  const { outbox, server } = context;
  await addPager(context, 'slack');
  const running = run(outbox);
  await outbox.raise(4);
  outbox.offset += 30 * SECOND;
  const many = await outbox.raise(20);
  outbox.offset += 31 * SECOND;
  running.wake();
  await until(async () => (await delivered(outbox)) === 4, 'the first four are told');
  outbox.offset += 30 * SECOND;
  running.wake();
  // A digest would be the fifth message within a minute.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.is(server.received.length, 4);
  await acknowledge(outbox, many.slice(0, 12));
  outbox.offset += 31 * SECOND;
  running.wake();
  await until(async () => (await outbox.deliveries('pending')).length === 0, 'all is settled');
  assert.is((await outbox.deliveries('dropped')).length, 12);
  assert.match(server.received[4]?.body ?? '', /\[Digest\] 8 alerts/);
  assert.is(server.received.length, 5);
});

test('nor is a service that takes one alert after the other', async (context) => {
  const { outbox, server } = context;
  await addPager(context, 'opsgenie');
  server.behaviour = (response) => response.writeHead(202).end('{}');
  const running = run(outbox);
  const tokens = await outbox.raise(6);
  outbox.offset += AFTER + SECOND;
  running.wake();
  await until(async () => (await delivered(outbox)) === 1, 'the first is told');
  await acknowledge(outbox, tokens);
  await until(async () => (await outbox.deliveries('pending')).length === 0, 'all is settled');
  assert.equal([await delivered(outbox), (await outbox.deliveries('dropped')).length], [1, 5]);
  assert.is(server.received.length, 1);
});

test.run();
