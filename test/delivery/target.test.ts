/** What is known about a target decides when it is sent to, and how much is claimed for it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClaimedDelivery } from '../../src/core/delivery.ts';
import type { Outcome } from '../../src/delivery/outbox/outcome.ts';
import { GroupedTarget, SingleTarget } from '../../src/delivery/outbox/target.ts';
import { anAlert } from './alerts.ts';

const DELIVERED: Outcome = { kind: 'delivered' };
const RETRY: Outcome = { kind: 'retry', error: 'away' };
const DEAD: Outcome = { kind: 'dead', error: 'gone' };

function claim(id: number): ClaimedDelivery {
  const owner = { id: 'case_1', name: 'Operations', timezone: 'UTC' };
  const to = { channel: 'email', target: 'ann@example.com', webhook: null } as const;
  return {
    id,
    fence: 1,
    attempt: 1,
    lastError: null,
    ...to,
    alert: anAlert({ id: `alert_${id}` }),
    case: owner,
  };
}

const single = suite('a target that gets each alert by itself');

single('is sent to one at a time at first, and more while it answers well', () => {
  const target = new SingleTarget('hook', { perTarget: 5 });
  const allowed = [target.allowed];
  for (let count = 0; count < 4; count += 1) {
    target.learn(DELIVERED, false, 0);
    allowed.push(target.allowed);
  }
  assert.equal(allowed, [1, 2, 4, 5, 5]);
  target.running = 4;
  assert.ok(target.mayStart(0));
  target.running = 5;
  assert.not(target.mayStart(0));
});

single('is sent to one at a time after a failure, with a pause that grows to a second', () => {
  const target = new SingleTarget('hook', { perTarget: 8 });
  target.learn(DELIVERED, false, 0);
  const pauses: number[] = [];
  for (let failures = 1; failures <= 150; failures += 1) {
    target.learn(RETRY, false, 5_000);
    pauses.push(target.notBefore - 5_000);
  }
  assert.equal(pauses.slice(0, 3), [10, 20, 30]);
  assert.equal(pauses.slice(98, 102), [990, 1_000, 1_000, 1_000]);
  assert.equal([target.allowed, target.doubtful], [1, true]);
  assert.not(target.mayStart(5_999));
  assert.ok(target.mayStart(6_000));
  target.learn(DELIVERED, false, 6_000);
  assert.is(target.doubtful, false);
  target.learn(RETRY, false, 6_000);
  assert.is(target.notBefore, 6_010, 'the count begins anew');
});

single('is doubted while it is slow, and not because it refuses one alert for good', () => {
  const target = new SingleTarget('hook', { perTarget: 8 });
  target.learn(DELIVERED, true, 0);
  assert.is(target.doubtful, true);
  target.learn(DELIVERED, false, 0);
  target.learn(DEAD, false, 0);
  assert.equal([target.doubtful, target.allowed, target.notBefore], [false, 4, 0]);
});

single('has deliveries claimed ahead while it answers well', () => {
  const target = new SingleTarget('hook', { perTarget: 8 });
  assert.is(target.idle, true);
  for (let id = 1; id <= 3; id += 1) target.add(claim(id), 0);
  assert.is(target.idle, false);
  assert.is(target.hasEnough(0, true), false);
  target.add(claim(4), 0);
  assert.is(target.hasEnough(0, true), true, 'half of what is claimed ahead still waits');
});

single('gets them one by one while it is doubted', () => {
  const target = new SingleTarget('hook', { perTarget: 8 });
  target.learn(RETRY, false, 0);
  assert.is(target.hasEnough(9, true), true, 'it pauses');
  assert.is(target.hasEnough(10, true), false);
  assert.is(target.hasEnough(10, false), true, 'it could not be sent to');
  target.add(claim(1), 0);
  assert.is(target.hasEnough(10, true), true, 'one waits');
  target.waiting.pop();
  target.running = 1;
  assert.is(target.hasEnough(10, true), true, 'one is sent');
  assert.is(target.idle, false);
});

single('sends all that its turn has', () => {
  const target = new SingleTarget('hook', { perTarget: 8 });
  target.add(claim(1), 77);
  const messages = target.waiting[0]!.messages();
  assert.equal(target.split(messages), { now: messages, later: [] });
  assert.equal(
    messages.map(({ deliveries }) => deliveries.map(({ id, leaseEnds }) => [id, leaseEnds])),
    [[[1, 77]]],
  );
});

single.run();

const grouped = suite('a target whose alerts are grouped');

grouped('has one turn at a time, however well it answers', () => {
  const target = new GroupedTarget('ann', { wait: 500 });
  target.learn(DELIVERED, false, 0);
  assert.is(target.allowed, 1);
  for (let id = 1; id <= 3; id += 1) target.add(claim(id), 0);
  assert.equal(
    target.waiting.map(({ size }) => size),
    [3],
  );
});

grouped('gets the first alert after a quiet time at once, and then everything that waits', () => {
  const target = new GroupedTarget('ann', { wait: 500 });
  for (let id = 1; id <= 3; id += 1) target.add(claim(id), 0);
  const messages = target.waiting[0]!.messages();
  assert.equal(target.split(messages, 0), { now: messages.slice(0, 1), later: messages.slice(1) });
  assert.equal(target.split(messages, 0), { now: messages, later: [] });
});

grouped('nothing more is claimed for it until its turn and the wait after it have ended', () => {
  const target = new GroupedTarget('ann', { wait: 500 });
  assert.is(target.hasEnough(0), false);
  target.running = 1;
  assert.is(target.hasEnough(0), true);
  target.running = 0;
  target.rest(1_000);
  assert.equal([target.hasEnough(1_499), target.hasEnough(1_500)], [true, false]);
  assert.equal([target.mayStart(1_499), target.mayStart(1_500)], [false, true]);
});

grouped('a message that took long to arrive is counted from its arrival', () => {
  const target = new GroupedTarget('ann', { wait: 0, perMinute: { few: 1, many: 1 } });
  target.note(false, 0);
  target.learn(DELIVERED, false, 2_500);
  assert.equal([target.mayStart(62_499), target.mayStart(62_500)], [false, true]);
});

grouped(
  'five alerts of a case are five messages, six are one; a notice stays by itself and comes first',
  () => {
    const messagesOf = (ids: number[]) => {
      const target = new GroupedTarget('ann', { wait: 500 });
      for (const id of ids) target.add(claim(id), 0);
      const notice = { ...claim(99), alert: { ...anAlert(), type: 'service.blind' } } as ClaimedDelivery;
      target.add(notice, 0);
      assert.is(target.waiting[0]?.size, ids.length + 1);
      assert.is(target.waiting[0]?.deliveries().length, ids.length + 1);
      return target.waiting[0]!.messages().map(({ deliveries }) => deliveries.map(({ id }) => id));
    };
    assert.equal(messagesOf([1, 2, 3, 4, 5]), [[99], [1], [2], [3], [4], [5]]);
    assert.equal(messagesOf([1, 2, 3, 4, 5, 6]), [[99], [1, 2, 3, 4, 5, 6]]);
  },
);

grouped('more messages than a minute takes wait for the next one, notices too', () => {
  const target = new GroupedTarget('chat', { wait: 0, perMinute: { few: 10, many: 3 } });
  target.note(true, 0);
  target.note(false, 0);
  target.restore({ sent: [{ at: 0, digest: true }], heldUntil: null }, 0, 0);
  target.note(false, 0);
  for (let id = 1; id <= 6; id += 1) target.add(claim(id), 0);
  for (const id of [98, 99])
    target.add({ ...claim(id), alert: { ...anAlert(), type: 'service.blind' } } as ClaimedDelivery, 0);
  const messages = target.waiting[0]!.messages();
  assert.is(messages.length, 3);
  assert.ok(target.mayStart(0));
  assert.equal(target.split(messages, 0), { now: messages.slice(0, 1), later: messages.slice(1) });
  target.note(false, 0);
  assert.not(target.mayStart(59_999));
  assert.ok(target.mayStart(60_000));
  assert.equal(target.split(messages, 60_000), { now: messages, later: [] });
});

grouped('room in the next minute does not end a pause that lasts longer', () => {
  const target = new GroupedTarget('chat', { wait: 0, perMinute: { few: 1, many: 1 } });
  target.restore({ sent: [{ at: 0, digest: false }], heldUntil: 90_000 }, 0, 0);
  target.add(claim(1), 0);
  assert.ok(target.isTooMuch(1_000));
  assert.equal([target.mayStart(89_999), target.mayStart(90_000)], [false, true]);
});

grouped('one digest among what waits is enough to slow it all down', () => {
  const target = new GroupedTarget('chat', { wait: 0, perMinute: { few: 10, many: 1 } });
  target.add(claim(0), 0);
  target.split(target.waiting[0]!.messages(), 0);
  for (let id = 1; id <= 6; id += 1) target.add(claim(id), 0);
  target.add({ ...claim(99), alert: { ...anAlert(), type: 'service.blind' } } as ClaimedDelivery, 0);
  const [notice, digest] = target.waiting[0]!.messages().slice(-2);
  assert.equal([notice?.deliveries.length, digest?.deliveries.length], [1, 7]);
  assert.equal(target.split([notice!, digest!], 0), { now: [notice], later: [digest] });
});

grouped.run();
