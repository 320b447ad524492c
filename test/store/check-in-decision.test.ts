import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../src/core/interval.ts';
import { decideEnd, type Facts, LEARNED_PERIODS } from '../../src/store/operations/check-in-decision.ts';
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
    ...changes,
  } as StateRow;
}

function decide(row: StateRow, at: number, facts: Partial<Facts> = {}) {
  const rules = { timezone: 'UTC', reminders: 'period', errorNotices: true } as const;
  const known = { rules, calendar: new Calendar(), windows: [], firstCheckIns: [], ...facts };
  const said = { exitStatus: null, message: null, source: null, runId: null, output: null };
  return decideEnd(row, { token: 'abc', now: at, at, outcome: 'healthy', ...said }, 'healthy', known);
}

const decision = suite('the decision about a check-in');

decision('the first of a period moves the deadline, and those after it only the times', () => {
  const first = decide(daily(), TWO);
  assert.equal([first.isFirst, first.isEveryday], [true, false]);
  assert.is(first.snitch.dueAt, utc('2025-07-11T00:00:00'));
  const later = decide(daily({ last_check_in_at: TWO, due_at: first.snitch.dueAt }), TWO + HOUR);
  assert.equal([later.isFirst, later.isEveryday], [false, true]);
  assert.is(later.snitch.lastCheckInAt, TWO + HOUR);
});

decision('a deadline that was moved is set anew even where it is the same instant', () => {
  const moved = { due_at: utc('2025-07-11T00:00:00'), moved_from: utc('2025-07-10T23:00:00') };
  const { snitch, isEveryday } = decide(daily({ last_check_in_at: TWO, ...moved }), TWO + HOUR);
  assert.is(isEveryday, false);
  assert.is(snitch.movedFrom, null);
});

decision('what a smart deadline learns from has the check-in itself', () => {
  const row = daily({ alert_type: 'smart' });
  const before = Array.from({ length: LEARNED_PERIODS }, (_, day) => TWO - (LEARNED_PERIODS - day) * DAY);
  const known = decide(row, TWO + 3 * HOUR, { firstCheckIns: before });
  const written = decide(daily({ ...row, last_check_in_at: TWO + 3 * HOUR }), TWO + 3 * HOUR, {
    firstCheckIns: [...before.slice(1), TWO + 3 * HOUR],
  });
  const without = decide(daily({ ...row, last_check_in_at: TWO + 3 * HOUR }), TWO + 3 * HOUR, {
    firstCheckIns: before,
  });
  assert.equal([known.isFirst, written.isFirst, without.isFirst], [true, false, false]);
  assert.is(known.snitch.dueAt, written.snitch.dueAt);
  assert.is.not(known.snitch.dueAt, without.snitch.dueAt);
});

decision('nothing is learned from minutes', () => {
  const row = daily({ interval: '15_minute', last_check_in_at: TWO, due_at: TWO + 30 * MINUTE });
  assert.is(decide(row, TWO + 20 * MINUTE).isFirst, false);
});

decision.run();
