import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deadlineAfter } from '../../../src/core/deadline.ts';
import { type ExplainContext, explain } from '../../../src/core/explanation/explain.ts';
import { Calendar } from '../../../src/core/interval.ts';
import { NO_LATE_RUNS } from '../../../src/core/late-runs.ts';
import { together } from '../../../src/core/runs.ts';
import type { ScheduleRule } from '../../../src/core/schedule/schedule.ts';
import { type CaseRules, newSnitchState, type SnitchState } from '../../../src/core/snitch.ts';

const test = suite('explain');

const MINUTE = 60_000;

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

function explained(state: SnitchState, facts: Partial<ExplainContext> = {}) {
  return explain(state, { rules, calendar: new Calendar(), now, ...facts });
}

test('a pending snitch awaits nothing', () => {
  const { deadlineAt, nextAlertAt, reasons } = explained(pending);
  assert.equal([deadlineAt, nextAlertAt], [null, null]);
  assert.match(reasons.join(' '), 'waits for its first check-in');
});

test('the present period of a schedule is its own, also of `every` and of a run that comes once', () => {
  const at = (time: string) => Date.parse(`2026-03-10T${time}Z`);
  const periodOf = (schedule: ScheduleRule, fields: Partial<SnitchState> = {}) =>
    explained({ ...healthy, interval: 'monthly', schedule, timezone: 'UTC', ...fields }).period;
  const lastCheckInAt = now - 50 * MINUTE;
  assert.equal(periodOf({ every: 3_600 }, { lastCheckInAt }), {
    start: lastCheckInAt,
    end: lastCheckInAt + 60 * MINUTE,
  });
  assert.equal(periodOf({ every: 1_200 }, { lastCheckInAt }), {
    start: lastCheckInAt + 40 * MINUTE,
    end: lastCheckInAt + 60 * MINUTE,
  });
  assert.equal(explained({ ...pending, schedule: { every: 3_600 } }).period, {
    start: now,
    end: now + 60 * MINUTE,
  });
  assert.equal(periodOf({ calendar: '2026-03-10 23:00' }), { start: now, end: at('23:00') });
  assert.equal(periodOf({ calendar: '2026-03-10 01:00' }), { start: at('01:00'), end: now });
  assert.equal(periodOf({ cron: '0 1,23 * * *' }), { start: at('01:00'), end: at('23:00') });
});

test('the next runs are those of the schedule, whenever an open run overruns', () => {
  const nextOf = (rule: ScheduleRule, ownDueAt: number, maxRuntime: number) => {
    const startedAt = Math.min(ownDueAt, now) - MINUTE;
    const plain = { ...healthy, schedule: rule, timezone: 'UTC', grace: 0, dueAt: ownDueAt, maxRuntime };
    const state = together(plain, [{ id: null, startedAt, from: startedAt }]);
    assert.not(state.dueAt === ownDueAt);
    return explained(state).schedule?.runs[0]?.at;
  };
  const everyHour = checkedInAt + 60 * MINUTE;
  for (const maxRuntime of [120, 7_200]) {
    assert.is(nextOf({ every: 3_600 }, everyHour, maxRuntime), everyHour);
    assert.is(nextOf({ cron: '0 * * * *' }, now + 40 * MINUTE, maxRuntime), now + 40 * MINUTE);
  }
  const passed = now - 130 * MINUTE;
  assert.is(nextOf({ every: 3_600 }, passed, 36_000), passed + 180 * MINUTE);
  // A run that a check-in came a little too early for stays answered.
  assert.is(nextOf({ cron: '0 * * * *' }, now + 100 * MINUTE, 120), now + 100 * MINUTE);
});

test('a healthy snitch has a deadline, told in the time zone of the case', () => {
  const { period, deadlineAt, nextAlertAt, reasons } = explained(healthy);
  assert.equal(period, { start: Date.parse('2026-03-10T10:00Z'), end: Date.parse('2026-03-10T11:00Z') });
  assert.equal([deadlineAt, nextAlertAt], [dueAt, dueAt]);
  assert.match(reasons.join(' '), 'It last checked in at 2026-03-10 11:10:00 (Europe/Berlin)');
  assert.match(reasons.join(' '), 'by 2026-03-10 13:00:00 (Europe/Berlin)');
});

test('with a schedule the period is the time from one run to the next', () => {
  const schedule = { cron: '15 * * * *' };
  const { period } = explained({ ...healthy, schedule, timezone: 'UTC' });
  assert.equal(period, { start: time('10:15:00'), end: time('11:15:00') });
});

