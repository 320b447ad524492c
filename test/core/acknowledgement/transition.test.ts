/** What an acknowledgement changes of a snitch, and what ends it: `extensions: Acknowledge, silence, depend`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../../src/core/interval.ts';
import { newSnitchState, type SnitchState } from '../../../src/core/snitch.ts';
import { type TransitionContext, type Trigger, transition } from '../../../src/core/transition.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2025, 6, 9, 11, 30);

const at = (now: number): TransitionContext => ({
  now,
  calendar: new Calendar(),
  rules: { timezone: 'UTC', reminders: 'period', errorNotices: true },
  firstCheckIns: [],
});

const ACKNOWLEDGE: Trigger = { kind: 'acknowledge', note: 'on it', by: 'Ann' };
const TAKE_BACK: Trigger = { kind: 'unacknowledge' };

const pending = newSnitchState('hourly', 'basic');
const healthy: SnitchState = {
  ...pending,
  status: 'healthy',
  checkedInAt: NOW - 2 * HOUR,
  lastCheckInAt: NOW - 2 * HOUR,
  dueAt: NOW + 30 * MINUTE,
};
const failed: SnitchState = { ...healthy, status: 'failed' };
const errored: SnitchState = { ...healthy, status: 'errored' };
const paused: SnitchState = {
  ...healthy,
  status: 'paused',
  dueAt: null,
  pause: { until: { kind: 'unpaused' }, remembered: 'failed', since: NOW - HOUR },
};

const acknowledge = (state: SnitchState, now = NOW) => transition(state, ACKNOWLEDGE, at(now)).snitch;

const test = suite('acknowledgements in the state machine');

test('acknowledging a failed snitch stops its reminders and alerts nobody', () => {
  const { snitch, alert } = transition(failed, ACKNOWLEDGE, at(NOW));
  assert.is(alert, null);
  assert.equal(snitch, { ...failed, dueAt: null, acknowledged: { at: NOW, note: 'on it', by: 'Ann' } });
});

test('an acknowledged errored snitch still awaits its next check-in', () => {
  const snitch = acknowledge(errored);
  assert.is(snitch.dueAt, errored.dueAt);
  assert.equal(snitch.acknowledged, { at: NOW, note: 'on it', by: 'Ann' });
});

test('while nothing is wrong, acknowledging changes nothing', () => {
  for (const state of [pending, healthy, paused]) {
    assert.is(acknowledge(state), state, state.status);
    assert.is(transition(state, TAKE_BACK, at(NOW)).snitch, state);
  }
});

test('a second acknowledgement keeps who came first, and changes only the note', () => {
  const first = acknowledge(failed);
  const later = at(NOW + HOUR);
  const without: Trigger = { kind: 'acknowledge', note: null, by: 'Bob' };
  assert.is(transition(first, without, later).snitch, first);
  const { snitch } = transition(first, { ...without, note: 'a disk is full' }, later);
  assert.equal(snitch.acknowledged, { at: NOW, note: 'a disk is full', by: 'Ann' });
});

test('every change of the status ends it', () => {
  const pause: Trigger = { kind: 'pause', until: { kind: 'unpaused' } };
  const changes: [SnitchState, Trigger, string][] = [
    [failed, { kind: 'checkIn', outcome: 'healthy' }, 'healthy'],
    [failed, { kind: 'checkIn', outcome: 'error' }, 'errored'],
    [failed, pause, 'paused'],
    [errored, { kind: 'checkIn', outcome: 'healthy' }, 'healthy'],
    [errored, pause, 'paused'],
  ];
  for (const [state, trigger, status] of changes) {
    const { snitch } = transition(acknowledge(state), trigger, at(NOW + MINUTE));
    assert.is(snitch.status, status);
    assert.is(snitch.acknowledged, null, `${state.status} to ${status}`);
  }
});

test('an acknowledged errored snitch that then goes missing alerts and reminds again', () => {
  const { snitch, alert } = transition(acknowledge(errored), { kind: 'due' }, at(errored.dueAt ?? 0));
  assert.is(alert?.type, 'snitch.missing');
  assert.is(snitch.acknowledged, null);
  assert.ok((snitch.dueAt ?? 0) > NOW);
});

test('a run that takes too long ends the acknowledgement of an error as well', () => {
  const started = transition(
    { ...errored, maxRuntime: 600 },
    { kind: 'start', runId: 'a' },
    at(NOW - 5 * MINUTE),
  ).snitch;
  const seen = acknowledge(started);
  assert.ok(seen.runs, 'the run goes on being watched');
  const { snitch, alert } = transition(seen, { kind: 'due' }, at(NOW + 5 * MINUTE));
  assert.is(alert?.type, 'snitch.missing');
  assert.is(snitch.reason?.kind, 'overran');
  assert.is(snitch.acknowledged, null);
});

test('another error of an errored snitch leaves it acknowledged', () => {
  const seen = acknowledge(errored);
  const { snitch, alert } = transition(seen, { kind: 'checkIn', outcome: 'error' }, at(NOW + MINUTE));
  assert.is(alert, null);
  assert.equal(snitch.acknowledged, seen.acknowledged);
});

test('an error that does not count yet brings no reminder of an acknowledged failure', () => {
  const seen = acknowledge({ ...failed, failuresBeforeAlert: 3 });
  const { snitch } = transition(seen, { kind: 'checkIn', outcome: 'error' }, at(NOW + MINUTE));
  assert.is(snitch.status, 'failed');
  assert.is(snitch.dueAt, null);
  assert.equal(snitch.acknowledged, seen.acknowledged);
});

test('neither changed rules nor a sweep reminds of an acknowledged snitch', () => {
  const seen = acknowledge(failed);
  const rescheduled = transition({ ...seen, interval: '5_minute' }, { kind: 'rescheduled' }, at(NOW)).snitch;
  assert.is(rescheduled.dueAt, null);
  assert.equal(rescheduled.acknowledged, seen.acknowledged);
  const swept = transition(seen, { kind: 'due' }, at(NOW + 48 * HOUR));
  assert.is(swept.alert, null);
  assert.is(swept.snitch, seen);
});

test('when it is withdrawn, a failed snitch gets a new reminder, and an errored one keeps its deadline', () => {
  const later = NOW + 10 * HOUR;
  const back = transition(acknowledge(failed), TAKE_BACK, at(later)).snitch;
  assert.is(back.acknowledged, null);
  assert.is(back.dueAt, transition(failed, { kind: 'rescheduled' }, at(later)).snitch.dueAt);
  assert.ok((back.dueAt ?? 0) > later);
  assert.equal(transition(acknowledge(errored), TAKE_BACK, at(NOW)).snitch, errored);
});

test('an alarm behind a pause that has run out can be acknowledged', () => {
  const over: SnitchState = {
    ...paused,
    pause: { until: { kind: 'time', at: NOW - MINUTE }, remembered: 'failed', since: NOW - HOUR },
    dueAt: NOW - MINUTE,
  };
  const snitch = acknowledge(over);
  assert.is(snitch.status, 'failed');
  assert.is(snitch.acknowledged?.by, 'Ann');
  assert.is(snitch.dueAt, null);
});

test.run();
