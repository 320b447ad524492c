/** A check-in that was spooled while the service was away counts from the time at which the job made it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { BlindWindow } from '../../src/core/blind-window.ts';
import { Calendar } from '../../src/core/interval.ts';
import { newSnitchState, type SnitchState } from '../../src/core/snitch.ts';
import { transition } from '../../src/core/transition.ts';

const test = suite('late check-in');

const time = (text: string) => Date.parse(`2026-03-10T${text}Z`);

const healthy: SnitchState = {
  ...newSnitchState('hourly', 'basic'),
  status: 'healthy',
  checkedInAt: time('09:10'),
  lastCheckInAt: time('09:10'),
  dueAt: time('11:00'),
};
const failed: SnitchState = { ...healthy, status: 'failed', dueAt: time('12:00') };

function late(
  before: SnitchState,
  at: string,
  now: string,
  outcome: 'healthy' | 'error' = 'healthy',
  windows: BlindWindow[] = [],
) {
  return transition(
    before,
    { kind: 'checkIn', outcome, at: time(at) },
    {
      now: time(now),
      calendar: new Calendar(),
      rules: { timezone: 'UTC', reminders: 'period', errorNotices: true },
      firstCheckIns: [],
      windows,
    },
  );
}

test('it undoes a false alarm, and the next deadline counts from its own time', () => {
  const { snitch, alert } = late(failed, '10:10', '11:30');
  assert.is(snitch.status, 'healthy');
  assert.is(snitch.checkedInAt, time('10:10'));
  assert.is(snitch.dueAt, time('12:00'));
  assert.equal(alert, { type: 'snitch.reporting', status: 'healthy', previousStatus: 'failed' });
});

test('it awaits the next period, however late the next reminder would have come', () => {
  const { snitch } = late({ ...failed, dueAt: time('18:00') }, '10:10', '11:30');
  assert.equal([snitch.status, snitch.dueAt], ['healthy', time('12:00')]);
});

test('it does not undo a failure if the period after it was missed as well', () => {
  const { snitch, alert } = late(failed, '10:10', '12:30');
  assert.is(snitch.status, 'failed');
  assert.is(snitch.checkedInAt, time('10:10'));
  assert.is(snitch.dueAt, failed.dueAt);
  assert.is(alert, null);
});

test('the next period counts as over only at its very end', () => {
  assert.is(late(failed, '10:10', '12:00').snitch.status, 'failed');
  const { snitch } = late(failed, '10:10', '11:59:59.999');
  assert.equal([snitch.status, snitch.dueAt], ['healthy', time('12:00')]);
});

test('it never moves back a deadline that was postponed', () => {
  const postponed: SnitchState = { ...healthy, dueAt: time('13:00'), postponed: 1 };
  const { snitch, alert } = late(postponed, '10:10', '12:30');
  assert.is(snitch.status, 'healthy');
  assert.is(snitch.dueAt, time('13:00'));
  assert.is(snitch.postponed, 1);
  assert.is(alert, null);
});

test('it changes nothing if a later check-in was already recorded', () => {
  const { snitch, alert } = late(healthy, '08:10', '10:30');
  assert.is(snitch, healthy);
  assert.is(alert, null);
});

test('it counts if it was made in the same instant as the last one', () => {
  const { snitch, alert } = late(healthy, '09:10', '10:30', 'error');
  assert.equal([snitch.status, alert?.type], ['errored', 'snitch.errored']);
});

test('one from before a pause began does not end it, and is remembered', () => {
  const paused = (since: string): SnitchState => ({
    ...healthy,
    status: 'paused',
    dueAt: null,
    pause: { until: { kind: 'healthy' }, remembered: 'failed', since: time(since) },
  });
  const before = late(paused('10:30'), '10:10', '11:30');
  assert.is(before.alert, null);
  assert.is(before.snitch.status, 'paused');
  assert.is(before.snitch.pause?.remembered, 'healthy');
  assert.is(before.snitch.checkedInAt, time('10:10'));
  const since = late(paused('10:10'), '10:10', '11:30');
  assert.is(since.snitch.status, 'healthy');
  assert.is(since.alert?.previousStatus, 'paused');
});

test('windows since then postpone its deadline, as if it had been heard in time', () => {
  const windows = [{ start: time('11:05'), end: time('11:20') }];
  const heard = late(failed, '10:10', '12:30', 'healthy', windows);
  assert.equal(
    [heard.snitch.status, heard.snitch.dueAt, heard.snitch.postponed],
    ['healthy', time('13:00'), 1],
  );
  assert.equal(heard.postponedBy, windows);
  const again = late(
    { ...healthy, dueAt: time('13:00'), postponed: 1 },
    '10:10',
    '11:30',
    'healthy',
    windows,
  );
  assert.equal([again.snitch.dueAt, again.snitch.postponed], [time('13:00'), 1]);
});

test('an error that arrives late alerts all the same', () => {
  const { snitch, alert } = late(failed, '10:10', '12:30', 'error');
  assert.is(snitch.status, 'errored');
  assert.is(alert?.type, 'snitch.errored');
});

test('an error from a period that is over leaves the deadline where the reminder was', () => {
  const { snitch } = late({ ...failed, dueAt: time('13:00') }, '10:10', '12:30', 'error');
  assert.equal([snitch.status, snitch.dueAt], ['errored', time('13:00')]);
});

test('an error that is delivered twice, because its answer was lost, is one error', () => {
  const forgiving = { ...healthy, failuresBeforeAlert: 2 };
  const once = late(forgiving, '09:20', '09:30', 'error').snitch;
  const twice = late(once, '09:20', '09:40', 'error');
  assert.equal([once.errorsInRow, twice.snitch.errorsInRow], [1, 1]);
  assert.equal([twice.snitch.status, twice.alert], ['healthy', null]);
  assert.is(late(once, '09:21', '09:40', 'error').snitch.status, 'errored');
  const ended = late(forgiving, '09:20', '09:30').snitch;
  assert.is(late(ended, '09:20', '09:40', 'error').snitch.errorsInRow, 1, 'after a success of the same time');
});

test.run();