test('a failed snitch has no deadline but a reminder, where the case wants one', () => {
  const reminded = explained({ ...healthy, status: 'failed' });
  assert.equal([reminded.deadlineAt, reminded.nextAlertAt], [null, dueAt]);
  const silent = explained({ ...healthy, status: 'failed', dueAt: null });
  assert.is(silent.nextAlertAt, null);
  assert.match(silent.reasons.join(' '), 'Reminders are off');
});

test('a failed snitch says why, and calls a run that took too long no missed deadline', () => {
  const startedAt = Date.parse('2026-03-10T08:00:00Z');
  const failed = { ...healthy, status: 'failed' } as const;
  const reasonsOf = (state: SnitchState) => explained(state).reasons;
  const [first = '', second] = reasonsOf({ ...failed, reason: { kind: 'overran', startedAt } });
  assert.match(
    first,
    'Its run took too long: the last check-in came at 2026-03-10 11:10:00 (Europe/Berlin).',
  );
  assert.is(second, 'Why: a run that started at 2026-03-10 09:00:00 (Europe/Berlin) has not ended.');
  const errored = { ...healthy, status: 'errored' } as const;
  assert.match(
    reasonsOf({ ...errored, reason: { kind: 'exitStatus', status: 3 } }).join(),
    'reported exit status 3.',
  );
  assert.match(reasonsOf(errored).join(), 'reported an error.');
});

test('a paused snitch says what ends the pause', () => {
  const paused = (until: NonNullable<SnitchState['pause']>['until']) =>
    explained({ ...healthy, status: 'paused', pause: { until, remembered: 'healthy', since: null } });
  assert.match(paused({ kind: 'healthy' }).reasons.join(), 'until its next healthy check-in');
  assert.match(paused({ kind: 'unpaused' }).reasons.join(), 'until somebody unpauses it');
  assert.match(paused({ kind: 'time', at: dueAt }).reasons.join(), 'until 2026-03-10 13:00:00');
  assert.is(paused({ kind: 'healthy' }).nextAlertAt, null);
});

const time = (text: string) => Date.parse(`2026-03-10T${text}Z`);

test('a postponed deadline says how often, by which windows, and to when', () => {
  const postponements = [
    { start: time('11:09:58'), end: time('11:10:03'), dueAt: time('13:00:00') },
    { start: time('12:05:00'), end: time('12:15:00'), dueAt: time('14:00:00') },
  ];
  const { reasons } = explained({ ...healthy, postponed: 2 }, { postponements });
  assert.equal(reasons.slice(2), [
    'Its deadline was postponed twice, because the service was blind and could not have heard the check-in in time.',
    'Blind from 2026-03-10 12:09:58 (Europe/Berlin) to 2026-03-10 12:10:03 (Europe/Berlin) (5 s); postponed to 2026-03-10 14:00:00 (Europe/Berlin).',
    'Blind from 2026-03-10 13:05:00 (Europe/Berlin) to 2026-03-10 13:15:00 (Europe/Berlin) (10 min); postponed to 2026-03-10 15:00:00 (Europe/Berlin).',
  ]);
  assert.is(
    explained(healthy, { postponements: [] }).reasons.length,
    2,
    'nothing where nothing was postponed',
  );
});

test('of many windows the last five are named, and forgotten ones are not invented', () => {
  const postponements = Array.from({ length: 9 }, (_, hour) => ({
    start: time('01:00:00') + hour * 3_600_000,
    end: time('01:00:01') + hour * 3_600_000,
    dueAt: null,
  }));
  const { reasons } = explained({ ...healthy, postponed: 9 }, { postponements });
  assert.match(reasons[2] ?? '', 'postponed 9 times');
  assert.match(reasons[3] ?? '', 'The first 4 windows are left out here.');
  assert.is(reasons.length, 9);
  const six = explained({ ...healthy, postponed: 6 }, { postponements: postponements.slice(-6) });
  assert.match(six.reasons[3] ?? '', 'The first window is left out here.');
  assert.is(explained({ ...healthy, postponed: 1 }).reasons.length, 3);
});

