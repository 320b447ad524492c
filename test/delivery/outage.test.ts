/** What was sent before the store went away is recorded once it is back, and not sent again. Also on PostgreSQL. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { until } from '../until.ts';
import { Outbox } from './outbox.ts';
import { type Receiver, startReceiver } from './receiver.ts';

interface Context {
  outbox: Outbox;
  receiver: Receiver;
}

const test = suite<Context>('outages of the store');

test.before.each(async (context) => {
  context.outbox = await Outbox.open();
  context.receiver = await startReceiver();
});

test.after.each(async ({ outbox, receiver }) => {
  await outbox.dispose();
  receiver.close();
});

/** Longer than any lease, in milliseconds. */
const OUTAGE = 3_600_000;

/** A store that goes away when the first message is on its way. */
function spoilt({ outbox }: Context) {
  const { store } = outbox;
  const state = { isAway: false, isSettling: true, refused: 0, claims: 0 };
  const refuse = () => {
    throw new StoreUnavailable(new Error('away'));
  };
  const wrapped: typeof store = {
    ...store,
    async claimDeliveries(request) {
      if (state.isAway) return refuse();
      const claimed = await store.claimDeliveries(request);
      state.claims += 1;
      return claimed;
    },
    async settleDelivery(id, fence, settlement) {
      if (state.isSettling && !state.isAway) return store.settleDelivery(id, fence, settlement);
      state.refused += 1;
      return refuse();
    },
  };
  return { state, store: wrapped };
}

test('a delivered message is not sent again after an outage that outlasts its lease', async (context) => {
  const { outbox, receiver } = context;
  const { state, store } = spoilt(context);
  await outbox.target(receiver.url);
  receiver.behaviour = (response) => {
    state.isAway = outbox.offset === 0;
    response.end();
  };
  await outbox.raise(1);
  outbox.deliverer({ store, monotonic: () => performance.now() + outbox.offset });
  await until(() => state.refused > 0, 'the store is away');
  outbox.offset += OUTAGE;
  const before = state.refused;
  await until(() => state.refused > before, 'it is tried after the end of the lease');
  // The store accepts claims again, and settlements a moment later.
  Object.assign(state, { isAway: false, isSettling: false, claims: 0 });
  await outbox.raise(1);
  await until(() => state.claims > 1, 'it is claimed again');
  state.isSettling = true;
  await until(async () => (await outbox.deliveries('pending')).length === 0, 'all is settled');
  const [first] = await outbox.deliveries('delivered');
  assert.is(first?.attempts, 1);
  assert.is(receiver.received.length, 2, 'each of the two alerts once');
});

test.run();
