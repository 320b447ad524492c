import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RETRY_WAITS } from '../../src/core/backoff.ts';
import type { Settlement } from '../../src/core/delivery.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import type { Attempt } from '../../src/delivery/outbox/settler.ts';
import { until } from '../until.ts';
import { Outbox } from './outbox.ts';
import { behave, type Receiver, startReceiver } from './receiver.ts';

const test = suite<{ outbox: Outbox; receiver: Receiver }>('deliverer');

test.before.each(async (context) => {
  context.outbox = await Outbox.open();
  context.receiver = await startReceiver();
});

test.after.each(async ({ outbox, receiver }) => {
  await outbox.dispose();
  receiver.close();
});

const allDelivered = (outbox: Outbox) => async () =>
  (await outbox.deliveries()).every(({ state }) => state === 'delivered');

test('a due delivery is sent as soon as it is committed, and settled', async ({ outbox, receiver }) => {
  const attempts: Attempt[] = [];
  await outbox.target(receiver.url);
  outbox.deliverer({ observe: (attempt) => attempts.push(attempt) });
  await outbox.raise(1);
  await until(() => receiver.received.length === 1, 'the webhook comes');
  await until(allDelivered(outbox), 'it is settled');
  const [delivery] = await outbox.deliveries();
  assert.is(delivery?.attempts, 1);
  assert.is(delivery?.lastError, null);
  assert.is(receiver.received[0]?.headers['webhook-id'], delivery?.alertId);
  assert.is(receiver.received[0]?.headers['user-agent'], 'Snitch/1');
  await until(() => attempts.length > 0, 'it is counted');
  assert.equal(attempts, [{ channel: 'webhook', result: 'delivered' }]);
});

test('deliveries from before the start are sent too', async ({ outbox, receiver }) => {
  await outbox.target(receiver.url);
  await outbox.raise(20);
  outbox.deliverer();
  await until(allDelivered(outbox), 'all are settled');
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.is(new Set(ids).size, 20);
  assert.is(ids.length, 20);
});

test('a failure is retried by the schedule with the same id, and is dead after the last', async (context) => {
  const { outbox, receiver } = context;
  receiver.behaviour = behave.status(500);
  await outbox.target(receiver.url);
  const deliverer = outbox.deliverer();
  await outbox.raise(1);
  for (const [index, wait] of RETRY_WAITS.entries()) {
    await until(
      async () => (await outbox.deliveries('pending'))[0]?.lastError !== null,
      'a failure is settled',
    );
    await until(
      async () => {
        const [delivery] = await outbox.deliveries();
        return (
          delivery?.attempts === index + 1 &&
          Math.abs(delivery.nextAttemptAt! - outbox.clock() - wait) < 2_000
        );
      },
      `attempt ${index + 1} is retried after ${wait} ms`,
    );
    assert.is((await outbox.deliveries())[0]?.lastError, 'answered 500 Internal Server Error');
    outbox.offset += wait + 1_000;
    deliverer.wake();
    await until(() => receiver.received.length === index + 2, `attempt ${index + 2} is made`);
  }
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
  const [dead] = await outbox.deliveries('dead');
  assert.is(dead?.attempts, 11);
  assert.is(dead?.lastError, 'answered 500 Internal Server Error (attempt 11 was the last)');
  assert.is(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1);
  const failures = outbox.lines.filter(({ message }) => message.startsWith('a delivery failed'));
  assert.is(failures.length, 11, 'each failure is logged once');
  assert.equal([failures[0]?.level, failures[10]?.level], ['warn', 'error']);
});

test('Retry-After lengthens the wait', async ({ outbox, receiver }) => {
  receiver.behaviour = behave.status(429, { 'retry-after': '7200' });
  await outbox.target(receiver.url);
  outbox.deliverer();
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries())[0]?.lastError !== null, 'the failure is settled');
  const [delivery] = await outbox.deliveries();
  assert.ok(Math.abs(delivery!.nextAttemptAt! - outbox.clock() - 7_200_000) < 5_000);
});

test('a dead delivery can be retried by hand', async ({ outbox, receiver }) => {
  const webhook = await outbox.target(receiver.url);
  await outbox.raise(1);
  await outbox.store.deleteWebhook(outbox.owner.id, webhook.id);
  outbox.deliverer();
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
  const [dead] = await outbox.deliveries('dead');
  assert.is(dead?.lastError, 'the webhook was deleted');
  await outbox.store.retryDelivery(outbox.owner.id, dead!.id, outbox.clock());
  await until(
    async () => outbox.lines.filter(({ level }) => level === 'error').length === 2,
    'it is tried again',
  );
});

test('without SMTP, emails are dead with the reason and webhooks go on', async (context) => {
  const { receiver } = context;
  await context.outbox.dispose();
  const outbox = await Outbox.open({ members: ['ann@example.com', 'bob@example.com'] });
  context.outbox = outbox;
  await outbox.target(receiver.url);
  outbox.deliverer();
  await outbox.raise(3);
  await until(async () => (await outbox.deliveries('pending')).length === 0, 'all are settled');
  const dead = await outbox.deliveries('dead');
  assert.is(dead.length, 6);
  assert.ok(dead.every(({ channel }) => channel === 'email'));
  assert.ok(dead.every(({ lastError }) => lastError === 'email is off: set smtp.url and smtp.from'));
  assert.is(receiver.received.length, 3);
});

