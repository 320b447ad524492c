/** The outbox as a whole: what wakes it, what it says of itself, and how it stops. */
import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Channel } from '../../src/delivery/outbox/channel.ts';
import { Dispatch, type DispatchOptions } from '../../src/delivery/outbox/dispatch.ts';
import type { Change } from '../../src/store/change.ts';
import { chatChannel } from './chat-channel.ts';

const test = suite('the outbox as a whole');

/** For how many turns of the event loop it is woken; reading the outbox takes several. */
const TURNS = 300;

interface Watched {
  dispatch: Dispatch;
  /** The calls to the channels, with their names. */
  asked: string[];
  /** How often the outbox was read. */
  looks: () => number;
  change: (change: Change) => void;
  clock: { now: number };
}

/** An outbox that stays empty, over a channel that is never used. */
async function withOutbox(use: (watched: Watched) => Promise<void>): Promise<void> {
  const clock = { now: 0 };
  const listeners: ((change: Change) => void)[] = [];
  let looks = 0;
  const store: DispatchOptions['store'] = {
    onChange: (listener) => void listeners.push(listener),
    nextDeliveryAt: async () => {
      looks += 1;
      return null;
    },
    keepPace: async () => undefined,
    listPaces: async () => [],
    claimDeliveries: async () => [],
    settleDelivery: async () => true,
  };
  const nothing = () => {};
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const asked: string[] = [];
  const dispatch = new Dispatch([channelOf('first', asked)], {
    store,
    clock: () => clock.now,
    monotonic: () => clock.now,
    random: () => 0.5,
    logger,
  });
  const change = (one: Change) => {
    for (const listener of listeners) listener(one);
  };
  try {
    dispatch.start();
    await use({ dispatch, asked, looks: () => looks, change, clock });
  } finally {
    await dispatch.stop();
  }
}

function channelOf(name: string, asked: string[]): Channel {
  return {
    ...chatChannel({ server: 'http://127.0.0.1:9', token: 'tk_secret_token', groupWait: 0 }),
    retire: () => void asked.push(`${name} retires`),
    close: () => void asked.push(`${name} closes`),
  };
}

async function looksDuring({ looks }: Watched, act: () => void): Promise<number> {
  const before = looks();
  for (let count = 0; count < TURNS; count += 1) {
    act();
    await turn();
  }
  return looks() - before;
}

test('it looks for new deliveries at once, and ignores other changes', async () => {
  await withOutbox(async (watched) => {
    const { dispatch, change } = watched;
    assert.ok((await looksDuring(watched, () => change({ kind: 'deliveries' }))) > TURNS / 20);
    assert.ok((await looksDuring(watched, () => dispatch.wake())) > TURNS / 20);
    const other = { kind: 'access', caseId: 'case_1', keyId: null } as const;
    assert.ok((await looksDuring(watched, () => change(other))) < TURNS / 20);
  });
});

test('an outbox that is not read for a minute is a problem', async () => {
  await withOutbox(async ({ dispatch, looks, clock }) => {
    while (looks() === 0) await turn();
    await turn();
    await dispatch.stop();
    assert.equal(dispatch.health(), { inFlight: { chat: 0 }, sincePass: { chat: 0 } });
    clock.now = 60_000;
    assert.is(dispatch.problem(), null);
    clock.now = 61_400;
    assert.is(dispatch.problem(), 'the outbox was not looked at for 61 s');
    assert.equal(dispatch.health().sincePass, { chat: 61_400 });
  });
});

test('a replaced channel can finish its sends, and the new one is closed on stop', async () => {
  await withOutbox(async ({ dispatch, asked }) => {
    dispatch.replace(channelOf('second', asked));
    assert.equal(asked, ['first retires']);
    dispatch.replace({ ...channelOf('other', asked), kind: 'webhook' });
    assert.equal(asked, ['first retires'], 'one of another kind replaces nothing');
    await Promise.all([dispatch.stop(), dispatch.stop()]);
    assert.equal(asked, ['first retires', 'second closes'], 'a second stop is the same');
  });
});

test.run();
