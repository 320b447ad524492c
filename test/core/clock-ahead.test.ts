/** Times that were set while the clock was ahead are corrected, and those that may be right are left alone. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearEnough, setAnew } from '../../src/core/clock-ahead.ts';
import type { DeadlineContext } from '../../src/core/deadline.ts';
import { addIntervals, Calendar, INTERVALS } from '../../src/core/interval.ts';
import { newSnitchState, type Reminders, type SnitchState } from '../../src/core/snitch.ts';

const test = suite('a clock that ran ahead');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-03-10T10:20:00Z');

function contextOf(reminders: Reminders = 'period', timezone = 'UTC'): DeadlineContext {
  return { calendar: new Calendar(), rules: { timezone, reminders, errorNotices: true }, firstCheckIns: [] };
}

/** A daily snitch that checked in at noon of the day before. */
const daily: SnitchState = {
  ...newSnitchState('daily', 'basic'),
  status: 'healthy',
  checkedInAt: NOW - DAY,
  lastCheckInAt: NOW - DAY,
  dueAt: Date.parse('2026-03-11T00:00Z'),
  postponed: 2,
  movedFrom: NOW,
};
const anew = (changes: Partial<SnitchState>, context = contextOf()) =>
  setAnew({ ...daily, ...changes }, NOW, context);

test('a time that is near enough to be right stays', () => {
  assert.is(anew({}), null);
  for (const dueAt of [null, NOW + DAY, NOW + 2 * DAY - 2 * HOUR, NOW + 2 * DAY]) {
    assert.is(anew({ dueAt }), null, String(dueAt));
  }
});

test('a deadline that is more than two periods away counts from now', () => {
  const dueAt = NOW + 2 * DAY + 1;
  assert.equal(anew({ dueAt }), {
    ...daily,
    dueAt: Date.parse('2026-03-12T00:00Z'),
    postponed: 0,
    movedFrom: null,
  });
  assert.is(anew({ dueAt, status: 'errored' })?.dueAt, Date.parse('2026-03-12T00:00Z'));
});

test('two periods are those of the calendar: days of 25 hours, and months of 31 days', () => {
  const before = Date.parse('2026-10-24T12:00Z');
  const berlin = contextOf('period', 'Europe/Berlin');
  const due = (dueAt: number) => setAnew({ ...daily, lastCheckInAt: before, dueAt }, before, berlin);
  assert.is(due(before + 2 * DAY + HOUR), null);
  assert.ok(due(before + 2 * DAY + HOUR + 1));
  const july = Date.parse('2026-07-01T12:00Z');
  const monthly = (dueAt: number) =>
    setAnew({ ...daily, interval: 'monthly', lastCheckInAt: july, dueAt }, july, contextOf());
  assert.is(monthly(july + 62 * DAY), null);
  assert.ok(monthly(july + 62 * DAY + 1));
  const february = Date.parse('2026-02-01T12:00Z');
  const short = (dueAt: number) =>
    setAnew({ ...daily, interval: 'monthly', lastCheckInAt: february, dueAt }, february, contextOf());
  assert.is(short(february + 59 * DAY), null);
  assert.ok(short(february + 59 * DAY + 1), 'two short months');
});

test('a reminder can be as far away as the reminder interval of the case', () => {
  const failed = (interval: SnitchState['interval'], distance: number, reminders: Reminders) =>
    anew({ status: 'failed', interval, dueAt: NOW + distance }, contextOf(reminders))?.dueAt ?? null;
  assert.is(failed('hourly', DAY, 'daily'), null);
  assert.is(failed('hourly', DAY + 1, 'daily'), NOW + DAY);
  assert.is(failed('hourly', 2 * HOUR, 'hourly'), null);
  assert.is(failed('hourly', 2 * HOUR + 1, 'hourly'), NOW + HOUR);
  assert.is(failed('15_minute', 1.25 * HOUR, 'period'), null, 'at most one an hour, at the end of a period');
  assert.is(failed('15_minute', 1.25 * HOUR + 1, 'period'), Date.parse('2026-03-10T11:30Z'));
  assert.is(failed('weekly', 13 * DAY, 'daily'), null);
  assert.is(failed('daily', 3 * DAY, 'off'), null, 'and there is none where it wants none');
});

