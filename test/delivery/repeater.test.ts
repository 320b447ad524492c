/** Ongoing alarms are repeated, but not by a node whose claims another node may have taken over. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Repeat } from '../../src/core/delivery.ts';
import { Repeater } from '../../src/delivery/outbox/repeater.ts';
import { until } from '../until.ts';
import { anAlert } from './alerts.ts';

const test = suite('repeats');

const REPEAT = { channelId: 'chan_1', alert: anAlert(), recipient: null, case: null } as unknown as Repeat;

/** @param whileAsked called while the database is asked whether the alarm is still ongoing */
async function sends(heldSince: () => number, whileAsked = () => {}): Promise<boolean> {
  const { promise: sent, resolve } = Promise.withResolvers<boolean>();
  let taken = false;
  const repeater = new Repeater({
    store: {
      nextRepeatAt: async () => (taken ? null : 1),
      takeRepeats: async () => {
        taken = true;
        return [REPEAT];
      },
      lasts: async () => {
        whileAsked();
        return true;
      },
    },
    clock: Date.now,
    logger: { debug() {}, error() {}, info() {} },
    heldSince,
    send: async (_, lasts) => {
      const goesOn = await lasts();
      resolve(goesOn);
      return goesOn ? { kind: 'delivered' } : null;
    },
  });
  repeater.start();
  try {
    await until(() => taken, 'the repeat is taken');
    return await sent;
  } finally {
    await repeater.stop();
  }
}

test('a node sends no repeat while its own signs of life are missing, as after it was stopped', async () => {
  assert.ok(await sends(() => Number.NEGATIVE_INFINITY), 'it lasts');
  assert.not(await sends(() => Number.POSITIVE_INFINITY));
  let since = Number.NEGATIVE_INFINITY;
  const stopped = () => {
    since = Number.POSITIVE_INFINITY;
  };
  assert.not(await sends(() => since, stopped), 'the answer was old when it was read');
});

test('a repeat that it claimed before another node took over is not sent', async () => {
  let since = Number.NEGATIVE_INFINITY;
  const freed = () => {
    since = performance.now();
  };
  assert.not(await sends(() => since, freed));
});

test('after a channel did not answer its other alarms wait, and no other channel is held up', async () => {
  const repeats = ['chan_1', 'chan_1', 'chan_2'].map((channelId) => ({ ...REPEAT, channelId }));
  const tried: string[] = [];
  const repeater = new Repeater({
    store: {
      nextRepeatAt: async () => (repeats.length > 0 ? 1 : null),
      takeRepeats: async () => repeats.splice(0),
      lasts: async () => true,
    },
    clock: Date.now,
    logger: { debug() {}, error() {}, info() {} },
    heldSince: () => Number.NEGATIVE_INFINITY,
    send: async ({ channelId }) => {
      tried.push(channelId);
      return { kind: 'retry', error: 'no answer' };
    },
  });
  repeater.start();
  try {
    await until(() => tried.includes('chan_2'), 'the other channel is tried');
  } finally {
    await repeater.stop();
  }
  assert.equal(tried.sort(), ['chan_1', 'chan_2']);
});

test('a channel that hangs holds up no other, and gets nothing more until it has answered', async () => {
  // A full take, so it looks again at once.
  const all = (channelId: string) => Array.from({ length: 64 }, () => ({ ...REPEAT, channelId }));
  const tried: string[] = [];
  let told = 0;
  const answer = Promise.withResolvers<void>();
  const repeater = new Repeater({
    store: {
      nextRepeatAt: async () => 1,
      takeRepeats: async (_now, _most, busy = []) => {
        await sleep(10);
        return ['chan_1', 'chan_2']
          .filter((channelId) => !busy.includes(channelId))
          .flatMap(all)
          .slice(0, 64);
      },
      lasts: async () => true,
    },
    clock: Date.now,
    logger: { debug() {}, error() {}, info() {} },
    send: async ({ channelId }, _lasts, stop) => {
      tried.push(channelId);
      if (channelId === 'chan_1' && told === 0) {
        stop.addEventListener('abort', () => answer.resolve());
        await answer.promise;
        told += 1;
      }
      return { kind: 'delivered' };
    },
  });
  repeater.start();
  const count = (channelId: string) => tried.filter((one) => one === channelId).length;
  try {
    await until(() => count('chan_2') >= 3 * 64, 'the other channel is told again and again');
    assert.is(count('chan_1'), 1);
    answer.resolve();
    await until(() => count('chan_1') > 64, 'it is told again once it has answered');
  } finally {
    await repeater.stop();
  }
  assert.is(told, 1);
});

test.run();
