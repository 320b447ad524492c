/** A repeated alarm never fires again after its recovery was sent. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClaimedDelivery, Repeat } from '../../src/core/delivery.ts';
import { repeated } from '../../src/delivery/channels/repeated.ts';
import type { Channel, Sending } from '../../src/delivery/outbox/channel.ts';
import { anAlert } from './alerts.ts';

const test = suite('alarms that are repeated');

const SENDING: Sending = { target: 'chan_1', now: 0, stop: new AbortController().signal };
const CASE = { id: 'case_1', name: 'Operations', timezone: 'UTC' };

/** A channel whose sends end on request, in the order in which they began. */
function held() {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const channel = {
    kind: 'alertmanager',
    pace: { timeout: 1, perTarget: 1, fast: 1, slow: 1, slowAfter: 1 },
    off: null,
    grouping: null,
    sendAlert: async ({ alert }: ClaimedDelivery) => {
      began.push(alert.type);
      await new Promise<void>((resolve) => ends.push(resolve));
      return { kind: 'delivered' } as const;
    },
    retire: () => undefined,
    close: () => undefined,
  } satisfies Channel;
  return { channel: repeated(channel), began, endNext: () => ends.shift()?.() };
}

const recipient: Repeat['recipient'] = {
  channel: null,
  incident: { key: 'alert_1', name: 'x', since: 0, reference: null },
};
const repeat: Repeat = { channelId: 'chan_1', token: 't', alert: anAlert(), recipient, case: CASE };
const recovery: ClaimedDelivery = {
  ...{
    id: 1,
    fence: 1,
    attempt: 1,
    lastError: null,
    channel: 'alertmanager',
    target: 'chan_1',
    case: CASE,
    webhook: null,
  },
  ...{ alert: anAlert({ type: 'snitch.reporting' }), recipient },
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a repeat that waits behind the recovery is not sent, because the alarm is over by then', async () => {
  const { channel, began, endNext } = held();
  let over = false;
  const recovered = channel.sendAlert(recovery, SENDING);
  const again = channel.repeat(repeat, SENDING, async () => !over);
  await turn();
  assert.equal(began, ['snitch.reporting'], 'one at a time to one target');
  over = true;
  endNext();
  await recovered;
  assert.is(await again, null);
  assert.equal(began, ['snitch.reporting']);
});

test('a recovery waits for a repeat that is on its way', async () => {
  const { channel, began, endNext } = held();
  const again = channel.repeat(repeat, SENDING, async () => true);
  const recovered = channel.sendAlert(recovery, SENDING);
  await turn();
  assert.equal(began, ['snitch.missing']);
  endNext();
  await again;
  await turn();
  assert.equal(began, ['snitch.missing', 'snitch.reporting']);
  endNext();
  assert.equal(await recovered, { kind: 'delivered' });
});

test('an alarm that cannot be looked up or sent does not hold up the others', async () => {
  const { channel, began, endNext } = held();
  const failing = channel.repeat(repeat, SENDING, () => Promise.reject(new Error('the disk is full')));
  const recovered = channel.sendAlert(recovery, SENDING);
  let reason = '';
  await failing.catch((error: Error) => {
    reason = error.message;
  });
  assert.is(reason, 'the disk is full');
  await turn();
  endNext();
  await recovered;
  assert.equal(began, ['snitch.reporting']);
});

test.run();
