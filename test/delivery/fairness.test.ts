import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../until.ts';
import { Outbox } from './outbox.ts';
import { type Behaviour, behave, type Receiver, startReceiver } from './receiver.ts';

const TIMEOUT = 700;
const ALERTS = 40;
const HEALTHY = 8;

/** A third of the targets, one for each way to misbehave. */
const MISBEHAVING: Record<string, Behaviour> = {
  hang: behave.hang(),
  drip: behave.drip(),
  error: behave.status(500),
  closeMidBody: behave.closeMidBody(),
};

const LIMITS = { webhook: { timeout: TIMEOUT, slowAfter: 100, fast: 8, slow: 16 } };

const test = suite<{ outbox: Outbox; receivers: Receiver[] }>('fairness between targets');

test.before.each(async (context) => {
  context.outbox = await Outbox.open();
  context.receivers = [];
});

test.after.each(async ({ outbox, receivers }) => {
  await outbox.dispose();
  for (const receiver of receivers) receiver.close();
});

async function target(
  context: { outbox: Outbox; receivers: Receiver[] },
  behaviour?: Behaviour,
): Promise<Receiver> {
  const receiver = await startReceiver(behaviour);
  context.receivers.push(receiver);
  await context.outbox.target(receiver.url);
  return receiver;
}

const distinct = ({ received }: Receiver) =>
  new Set(received.map(({ headers }) => headers['webhook-id'])).size;

/** Raises alerts and waits until every one of `receivers` has all of them. */
async function tellAll(outbox: Outbox, receivers: readonly Receiver[]): Promise<void> {
  await outbox.raise(ALERTS);
  await until(
    () => receivers.every((receiver) => distinct(receiver) === ALERTS),
    'every healthy target has every alert',
    30_000,
  );
}

/** If a send had to wait for a hanging target, the others would get no further than that target. */
function assertFarBehind(hanging: readonly Receiver[]): void {
  for (const { received } of hanging) {
    assert.ok(received.length > 0, 'it is tried');
    assert.ok(received.length < ALERTS / 2, 'the others were done long before it');
  }
}

test('a third of the targets misbehaving delays none of the others', async (context) => {
  const { outbox } = context;
  const healthy: Receiver[] = [];
  for (const behaviour of Object.values(MISBEHAVING)) {
    healthy.push(await target(context));
    await target(context, behaviour);
    healthy.push(await target(context));
  }
  assert.is(healthy.length, HEALTHY);
  outbox.deliverer({ limits: LIMITS, grace: 100 });
  await tellAll(outbox, healthy);
  const [hanging, dripping] = context.receivers.filter((receiver) => !healthy.includes(receiver));
  assertFarBehind([hanging!, dripping!]);
  const sent = await outbox.deliveries();
  assert.is(sent.length, ALERTS * 12, 'none is forgotten');
  await until(
    async () => (await outbox.deliveries('delivered')).length === ALERTS * HEALTHY,
    'they are settled',
  );
});

test('a target that hangs occupies one send, however much waits for it', async (context) => {
  const { outbox } = context;
  const hanging = await target(context, behave.hang());
  const healthy = await target(context);
  let open = 0;
  let most = 0;
  hanging.behaviour = (response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
  };
  outbox.deliverer({ limits: LIMITS, grace: 100 });
  await tellAll(outbox, [healthy]);
  await until(() => hanging.received.length >= 3, 'it is tried again and again');
  assert.is(most, 1);
});

test('hanging targets leave the fast lane free, even if there are more of them than places', async (context) => {
  const { outbox } = context;
  const healthy = await target(context);
  const hanging: Receiver[] = [];
  for (let index = 0; index < 12; index += 1) hanging.push(await target(context, behave.hang()));
  outbox.deliverer({ limits: { webhook: { ...LIMITS.webhook, fast: 4 } }, grace: 100 });
  await tellAll(outbox, [healthy]);
  assertFarBehind(hanging);
});

test('a target that recovers gets everything, at full speed again', async (context) => {
  const { outbox } = context;
  const receiver = await target(context, behave.status(503));
  const deliverer = outbox.deliverer({ limits: LIMITS, grace: 100 });
  await outbox.raise(ALERTS);
  await until(() => receiver.received.length >= 5, 'some have failed');
  receiver.behaviour = behave.status(200);
  // The clock must go on while we wait: a send that fails only now is due again later.
  await until(async () => {
    outbox.offset += 5_000;
    deliverer.wake();
    return (await outbox.deliveries('delivered')).length === ALERTS;
  }, 'all are delivered');
  const attempts = (await outbox.deliveries()).map((delivery) => delivery.attempts);
  assert.ok(
    attempts.filter((count) => count === 1).length > 0,
    'what waited meanwhile did not use up its attempts',
  );
});

test.run();
