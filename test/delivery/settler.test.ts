/** The outcome of a delivery is recorded, even if the store refuses it for a moment, and logged. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RETRY_WAITS } from '../../src/core/backoff.ts';
import type { Settlement } from '../../src/core/delivery.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import type { OwnClaim } from '../../src/delivery/outbox/own-claim.ts';
import { Settler, type SettlerOptions } from '../../src/delivery/outbox/settler.ts';
import type { LogLine } from './outbox.ts';

const NOW = Date.UTC(2026, 10, 21, 5);

const test = suite('settling');

function claim(id: number, changes: Partial<OwnClaim> = {}): OwnClaim {
  const known = {
    ...{ fence: 7, attempt: 1, lastError: null },
    ...({ channel: 'email', target: 'ann@example.com' } as const),
  } as const;
  const alarm = { type: 'snitch.missing', snitch: 'nightly', token: 'abc' };
  return { id, ...known, alertId: `alert_${id}`, alarm, leaseEnds: 60_000, ...changes };
}

function settling(answer: (calls: number) => boolean = () => true) {
  const lines: LogLine[] = [];
  const written: [id: number, fence: number, settlement: Settlement][] = [];
  const observed: unknown[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  let calls = 0;
  const log = (level: string) => (what: LogLine['what'], message: string) => {
    lines.push({ level, what, message });
  };
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const settler = new Settler({
    clock: () => NOW,
    monotonic: () => 0,
    random: () => 0.5,
    logger: logger as SettlerOptions['logger'],
    observe: (attempt) => observed.push(attempt),
    store: {
      async settleDelivery(id, fence, settlement) {
        calls += 1;
        atOnce += 1;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce -= 1;
        const counted = answer(calls);
        written.push([id, fence, settlement]);
        return counted;
      },
    },
  });
  return { settler, lines, written, observed, mostAtOnce: () => mostAtOnce };
}

const said = (lines: readonly LogLine[]) => lines.map(({ level, message }) => `${level}: ${message}`);

test('an alarm that was delivered is logged for all to see, another alert only for who looks closely', async () => {
  const { settler, lines, written, observed } = settling();
  await settler.settle([claim(1)], { kind: 'delivered' });
  await settler.settle([claim(2, { alarm: null })], { kind: 'delivered' });
  await settler.settle([claim(3), claim(4, { alarm: null }), claim(5)], { kind: 'delivered' });
  assert.equal(said(lines), ['info: delivered', 'debug: delivered', 'info: delivered']);
  const about = { channel: 'email', target: 'ann@example.com' };
  assert.equal(lines[0]?.what, {
    ...about,
    delivery: 1,
    alert: 'alert_1',
    attempt: 1,
    type: 'snitch.missing',
    snitch: 'nightly',
    token: 'abc',
  });
  assert.equal(lines[2]?.what, { ...about, deliveries: [3, 4, 5], count: 3, alarms: 2 });
  assert.equal(written[0], [1, 7, { kind: 'delivered', at: NOW }]);
  assert.is(observed.length, 5);
  assert.equal(observed[0], { channel: 'email', result: 'delivered' });
});

test('a failed group is tried again at one instant, except a delivery after its last attempt', async () => {
  const { settler, lines, written } = settling();
  const last = claim(3, { attempt: RETRY_WAITS.length + 1 });
  await settler.settle([claim(1), claim(2), last], { kind: 'retry', error: 'away' });
  const at = NOW + RETRY_WAITS[0]!;
  assert.equal(
    written.map(([, , settlement]) => settlement),
    [
      { kind: 'retry', at, error: 'away' },
      { kind: 'retry', at, error: 'away' },
      { kind: 'dead', error: `away (attempt ${RETRY_WAITS.length + 1} was the last)` },
    ],
  );
  assert.equal(said(lines), [
    'warn: a delivery failed and will be tried again',
    'error: a delivery failed for good',
  ]);
  const about = { channel: 'email', target: 'ann@example.com' };
  const again = { deliveries: [1, 2], count: 2, error: 'away', next_attempt_at: new Date(at).toISOString() };
  assert.equal(lines[0]?.what, { ...about, ...again });
  const forGood = { delivery: 3, alert: 'alert_3', attempt: RETRY_WAITS.length + 1, error: 'away' };
  assert.equal(lines[1]?.what, { ...about, ...forGood });
});

test('the wait that a target asks for counts, and a release is not logged', async () => {
  const { settler, lines, written } = settling();
  await settler.settle([claim(1)], { kind: 'retry', error: 'busy', retryAfter: 3_600_000 });
  assert.equal(written[0]?.[2], { kind: 'retry', at: NOW + 3_600_000, error: 'busy' });
  lines.length = 0;
  await settler.release([claim(2), claim(3)]);
  await settler.release([]);
  assert.equal(
    written.slice(1).map(([id, , { kind }]) => [id, kind]),
    [
      [2, 'released'],
      [3, 'released'],
    ],
  );
  assert.equal(lines, []);
});

test('a large group is written in parts, and the log names some and counts all', async () => {
  const { settler, lines, written, mostAtOnce } = settling();
  const group = Array.from({ length: 120 }, (_, index) => claim(index, { target: `to-${index % 2}` }));
  await settler.settle(group, { kind: 'dead', error: 'gone' });
  assert.is(written.length, 120);
  assert.is(mostAtOnce(), 50);
  const deliveries = Array.from({ length: 20 }, (_, index) => index);
  assert.equal(lines[0]?.what, { channel: 'email', deliveries, count: 120, error: 'gone' });
});

test('an outcome that the store refuses for a moment is written again', async () => {
  const { settler, lines, written, observed } = settling((calls) => {
    if (calls === 1) throw new Error('disk is full');
    return true;
  });
  await settler.settle([claim(1, { leaseEnds: 501 })], { kind: 'delivered' });
  assert.is(written.length, 1);
  assert.is(observed.length, 1);
  assert.equal(said(lines), ['info: delivered']);
});

test('one that is refused until the lease ends, or while the process stops, is left to the next claim', async () => {
  const refuse = () => {
    throw new Error('disk is full');
  };
  const ending = settling(refuse);
  await ending.settler.settle([claim(1, { leaseEnds: 500 })], { kind: 'delivered' });
  assert.equal(said(ending.lines).slice(1), ['error: a delivery was not settled and will be sent again']);
  const hurried = settling(refuse);
  hurried.settler.hurry();
  await hurried.settler.settle([claim(1)], { kind: 'delivered' });
  assert.is(hurried.observed.length, 0);
  assert.equal(said(hurried.lines).slice(1), ['error: a delivery was not settled and will be sent again']);
});

test('the outcome of a sent one is retried past its lease while the store is away, and nothing is claimed meanwhile', async () => {
  const overdue: string[][] = [];
  const { settler, written, observed, lines } = settling((calls) => {
    overdue.push(settler.overdue('email'), settler.overdue('webhook'));
    if (calls < 3) throw new StoreUnavailable(new Error('disk is full'));
    return calls === 3;
  });
  await settler.settle([claim(1, { leaseEnds: 0 })], { kind: 'delivered' });
  assert.is(written.length, 1);
  assert.is(observed.length, 1);
  const one = [['ann@example.com'], []];
  assert.equal(overdue, [...one, ...one, ...one]);
  assert.equal(settler.overdue('email'), []);
  assert.equal(said(lines), ['info: delivered']);
});

test('one that was not sent is left to the next claim once its lease ends', async () => {
  const { settler, written, lines } = settling(() => {
    throw new StoreUnavailable(new Error('disk is full'));
  });
  await settler.release([claim(1, { leaseEnds: 0 })]);
  assert.equal(written, []);
  assert.equal(said(lines), ['error: a delivery was not settled and will be sent again']);
});

test('one whose first write had no answer may already be settled, and the log says so', async () => {
  const { settler, lines } = settling((calls) => {
    if (calls === 1) throw new StoreUnavailable(new Error('no answer'));
    return false;
  });
  await settler.settle([claim(1)], { kind: 'delivered' });
  assert.equal(said(lines).slice(1), [
    'warn: a delivery was settled already, by an attempt that the store did not answer, or its lease had ended',
  ]);
});

test('one whose lease has ended is not counted', async () => {
  const { settler, lines, observed } = settling(() => false);
  await settler.settle([claim(1)], { kind: 'delivered' });
  assert.equal(observed, []);
  assert.equal(said(lines).slice(1), ['warn: a delivery was settled too late: its lease had ended']);
});

test.run();
