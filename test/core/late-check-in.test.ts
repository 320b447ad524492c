/** A check-in that was kept back while the service was away counts for the time at which the job made it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
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

function late(before: SnitchState, at: string, now: string, outcome: 'healthy' | 'error' = 'healthy') {
  return transition(
    before,
    { kind: 'checkIn', outcome, at: time(at) },
    {
      now: time(now),
      calendar: new Calendar(),
      rules: { timezone: 'UTC', reminders: 'period', errorNotices: true },
      firstCheckIns: [],
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

test('it leaves a failure standing where the period after it was missed as well', () => {
  const { snitch, alert } = late(failed, '10:10', '12:30');
  assert.is(snitch.status, 'failed');
  assert.is(snitch.checkedInAt, time('10:10'));
  assert.is(snitch.dueAt, failed.dueAt);
  assert.is(alert, null);
});

test('it never moves back a deadline that was postponed', () => {
  const postponed: SnitchState = { ...healthy, dueAt: time('13:00'), postponed: 1 };
  const { snitch, alert } = late(postponed, '10:10', '12:30');
  assert.is(snitch.status, 'healthy');
  assert.is(snitch.dueAt, time('13:00'));
  assert.is(snitch.postponed, 1);
  assert.is(alert, null);
});

test('it changes nothing when a later check-in was heard already', () => {
  const { snitch, alert } = late(healthy, '08:10', '10:30');
  assert.is(snitch, healthy);
  assert.is(alert, null);
});

test('an error that is told late is told all the same', () => {
  const { snitch, alert } = late(failed, '10:10', '12:30', 'error');
  assert.is(snitch.status, 'errored');
  assert.is(alert?.type, 'snitch.errored');
});

test.run();
