/**
 * A claim whose lease may end during the send is released: another claim could send the same at the same time.
 * Also on PostgreSQL.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { DelivererOptions } from '../../src/delivery/deliverer.ts';
import { until } from '../until.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { Outbox } from './outbox.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const TIMEOUT = 20_000;

/** Nothing counts as slow here; otherwise waiting deliveries would be released for that reason. */
const LIMITS = { timeout: TIMEOUT, slowAfter: 3_600_000 };

interface Context {
  outbox: Outbox;
  receiver: Receiver;
  mail: MailServer;
}

const test = suite<Context>('leases');

test.before.each(async (context) => {
  context.outbox = await Outbox.open({ members: ['ann@example.com', 'bob@example.com'] });
  context.receiver = await startReceiver();
  context.mail = await startMailServer();
});

test.after.each(async ({ outbox, receiver, mail }) => {
  await outbox.dispose();
  receiver.close();
  await mail.close();
});

/** Two deliveries on each channel; the second waits in memory until the first has been sent. */
const CHANNELS = {
  async webhook({ outbox, receiver }: Context, onSend: () => void): Promise<Partial<DelivererOptions>> {
    await outbox.store.updateCase(outbox.owner.id, { members: [] }, outbox.clock());
    await outbox.target(receiver.url);
    receiver.behaviour = (response) => {
      onSend();
      response.end('ok');
    };
    await outbox.raise(2);
    return { limits: { webhook: LIMITS } };
  },
  async email({ outbox, mail }: Context, onSend: () => void): Promise<Partial<DelivererOptions>> {
    await mail.close();
    Object.assign(
      mail,
      await startMailServer({
        onMailFrom(_address, _session, callback) {
          onSend();
          callback();
        },
      }),
    );
    await outbox.raise(1);
    const smtp = { url: mail.url, from: 'snitch@example.org' };
    return { smtp, limits: { email: { ...LIMITS, groupWait: 1, fast: 1 } } };
  },
};

/** Sends both while the first send takes what leaves `left` milliseconds of the lease, and returns what was settled. */
async function settlements(
  context: Context,
  channel: keyof typeof CHANNELS,
  left: number,
): Promise<Record<number, string[]>> {
  const { outbox } = context;
  const settled: Record<number, string[]> = {};
  let lease = 0;
  let ahead = 0;
  const onSend = () => {
    ahead ||= lease - left;
  };
  const options = await CHANNELS[channel](context, onSend);
  const { store } = outbox;
  outbox.deliverer({
    ...options,
    monotonic: () => performance.now() + ahead,
    store: {
      ...store,
      claimDeliveries(request) {
        if (request.channel === channel) lease ||= request.leaseUntil - request.now;
        return store.claimDeliveries(request);
      },
      settleDelivery(id, fence, settlement) {
        settled[id] = [...(settled[id] ?? []), settlement.kind];
        return store.settleDelivery(id, fence, settlement);
      },
    },
  });
  await until(async () => (await outbox.deliveries('delivered')).length === 2, 'both are delivered');
  assert.ok(ahead > 0, 'the first send took its time');
  return settled;
}

for (const channel of ['webhook', 'email'] as const) {
  test(`${channel}: a send that may outlast its lease is released, claimed again and sent once`, async (context) => {
    const settled = await settlements(context, channel, TIMEOUT / 2);
    assert.equal(Object.values(settled), [['delivered'], ['released', 'delivered']]);
    assert.is(context.receiver.received.length + context.mail.received.length, 2);
  });

  test(`${channel}: a lease that is long enough for a send is used`, async (context) => {
    const settled = await settlements(context, channel, 2 * TIMEOUT);
    assert.equal(Object.values(settled), [['delivered'], ['delivered']]);
  });
}

test('if the store is so slow that claiming takes longer than a lease, the claims are sent all the same', async (context) => {
  const { outbox, mail } = context;
  await outbox.store.updateCase(outbox.owner.id, { members: ['ann@example.com'] }, outbox.clock());
  await outbox.raise(300);
  const { store } = outbox;
  let ahead = 0;
  outbox.deliverer({
    smtp: { url: mail.url, from: 'snitch@example.org' },
    limits: { email: { ...LIMITS, groupWait: 1, fast: 1 } },
    monotonic: () => performance.now() + ahead,
    store: {
      ...store,
      async claimDeliveries(request) {
        const claimed = await store.claimDeliveries(request);
        // Ten of these take longer than the lease, which covers a send, one before it, and a minute.
        if (claimed.length > 0) ahead += TIMEOUT;
        return claimed;
      },
    },
  });
  await until(async () => (await outbox.deliveries('delivered')).length === 300, 'all are delivered');
  assert.ok(mail.received.length > 1, 'not all of them had been claimed when the first were sent');
});

test.run();
