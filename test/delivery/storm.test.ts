/**
 * A storm in one chat: no more messages in a minute than a person can read, even if the daemon restarts meanwhile,
 * and never one that the service has asked to wait for. The minutes are those of a clock that the test moves.
 * Also on PostgreSQL. Time limit: 180 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import type { Deliverer } from '../../src/delivery/deliverer.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { Outbox } from './outbox.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const test = suite<{ outbox: Outbox; server: Receiver }>('a storm in a chat');

test.before.each(async (context) => {
  context.outbox = await Outbox.open();
  context.server = await startReceiver((response) => response.writeHead(200).end('ok'));
});

test.after.each(async ({ outbox, server }) => {
  await outbox.dispose();
  server.close();
});

const MINUTE = 60_000;

/** The same code decides on both databases, and on PostgreSQL each alert takes many times as long. */
const ALERTS = ON_POSTGRES ? 1_000 : 5_000;

function run(outbox: Outbox): Deliverer {
  const monotonic = () => performance.now() + outbox.offset;
  return outbox.deliverer({ monotonic, limits: { service: { groupWait: 200 } } });
}

function addSlack({ outbox, server }: { outbox: Outbox; server: Receiver }) {
  const settings = { url: `http://127.0.0.1:${server.port}/services/T0/B0/s3cr3ts3cr3t` };
  const fields = { settings, events: DEFAULT_EVENTS, tags: [] };
  return outbox.store.createChannel(outbox.owner.id, { kind: 'slack', name: null, fields }, outbox.clock());
}

/** How many instants the fullest minute has. */
function fullest(times: readonly number[]): number {
  return Math.max(0, ...times.map((end) => times.filter((at) => at > end - MINUTE && at <= end).length));
}

const said = ({ body }: { body: string }) =>
  JSON.parse(body) as { text: string; attachments: { text: string }[] };

test(`${ALERTS} alerts are at most 3 messages in any minute, over three starts, and none of them is lost`, async (context) => {
  const { outbox, server } = context;
  await addSlack(context);
  const times: number[] = [];
  server.behaviour = (response) => {
    times.push(outbox.clock());
    response.writeHead(200).end('ok');
  };
  let running = run(outbox);
  for (let wave = 0; wave < 10; wave += 1) {
    await outbox.raise(ALERTS / 10);
    outbox.offset += 12_000;
    running.wake();
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (wave === 4 || wave === 7) {
      await running.stop();
      running = run(outbox);
    }
  }
  for (let step = 0; (await outbox.deliveries('pending')).length > 0; step += 1) {
    assert.ok(step < 60, 'it comes to an end');
    if (step % 3 === 1) {
      await running.stop();
      running = run(outbox);
    }
    outbox.offset += 11_000;
    running.wake();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.ok(fullest(times) <= 3, `${fullest(times)} in a minute`);
  assert.ok(times.length >= 4, 'the storm was longer than a minute');
  assert.is((await outbox.deliveries('delivered')).length, ALERTS);
  const messages = server.received.map(said);
  const told = messages.map(({ text }) => Number(/^\[Digest\] (\d+) alerts/.exec(text)?.[1] ?? 1));
  assert.is(
    told.reduce((sum, count) => sum + count, 0),
    ALERTS,
    'each alert is counted in a message',
  );
  for (const { text, attachments } of messages) {
    const shown = attachments[0]?.text ?? '';
    if (!text.startsWith('[Digest]')) continue;
    const named = [...shown.matchAll(/• job-\d+/g)].length;
    const more = [...shown.matchAll(/and (\d+) more/g)].reduce((sum, [, count]) => sum + Number(count), 0);
    assert.is(named + more, Number(/^\[Digest\] (\d+)/.exec(text)?.[1]), 'who is not named is counted');
    assert.match(shown, 'All of them: snitch list, snitch alerts');
  }
});

test('the last few alerts of a storm do not make it write faster', async (context) => {
  const { outbox, server } = context;
  await addSlack(context);
  const times: number[] = [];
  server.behaviour = (response) => {
    times.push(outbox.clock());
    response.writeHead(200).end('ok');
  };
  const running = run(outbox);
  await outbox.raise(1);
  await until(() => times.length === 1, 'the first is sent');
  await outbox.raise(20);
  await until(() => times.length === 2, 'the digest is sent');
  await outbox.raise(3);
  await until(() => times.length >= 3, 'the third is sent');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.is(times.length, 3, 'three more would be five in a minute');
  outbox.offset += MINUTE + 1_000;
  running.wake();
  await until(async () => (await outbox.deliveries('pending')).length === 0, 'they are sent in the end');
  assert.ok(fullest(times) <= 3);
});

test('a wait that the service asks for holds for everything sent there, even across a restart', async (context) => {
  const { outbox, server } = context;
  await addSlack(context);
  let freeAt = 0;
  let violations = 0;
  server.behaviour = (response) => {
    const now = outbox.clock();
    if (now < freeAt) violations += 1;
    if (server.received.length > 1 && freeAt > 0 && now >= freeAt)
      return void response.writeHead(200).end('ok');
    freeAt = Math.max(freeAt, now + 40_000);
    response.writeHead(429, { 'retry-after': '40' }).end('rate_limited');
  };
  let running = run(outbox);
  await outbox.raise(1);
  const failed = async () => (await outbox.deliveries()).some(({ lastError }) => lastError !== null);
  await until(failed, 'the first attempt is settled');
  await outbox.raise(50);
  for (let step = 0; step < 3; step += 1) {
    outbox.offset += 9_000;
    running.wake();
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (step === 1) {
      await running.stop();
      running = run(outbox);
    }
  }
  assert.equal([server.received.length, violations], [1, 0]);
  outbox.offset += 30_000;
  running.wake();
  for (let step = 0; (await outbox.deliveries('pending')).length > 0; step += 1) {
    assert.ok(step < 30, 'it comes to an end');
    outbox.offset += 11_000;
    running.wake();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.is(violations, 0);
});

test.run();
