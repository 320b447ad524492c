/** The loop of one channel over an outbox in memory: what it claims, what it releases, and when it goes on. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClaimedDelivery, Settlement } from '../../src/core/delivery.ts';
import type { Channel, Grouping } from '../../src/delivery/outbox/channel.ts';
import { Dispatch, type DispatchOptions } from '../../src/delivery/outbox/dispatch.ts';
import type { Outcome } from '../../src/delivery/outbox/outcome.ts';
import type { ClaimRequest } from '../../src/store/deliveries.ts';
import { until } from '../until.ts';
import { anAlert } from './alerts.ts';

const test = suite('the loop of one channel');

const NEVER = 3_600_000;

const PACE = { timeout: 30_000, perTarget: 4, fast: 8, slow: 64, slowAfter: NEVER };

const ALERT = anAlert();

/** An outbox in memory. */
class Memory {
  readonly requests: ClaimRequest[] = [];
  readonly settled: { id: number; kind: Settlement['kind'] }[] = [];
  #id = 0;
  readonly #left: Map<string, number>;

  /** @param left how many deliveries wait for each target */
  constructor(left: Record<string, number>) {
    this.#left = new Map(Object.entries(left));
  }

  get claimed(): number {
    return this.#id;
  }

  store: DispatchOptions['store'] = {
    onChange: () => {},
    nextDeliveryAt: async () => ([...this.#left.values()].some((count) => count > 0) ? 0 : null),
    keepPace: async () => undefined,
    listPaces: async () => [],
    claimDeliveries: async (request) => {
      this.requests.push(request);
      const claims: ClaimedDelivery[] = [];
      for (const target of this.#left.keys()) {
        if (request.busy.includes(target)) continue;
        claims.push(...this.#take(target, Math.min(request.perTarget, request.limit - claims.length)));
      }
      return claims;
    },
    settleDelivery: async (id, _fence, { kind }) => {
      this.settled.push({ id, kind });
      return true;
    },
  };

  add(target: string): void {
    this.#left.set(target, 1);
  }

  #take(target: string, most: number): ClaimedDelivery[] {
    const count = Math.min(most, this.#left.get(target) ?? 0);
    this.#left.set(target, (this.#left.get(target) ?? 0) - count);
    return Array.from({ length: count }, () => this.#claim(target));
  }

  #claim(target: string): ClaimedDelivery {
    this.#id += 1;
    const owner = { id: 'case_1', name: 'Operations', timezone: 'UTC' };
    const known = { fence: 1, attempt: 1, lastError: null, channel: 'webhook', webhook: null } as const;
    return { id: this.#id, target, ...known, alert: ALERT, case: owner };
  }
}

type Send = (to: { target: string; id: number; stop: AbortSignal }) => Promise<Outcome>;

function channelOf(send: Send, changes: Partial<Channel> = {}): Channel {
  return {
    kind: 'webhook',
    pace: PACE,
    off: null,
    grouping: null,
    sendAlert: ({ id }, { target, stop }) => send({ target, id, stop }),
    retire: () => {},
    close: () => {},
    ...changes,
  };
}

async function withLoop(
  memory: Memory,
  channel: Channel,
  use: () => Promise<void>,
  monotonic = () => performance.now(),
  changes: Partial<DispatchOptions> = {},
  know: (dispatch: Dispatch) => void = () => {},
): Promise<void> {
  const nothing = () => {};
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const { store } = memory;
  const options = { store, monotonic, clock: Date.now, random: () => 0.5, logger, grace: 0, ...changes };
  const dispatch = new Dispatch([channel], options);
  know(dispatch);
  try {
    dispatch.start();
    await use();
  } finally {
    await dispatch.stop();
  }
}

const DELIVERED: Outcome = { kind: 'delivered' };

/** Behaves like a target that never answers: it ends only when the service stops. */
const hang: Send = ({ stop }) =>
  new Promise((resolve) => {
    stop.addEventListener('abort', () => resolve({ kind: 'retry', error: 'given up' }));
  });

test('everything that waits for a target is released when it turns out to be slow', async () => {
  const memory = new Memory({ a: 100 });
  const started: number[] = [];
  const send: Send = (to) => {
    started.push(to.id);
    return hang(to);
  };
  const channel = channelOf(send, { pace: { ...PACE, slowAfter: 50 } });
  await withLoop(memory, channel, async () => {
    await until(() => memory.settled.length > 0, 'something is given back');
    for (let count = 0; count < 20; count += 1) await turn();
    assert.equal(started, [1], 'a new target is sent one at a time');
    const ahead = memory.claimed - started.length;
    assert.ok(ahead > 0, 'some were claimed ahead');
    const released = Array.from({ length: ahead }, (_, index) => ({ id: index + 2, kind: 'released' }));
    assert.equal(memory.settled, released, 'and no more is claimed');
  });
});

test('with nothing to send it sleeps, until it is woken or a while has passed', async () => {
  const memory = new Memory({});
  let looks = 0;
  const nextDeliveryAt = async () => {
    looks += 1;
    return null;
  };
  memory.store = { ...memory.store, nextDeliveryAt };
  await withLoop(
    memory,
    channelOf(async () => DELIVERED),
    async () => {
      await sleep(200);
      assert.ok(looks <= 3, `it looked ${looks} times`);
    },
  );
});

test('when many sends can begin, other work gets its turn of the event loop in between', async () => {
  const targets = Array.from({ length: 8 }, (_, index) => `target ${index}`);
  const memory = new Memory(Object.fromEntries(targets.map((target) => [target, 1])));
  const clock = { now: 0, turn: 0 };
  const turns: number[] = [];
  const send: Send = async () => {
    turns.push(clock.turn);
    // How long it takes to compose one.
    clock.now += 0.6;
    return DELIVERED;
  };
  const work = async () => {
    while (memory.settled.length < targets.length) {
      await turn();
      clock.turn += 1;
    }
  };
  await withLoop(memory, channelOf(send), work, () => clock.now);
  const most = Math.max(...turns.map((one) => turns.filter((other) => other === one).length));
  assert.is(turns.length, targets.length);
  assert.ok(most <= 4, `${most} began in one turn`);
});

test('a place that a slow send frees is taken at once', async () => {
  const targets = Array.from({ length: 30 }, (_, index) => `hook-${index}`);
  const memory = new Memory(Object.fromEntries(targets.map((target) => [target, 1])));
  const open = new Set<string>();
  const send: Send = (to) => {
    open.add(to.target);
    return hang(to);
  };
  const channel = channelOf(send, { pace: { ...PACE, fast: 1, slowAfter: 20 } });
  await withLoop(memory, channel, async () => {
    // Unless it is woken, it reads the outbox once a second: one read for each target would take too long.
    await until(() => open.size === targets.length, 'all are being sent to', 15_000);
  });
});

test('the first delivery is sent before all of them are claimed', async () => {
  const targets = Array.from({ length: 500 }, (_, index) => [`hook-${index}`, 1] as const);
  const memory = new Memory(Object.fromEntries(targets));
  let claimedBefore = 0;
  const send: Send = async () => {
    claimedBefore ||= memory.claimed;
    return DELIVERED;
  };
  await withLoop(memory, channelOf(send, { pace: { ...PACE, fast: 1_000 } }), () =>
    until(() => memory.settled.length === targets.length, 'all are delivered'),
  );
  assert.ok(claimedBefore < targets.length / 2, `${claimedBefore} were claimed before the first send`);
});

/** How many were claimed in the end, while nothing was sent. */
async function claimedAhead(memory: Memory, channel: Channel): Promise<number> {
  let claimed = -1;
  await withLoop(memory, channel, async () => {
    while (claimed !== memory.claimed || claimed === 0) {
      claimed = memory.claimed;
      for (let count = 0; count < 50; count += 1) await turn();
    }
  });
  return claimed;
}

test('of any number of alerts that wait, only some are held in memory', async () => {
  const grouping = { wait: NEVER, composeDigest: async () => async () => DELIVERED };
  const digests = channelOf(hang, { kind: 'email', grouping });
  const forDigest = new Memory({ ann: 1_000_000 });
  const asDigest = await claimedAhead(forDigest, digests);
  assert.ok(asDigest > 10_000 && asDigest < 100_000, `${asDigest} of a digest`);
  const longest = Math.max(...forDigest.requests.map(({ limit }) => limit));
  assert.ok(longest < 200, `${longest} in one call of the store, while others wait for it`);
  const targets = Array.from({ length: 5_000 }, (_, index) => [`hook-${index}`, 8] as const);
  const roomy = channelOf(hang, { pace: { ...PACE, fast: 100_000 } });
  const oneByOne = await claimedAhead(new Memory(Object.fromEntries(targets)), roomy);
  assert.ok(oneByOne > 1_000 && oneByOne < 3_000, `${oneByOne} one by one`);
});

test('a lease outlasts the sends before it, but not by much, so a dead sender soon frees its deliveries', async () => {
  const grouping = { wait: NEVER, composeDigest: async () => async () => DELIVERED };
  const channels = [
    { channel: channelOf(hang), most: PACE.timeout },
    { channel: channelOf(hang, { kind: 'email', grouping }), most: 2 * PACE.timeout },
  ];
  for (const { channel, most } of channels) {
    const memory = new Memory({ a: 1 });
    await withLoop(memory, channel, () => until(() => memory.requests.length > 0, 'it claims'));
    const [{ now, leaseUntil } = { now: 0, leaseUntil: 0 }] = memory.requests;
    const beyond = leaseUntil - now - 2 * PACE.timeout;
    assert.ok(beyond >= 10_000 && beyond <= most, `${beyond} ms beyond two sends`);
  }
});

test('a lease that leaves enough time for a send is used, and a shorter one released', async () => {
  for (const [left, fate] of [
    [PACE.timeout, 'delivered'],
    [PACE.timeout - 1, 'released'],
  ] as const) {
    const memory = new Memory({ a: 2 });
    let now = 0;
    let leaseEnds = 0;
    const send: Send = async () => {
      const [{ now: from, leaseUntil } = { now: 0, leaseUntil: 0 }] = memory.requests;
      leaseEnds ||= leaseUntil - from;
      now = leaseEnds - left;
      return DELIVERED;
    };
    const settled = () => memory.settled.find(({ id }) => id === 2)?.kind;
    await withLoop(
      memory,
      channelOf(send),
      () => until(() => settled() !== undefined, 'it is settled'),
      () => now,
    );
    assert.is(settled(), fate, `${left} ms left`);
  }
});

test('deliveries that another node may have taken over are released, and later claims are sent', async () => {
  const grouping: Grouping = { wait: 1, gap: 1, composeDigest: async () => async () => DELIVERED };
  for (const changes of [{}, { kind: 'email', grouping } as const]) {
    const memory = new Memory({ a: 2 });
    let heldSince = 0;
    const sent: number[] = [];
    const send: Send = async ({ id }) => {
      sent.push(id);
      // While the process stood still, its claims went to another node.
      heldSince = performance.now();
      return DELIVERED;
    };
    const channel = channelOf(send, changes);
    await withLoop(
      memory,
      channel,
      async () => {
        await until(() => memory.settled.length === 2, 'both are settled');
        assert.equal(memory.settled.map(({ kind }) => kind).sort(), ['delivered', 'released']);
        memory.add('b');
        await until(() => memory.settled.length === 3, 'the third is settled');
      },
      undefined,
      { heldSince: () => heldSince },
    );
    assert.equal(sent.length, 2);
    assert.is(memory.settled[2]?.kind, 'delivered');
  }
});

const DIGEST = { kind: 'email', pace: { ...PACE, perTarget: 1 } } as const;

test('a digest that another node may have taken over while it was composed is released', async () => {
  const memory = new Memory({ ann: 6 });
  let heldSince = 0;
  let sent = 0;
  const composeDigest = async () => {
    await turn();
    heldSince = performance.now();
    return async () => {
      sent += 1;
      return DELIVERED;
    };
  };
  const channel = channelOf(hang, { ...DIGEST, grouping: { wait: 1, composeDigest } });
  await withLoop(
    memory,
    channel,
    () => until(() => memory.settled.length === 6, 'all are settled'),
    undefined,
    { heldSince: () => heldSince },
  );
  assert.is(sent, 0);
  assert.equal([...new Set(memory.settled.map(({ kind }) => kind))], ['released']);
});

test('a digest that cannot be composed is tried again, like one that cannot be sent', async () => {
  const memory = new Memory({ ann: 6 });
  const composeDigest = async () => {
    await turn();
    throw new Error('no such time zone');
  };
  const channel = channelOf(hang, { ...DIGEST, grouping: { wait: NEVER, composeDigest } });
  await withLoop(memory, channel, () => until(() => memory.settled.length === 6, 'all are settled'));
  assert.equal([...new Set(memory.settled.map(({ kind }) => kind))], ['retry']);
});

test('a digest is sent by the channel that is there when it is composed', async () => {
  const memory = new Memory({ ann: 6 });
  const by: string[] = [];
  const compose = (name: string, meanwhile: () => void) => async () => {
    await turn();
    meanwhile();
    return async () => {
      by.push(name);
      return DELIVERED;
    };
  };
  const later = channelOf(hang, {
    ...DIGEST,
    grouping: { wait: NEVER, composeDigest: compose('later', () => {}) },
  });
  const loop: { replace?: () => void } = {};
  const first = channelOf(hang, {
    ...DIGEST,
    grouping: { wait: NEVER, composeDigest: compose('first', () => loop.replace?.()) },
  });
  await withLoop(
    memory,
    first,
    () => until(() => memory.settled.length === 6, 'all are settled'),
    undefined,
    {},
    (dispatch) => {
      loop.replace = () => dispatch.replace(later);
    },
  );
  assert.equal(by, ['later']);
});

test('while it is unknown who holds the claims, nothing is sent', async () => {
  const memory = new Memory({ a: 1, b: 1 });
  const sent: number[] = [];
  const send: Send = async ({ id }) => {
    sent.push(id);
    return DELIVERED;
  };
  await withLoop(
    memory,
    channelOf(send),
    () => until(() => memory.settled.length === 2, 'both are settled'),
    undefined,
    { heldSince: () => Number.POSITIVE_INFINITY },
  );
  assert.equal(sent, []);
  assert.equal(
    memory.settled.map(({ kind }) => kind),
    ['released', 'released'],
  );
});

test.run();