test('with a schedule a reminder comes a run after the next one, at the latest', () => {
  const schedule = { cron: '0 * * * *' };
  const due = (dueAt: number) => anew({ schedule, status: 'failed', dueAt })?.dueAt ?? null;
  // The next runs are at 11:00 and 12:00; what fell due at 12:00 is reminded of at 13:00.
  assert.is(due(Date.parse('2026-03-10T12:00Z')), null);
  assert.is(due(Date.parse('2026-03-10T12:30Z')), null, 'it may be right');
  const ahead = due(NOW + 30 * DAY);
  assert.ok(ahead !== null && ahead > NOW && ahead <= NOW + 3 * HOUR, String(ahead));
});

test('a held alert whose schedule has no run left is looked at again now, and not never', () => {
  const [missed, wellSince] = [NOW - DAY, NOW - HOUR];
  const held = { by: 1, name: 'db', since: missed, missed, previous: 'healthy', wellSince } as const;
  const schedule = { calendar: '2026-03-01 03:00' };
  const states = [held, null].map((one) =>
    anew({ schedule, grace: 60, status: 'failed', held: one, dueAt: NOW + 90 * DAY }),
  );
  assert.equal(
    states.map((state) => state?.dueAt),
    [NOW, null],
  );
});

test('the end that a person gave a pause stays, and a pending snitch awaits nothing', () => {
  const dueAt = NOW + 300 * DAY;
  const pause = { until: { kind: 'time', at: dueAt }, remembered: 'healthy', since: NOW } as const;
  assert.is(anew({ status: 'paused', dueAt, pause }), null);
  assert.is(anew({ status: 'pending', dueAt }), null);
});

test('a check-in that lies ahead by more than a minute happened now at the latest', () => {
  const ahead = NOW + MINUTE + 1;
  const state = anew({ lastCheckInAt: ahead, checkedInAt: ahead });
  assert.equal([state?.lastCheckInAt, state?.checkedInAt, state?.dueAt], [NOW, NOW, daily.dueAt]);
  assert.equal([state?.postponed, state?.movedFrom], [2, NOW], 'its deadline is as it was');
  const errored = anew({ lastCheckInAt: ahead, checkedInAt: NOW - 5 });
  assert.equal([errored?.lastCheckInAt, errored?.checkedInAt], [NOW, NOW - 5]);
  assert.is(anew({ lastCheckInAt: ahead, checkedInAt: null })?.checkedInAt, null);
  assert.is(
    anew({ lastCheckInAt: NOW + MINUTE, checkedInAt: NOW + MINUTE }),
    null,
    'a little ahead is not worth it',
  );
  assert.is(anew({ lastCheckInAt: null, checkedInAt: null }), null);
});

test('a pause that begins later than now began now', () => {
  const pause = { until: { kind: 'unpaused' }, remembered: 'healthy', since: NOW + 1 } as const;
  const state = anew({ status: 'paused', dueAt: null, pause });
  assert.equal(state?.pause, { ...pause, since: NOW });
  assert.is(state?.lastCheckInAt, daily.lastCheckInAt);
  assert.is(anew({ status: 'paused', dueAt: null, pause: { ...pause, since: NOW } }), null);
  assert.is(anew({ status: 'paused', dueAt: null, pause: { ...pause, since: null } }), null);
});

test('what is near enough without the calendar is no farther than two periods, in any zone and season', () => {
  for (const interval of INTERVALS) {
    for (const timezone of [
      'UTC',
      'Europe/Berlin',
      'Australia/Lord_Howe',
      'America/Sao_Paulo',
      'Pacific/Apia',
    ]) {
      for (let at = NOW; at < NOW + 400 * DAY; at += 7 * HOUR) {
        assert.ok(
          nearEnough(interval, at) <= addIntervals(interval, timezone, at, 2),
          `${interval} ${timezone} ${at}`,
        );
      }
    }
  }
});

test.run();
