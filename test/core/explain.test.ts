import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { explain } from '../../src/core/explain.ts';
import { Calendar } from '../../src/core/interval.ts';
import { type CaseRules, newSnitchState, type SnitchState } from '../../src/core/snitch.ts';

const test = suite('explain');

const now = Date.parse('2026-03-10T10:20:00Z');
const checkedInAt = Date.parse('2026-03-10T10:10:00Z');
const dueAt = Date.parse('2026-03-10T12:00:00Z');
const rules: CaseRules = { timezone: 'Europe/Berlin', reminders: 'period', errorNotices: true };
const pending = newSnitchState('hourly', 'basic');
const healthy: SnitchState = {
  ...pending,
  status: 'healthy',
  checkedInAt,
  lastCheckInAt: checkedInAt,
  dueAt,
};

function explained(state: SnitchState) {
  return explain(state, { rules, calendar: new Calendar(), now });
}

test('a pending snitch awaits nothing', () => {
  const { deadlineAt, nextAlertAt, reasons } = explained(pending);
  assert.equal([deadlineAt, nextAlertAt], [null, null]);
  assert.match(reasons.join(' '), 'waits for its first check-in');
});

test('a healthy snitch has a deadline, told in the time zone of the case', () => {
  const { period, deadlineAt, nextAlertAt, reasons } = explained(healthy);
  assert.equal(period, { start: Date.parse('2026-03-10T10:00Z'), end: Date.parse('2026-03-10T11:00Z') });
  assert.equal([deadlineAt, nextAlertAt], [dueAt, dueAt]);
  assert.match(reasons.join(' '), 'by 2026-03-10 13:00:00 (Europe/Berlin)');
});

test('a failed snitch has no deadline but a reminder, where the case wants one', () => {
  const reminded = explained({ ...healthy, status: 'failed' });
  assert.equal([reminded.deadlineAt, reminded.nextAlertAt], [null, dueAt]);
  const silent = explained({ ...healthy, status: 'failed', dueAt: null });
  assert.is(silent.nextAlertAt, null);
  assert.match(silent.reasons.join(' '), 'no reminders');
});

test('a paused snitch says what ends the pause', () => {
  const paused = (until: NonNullable<SnitchState['pause']>['until']) =>
    explained({ ...healthy, status: 'paused', pause: { until, remembered: 'healthy', since: null } });
  assert.match(paused({ kind: 'healthy' }).reasons.join(), 'until its next healthy check-in');
  assert.match(paused({ kind: 'unpaused' }).reasons.join(), 'until somebody unpauses it');
  assert.match(paused({ kind: 'time', at: dueAt }).reasons.join(), 'until 2026-03-10 13:00:00');
  assert.is(paused({ kind: 'healthy' }).nextAlertAt, null);
});

test('a postponed deadline says so', () => {
  assert.match(explained({ ...healthy, postponed: 1 }).reasons.join(' '), 'the service was blind');
});

test.run();