test('the log names ids and words, and never credentials', async ({ outbox, receiver }) => {
  receiver.behaviour = behave.status(401);
  await outbox.target(receiver.url.replace('//', '//user:hunter2hunter2@'));
  outbox.deliverer();
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries())[0]?.lastError !== null, 'the failure is settled');
  const [delivery] = await outbox.deliveries();
  const line = outbox.lines.find(({ level }) => level === 'warn');
  assert.is(line?.what.delivery, delivery?.id);
  assert.is(line?.what.alert, delivery?.alertId);
  assert.is(line?.what.target, delivery?.target);
  assert.is(line?.what.error, 'answered 401 Unauthorized');
  assert.not.match(JSON.stringify(outbox.lines), /hunter2|127\.0\.0\.1/);
});

test('it waits for a store that cannot be read, and reports it once', async ({ outbox, receiver }) => {
  let failures = 2;
  await outbox.target(receiver.url);
  await outbox.raise(1);
  const { store } = outbox;
  outbox.deliverer({
    store: {
      ...store,
      claimDeliveries: (request) => {
        if (request.channel !== 'webhook' || failures === 0) return store.claimDeliveries(request);
        failures -= 1;
        return Promise.reject(new StoreUnavailable(new Error('disk full')));
      },
    },
  });
  await until(allDelivered(outbox), 'it is sent when the store is back');
  const said = outbox.lines.filter(({ message }) => message.startsWith('the outbox'));
  assert.equal(
    said.map(({ level }) => level),
    ['error', 'info'],
  );
});

test('a settlement that the store refuses is tried again while the lease lives', async (context) => {
  const { outbox, receiver } = context;
  const { store } = outbox;
  const settlements: Settlement['kind'][] = [];
  await outbox.target(receiver.url);
  outbox.deliverer({
    store: {
      ...store,
      settleDelivery: (id, fence, settlement) => {
        settlements.push(settlement.kind);
        if (settlements.length < 3) return Promise.reject(new StoreUnavailable(new Error('disk full')));
        return store.settleDelivery(id, fence, settlement);
      },
    },
  });
  await outbox.raise(1);
  await until(allDelivered(outbox), 'it is settled');
  assert.equal(settlements, ['delivered', 'delivered', 'delivered']);
  assert.is(receiver.received.length, 1, 'it is sent once');
});

test('a delivery whose sender died is sent again after its lease, with the same id, and the late settlement changes nothing', async ({
  outbox,
  receiver,
}) => {
  await outbox.target(receiver.url);
  await outbox.raise(1);
  const now = outbox.clock();
  const [claim] = await outbox.store.claimDeliveries({
    now,
    channel: 'webhook',
    leaseUntil: now + 600,
    perTarget: 1,
    limit: 1,
    busy: [],
    after: '',
  });
  outbox.deliverer();
  await until(() => receiver.received.length === 1, 'it is sent after the lease');
  assert.ok(outbox.clock() >= now + 600);
  assert.is(receiver.received[0]?.headers['webhook-id'], claim?.alert.id);
  await until(allDelivered(outbox), 'it is settled');
  assert.not.ok(await outbox.store.settleDelivery(claim!.id, claim!.fence, { kind: 'dead', error: 'late' }));
  assert.is((await outbox.deliveries())[0]?.state, 'delivered');
});

test('a stop releases what is in flight and what waits: due at once, and no attempt counted', async (context) => {
  const { outbox, receiver } = context;
  receiver.behaviour = behave.hang();
  await outbox.target(receiver.url);
  await outbox.raise(10);
  const first = outbox.deliverer({ grace: 100 });
  await until(() => receiver.received.length === 1, 'one is in flight');
  await first.stop();
  const given = await outbox.deliveries('pending');
  assert.is(given.length, 10);
  assert.ok(given.every(({ attempts, nextAttemptAt }) => attempts === 0 && nextAttemptAt! <= outbox.clock()));
  receiver.behaviour = behave.status(200);
  outbox.deliverer();
  await until(allDelivered(outbox), 'the next deliverer sends them');
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.is(new Set(ids).size, 10);
});

test('a stop waits for sends that are about to end', async ({ outbox, receiver }) => {
  receiver.behaviour = (response) => setTimeout(() => response.end('ok'), 300);
  await outbox.target(receiver.url);
  const deliverer = outbox.deliverer();
  await outbox.raise(1);
  await until(() => receiver.received.length === 1, 'it is in flight');
  await deliverer.stop();
  assert.is((await outbox.deliveries())[0]?.state, 'delivered');
  await outbox.raise(1);
  await sleep(50);
  assert.is(receiver.received.length, 1, 'nothing is claimed after a stop');
});

test('new settings apply without a restart, and bad ones change nothing', async ({ outbox, receiver }) => {
  await outbox.target(receiver.url);
  const deliverer = outbox.deliverer();
  deliverer.reconfigure({ smtp: null, webhooks: { allowPrivate: false } });
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries())[0]?.lastError !== null, 'it is refused');
  assert.match((await outbox.deliveries())[0]?.lastError ?? '', 'webhooks.allow_private');
  assert.throws(() =>
    deliverer.reconfigure({ smtp: { url: 'nonsense', from: 'x' }, webhooks: { allowPrivate: true } }),
  );
  deliverer.reconfigure({ smtp: null, webhooks: { allowPrivate: true } });
  outbox.offset += 12_000;
  deliverer.wake();
  await until(allDelivered(outbox), 'it is sent');
  assert.is(deliverer.problem(), null);
  assert.equal(deliverer.health().inFlight.email, 0);
});

test.run();
