import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../src/core/interval.ts';
import { KNOWN_PERIODS, NO_LATE_RUNS, NOTHING_LEARNED } from '../../src/core/late-runs.ts';
import { type CheckInDecision, decideEnd, type Facts } from '../../src/store/operations/check-in-decision.ts';
import type { StateRow } from '../../src/store/operations/states.ts';
import { DAY, HOUR, MINUTE, utc } from './fixture.ts';

/** A Wednesday, two hours after midnight. */
const TWO = utc('2025-07-09T02:00:00');

/** A daily snitch that checked in the day before, at two as always. */
function daily(changes: Partial<StateRow> = {}): StateRow {
  return {
    ...{ token: 'abc', case_id: 'case', interval: 'daily', alert_type: 'basic', status: 'healthy' },
    ...{ checked_in_at: TWO - DAY, last_check_in_at: TWO - DAY, due_at: utc('2025-07-10T00:00:00') },
    ...{ pause_kind: null, pause_until: null, remembered: null, paused_at: null, thread_id: null },
    ...{ postponed: 0, moved_from: null, open_start_at: null, last_check_in_id: 1, check_in_count: 1 },
    ...{ id: 1, look_at: utc('2025-07-10T00:00:00'), schedule: null, timezone: null, grace: null },
    ...{ reason: null, max_runtime: null, runs: null, acknowledged: null, needs: null },
    ...{ run_rules: null, errors_in_row: null },
    ...changes,
  } as StateRow;
}

function decide(row: StateRow, at: number, facts: Partial<Facts> = {}) {
  const rules = { timezone: 'UTC', reminders: 'period', errorNotices: true } as const;
  const known = { rules, calendar: new Calendar(), windows: [], learned: NOTHING_LEARNED, ...facts };
  const said = { exitStatus: null, message: null, source: null, runId: null, output: null };
  return decideEnd(row, { token: 'abc', now: at, at, outcome: 'healthy', ...said }, 'healthy', known);
}

function isLearned({ learned }: CheckInDecision, at: number): boolean {
  return learned?.firstCheckIns.includes(at) ?? false;
}

const decision = suite('the decision about a check-in');

decision('the first of a period moves the deadline, and leaves the index of the sweep alone', () => {
  const first = decide(daily(), TWO);
  assert.equal([isLearned(first, TWO), first.isEveryday], [true, true]);
  assert.is(first.snitch.dueAt, utc('2025-07-11T00:00:00'));
  const later = decide(daily({ last_check_in_at: TWO, due_at: first.snitch.dueAt }), TWO + HOUR);
  assert.equal([isLearned(later, TWO + HOUR), later.isEveryday], [false, true]);
  assert.is(later.snitch.lastCheckInAt, TWO + HOUR);
});

decision('a deadline before the time at which the sweep would look moves that time', () => {
  const postponed = { due_at: utc('2025-07-14T00:00:00'), look_at: utc('2025-07-14T00:00:00') };
  const { snitch, isEveryday } = decide(daily(postponed), TWO);
  assert.is(snitch.dueAt, utc('2025-07-11T00:00:00'));
  assert.is(isEveryday, false);
});

decision('a deadline that was moved is set again even if it is the same instant', () => {
  const moved = { due_at: utc('2025-07-11T00:00:00'), moved_from: utc('2025-07-10T23:00:00') };
  assert.is(decide(daily({ last_check_in_at: TWO, ...moved }), TWO + HOUR).snitch.movedFrom, null);
});

decision('what a smart deadline learns from has the check-in itself', () => {
  const before = Array.from({ length: KNOWN_PERIODS }, (_, day) => TWO - (KNOWN_PERIODS - day) * DAY);
  const late = TWO + 3 * HOUR;
  const smart = (known: number[], changes: Partial<StateRow> = {}) =>
    decide(daily({ alert_type: 'smart', ...changes }), late, {
      learned: { firstCheckIns: known, late: NO_LATE_RUNS },
    });
  const learned = smart(before);
  assert.equal(learned.learned?.firstCheckIns, [...before.slice(1), late]);
  const written = smart([...before.slice(1), late], { last_check_in_at: late });
  const without = smart(before, { last_check_in_at: late });
  assert.equal([isLearned(written, late), isLearned(without, late)], [false, false]);
  assert.is(learned.snitch.dueAt, written.snitch.dueAt);
  assert.is.not(learned.snitch.dueAt, without.snitch.dueAt);
});

decision('nothing is learned from minutes', () => {
  const row = daily({ interval: '15_minute', last_check_in_at: TWO, due_at: TWO + 30 * MINUTE });
  assert.is(isLearned(decide(row, TWO + 20 * MINUTE), TWO + 20 * MINUTE), false);
});

decision.run();