test('a smart deadline says whether it is learned, and if not, why', () => {
  const smart: SnitchState = { ...healthy, interval: 'daily', alertType: 'smart' };
  const days = (count: number, hours = 1 / 60) =>
    Array.from(
      { length: count },
      (_, day) => checkedInAt - (count - 1 - day) * 86_400_000 - ((day * 5) % 11) * hours * 3_600_000,
    );
  const reasonOf = (firstCheckIns: number[], late = NO_LATE_RUNS) => {
    const from = {
      ...smart,
      dueAt: deadlineAfter(smart, checkedInAt, { calendar: new Calendar(), rules, firstCheckIns, late }),
    };
    return explained(from, { firstCheckIns, late }).reasons.slice(2);
  };
  assert.equal(reasonOf(days(4)), [
    'Its deadline is not learned yet: 4 of at least 5 periods are known, so the deadline is the end of the period, as with basic alerts.',
  ]);
  assert.equal(reasonOf(days(9)), [
    'Its deadline is learned from its first check-ins of the last 9 periods.',
  ]);
  const longAgo = checkedInAt - 100 * 86_400_000;
  assert.equal(reasonOf(days(9), { since: longAgo, runs: [{ at: longAgo, by: 60_000 }] }), [
    'Its deadline is learned from its first check-ins of the last 9 periods, and from the latest runs before them.',
  ]);
  const first = days(9)[0]!;
  assert.equal(reasonOf(days(9), { since: longAgo, runs: [{ at: first, by: 60_000 }] }), reasonOf(days(9)));
  assert.equal(reasonOf(days(9, 1)), [
    'Its deadline is not learned: its first check-ins of the last 9 periods say too little, so the deadline is the end of the period, as with basic alerts.',
  ]);
  assert.equal(explained(healthy).reasons.length, 2, 'basic alerts say nothing of it');
});

test('an errored snitch says what ends it, and a failed one what is known of its last run', () => {
  const errored = explained({ ...healthy, status: 'errored' });
  assert.equal([errored.deadlineAt, errored.nextAlertAt], [dueAt, dueAt]);
  assert.equal(errored.reasons, [
    'Its last check-in, at 2026-03-10 11:10:00 (Europe/Berlin), reported an error.',
    'A healthy check-in ends this; without any check-in by 2026-03-10 13:00:00 (Europe/Berlin) the team is told that it is missing.',
  ]);
  const failed: SnitchState = { ...healthy, status: 'failed' };
  const last = { type: 'snitch.missing', at: now, flapping: false, deliveries: [] } as const;
  assert.equal(
    explained(failed, {
      telling: { nobody: null, last: { ...last, startedAt: checkedInAt } },
    }).reasons.slice(0, 3),
    [
      'It missed its deadline: the last check-in came at 2026-03-10 11:10:00 (Europe/Berlin).',
      'A run that started at 2026-03-10 11:10:00 (Europe/Berlin) had not ended then.',
      'Unless it checks in before, a reminder comes at 2026-03-10 13:00:00 (Europe/Berlin).',
    ],
  );
  assert.is(explained({ ...failed, lastCheckInAt: null }).reasons[0], 'It missed its deadline.');
});

test('the last alert is mentioned while something is wrong or the snitch is flapping', () => {
  const pause = { until: { kind: 'unpaused' }, remembered: 'healthy', since: null } as const;
  const tells = (status: SnitchState['status'], flapping: boolean) => {
    const state = { ...healthy, status, pause: status === 'paused' ? pause : null };
    const last = { type: 'snitch.errored', at: now, flapping, startedAt: null, deliveries: [] } as const;
    return explained(state, { telling: { nobody: null, last } }).reasons.some((one) =>
      one.startsWith('Nobody could be told of its last alert (errored, 2026-03-10 11:20:00 (Europe/Berlin))'),
    );
  };
  for (const status of ['failed', 'errored', 'paused'] as const) assert.ok(tells(status, false), status);
  for (const status of ['healthy', 'pending'] as const) {
    assert.not(tells(status, false), status);
    assert.ok(tells(status, true), status);
  }
});

test('if an alert would reach nobody, it does not claim that the team is told', () => {
  const telling = { nobody: 'the case has no member', last: null };
  const { reasons } = explained(healthy, { telling });
  assert.match(reasons[1] ?? '', /, it counts as missing\.$/);
  assert.is(reasons.at(-1), 'Nobody would be told of an alert: the case has no member.');
  assert.is(explained({ ...healthy, status: 'failed' }, { telling }).reasons.at(-1), reasons.at(-1));
});

test('a learned deadline that is left out once says why', () => {
  const smart: SnitchState = { ...healthy, interval: 'daily', alertType: 'smart' };
  const firstCheckIns = Array.from({ length: 9 }, (_, day) => checkedInAt - (8 - day) * 86_400_000);
  const atTheEnd = { ...smart, dueAt: Date.parse('2026-03-11T23:00:00Z') };
  assert.equal(explained(atTheEnd, { firstCheckIns }).reasons.slice(2), [
    'Its deadline is not a learned one this time, for its last check-in may count for the next period: the deadline is the end of the period, as with basic alerts.',
  ]);
  const moved = { ...smart, dueAt: time('20:00:00'), movedFrom: time('11:30:00') };
  assert.match(explained(moved, { firstCheckIns }).reasons[2] ?? '', 'is learned from its first check-ins');
  const five = explained(
    { ...atTheEnd, dueAt: time('11:30:00') },
    { firstCheckIns: firstCheckIns.slice(-5) },
  );
  assert.match(five.reasons[2] ?? '', 'of the last 5 periods');
});

test.run();
