/** The runs that are open: what each trigger leaves of them, whatever comes in whatever order. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../src/core/interval.ts';
import {
  afterBlindness,
  MOST_OPEN,
  middleOf,
  overranBy,
  overrunsAt,
  withoutEnded,
  withStart,
} from '../../src/core/runs.ts';
import { newSnitchState, type SnitchState } from '../../src/core/snitch.ts';
import { type Trigger, transition } from '../../src/core/transition.ts';
import { cases } from '../cases.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2025-07-09T10:20:00Z');
const LIMITED = { maxRuntime: 7_200 };

const test = suite('open runs');

test('the middle of some lengths is the higher one of two, and none of nothing', () => {
  assert.is(middleOf([30, 10, 20, 50, 40]), 30);
  assert.is(middleOf([100, 9]), 100);
  assert.is(middleOf([]), null);
});

test('a start of the same id takes the place of the one before, unless it is older', () => {
  const first = withStart(LIMITED, [], { id: 'a', at: 10, now: 10 });
  assert.equal(withStart(LIMITED, first, { id: 'a', at: 20, now: 20 }), [
    { id: 'a', startedAt: 20, from: 20 },
  ]);
  assert.is(withStart(LIMITED, first, { id: 'a', at: 5, now: 20 }), first);
  // The time of one that is reported late counts from then.
  assert.equal(withStart(LIMITED, [], { id: null, at: 5, now: 20 }), [{ id: null, startedAt: 5, from: 20 }]);
});

test('an end that was kept back ends no run that began after it', () => {
  const open = withStart(LIMITED, [], { id: null, at: 10, now: 10 });
  assert.is(withoutEnded(open, { id: null, at: 5, isLate: true }), open);
  assert.equal(withoutEnded(open, { id: null, at: 10, isLate: true }), []);
  // A clock that was set back says nothing about the order.
  assert.equal(withoutEnded(open, { id: null, at: 5, isLate: false }), []);
});

test('a blind window excuses a run, or gives it the time back, or changes nothing', () => {
  const run = { id: null, startedAt: 0, from: 0 };
  const after = (start: number, end: number, usual: { shortest: number; longest: number } | null) =>
    afterBlindness(run, LIMITED, { start, end, least: MINUTE }, usual);
  const usual = { shortest: 10 * MINUTE, longest: 12 * MINUTE };
  assert.is(after(-HOUR, -1, null), run, 'over before the start');
  assert.equal(after(-HOUR, 0, null), { ...run, excused: true });
  assert.equal(after(2 * HOUR, 3 * HOUR, null), { ...run, excused: true });
  assert.is(after(2 * HOUR + 1, 3 * HOUR, null), run, 'it had overrun before');
  assert.is(after(0, 9 * MINUTE - 1, usual), run, 'before any end was expected');
  assert.equal(after(0, 9 * MINUTE, usual), { ...run, excused: true });
  assert.equal(after(13 * MINUTE, HOUR, usual), { ...run, excused: true });
  assert.is(after(13 * MINUTE + 1, HOUR, usual), run, 'it took longer than any before');
  assert.equal(after(2 * HOUR - MINUTE, 2 * HOUR, usual), { ...run, from: MINUTE });
  assert.equal(after(2 * HOUR - 1, 2 * HOUR, usual), { ...run, from: MINUTE }, 'at least a minute');
  assert.equal(after(HOUR, 3 * HOUR, usual), { ...run, from: 2 * HOUR });
});

test('of several runs that take too long the first one is named, whatever the order in which they are kept', () => {
  const plain: SnitchState = { ...newSnitchState('hourly', 'basic', LIMITED), status: 'healthy' };
  const [first, second] = [10, 20].map((at) => ({ id: `${at}`, startedAt: at, from: at }));
  assert.ok(first && second);
  const over = (now: number) => overranBy(plain, [second, first], now)?.id;
  assert.equal(
    [10, 20, 30].map((at) => over(at + 2 * HOUR)),
    ['10', '10', '10'],
  );
  assert.is(over(10 + 2 * HOUR - 1), undefined);
  assert.is(overranBy(plain, [{ ...first, excused: true }, second], 30 + 2 * HOUR)?.id, '20');
});

test('an alarm about a run that takes too long says that it ended only once that run has ended', () => {
  const rules = { timezone: 'UTC', reminders: 'off', errorNotices: true } as const;
  const calendar = new Calendar();
  let now = START;
  let state: SnitchState = newSnitchState('hourly', 'basic', { ...LIMITED, failuresBeforeAlert: 3 });
  const after = (wait: number, trigger: Trigger) => {
    now += wait;
    state = transition(state, trigger, { now, calendar, rules, firstCheckIns: [] }).snitch;
    return state.reason?.kind === 'overran' ? (state.reason.endedAt ?? 'open') : state.status;
  };
  const failed = (runId: string): Trigger => ({ kind: 'checkIn', outcome: 'error', runId });
  assert.is(after(0, { kind: 'checkIn', outcome: 'healthy' }), 'healthy');
  assert.is(after(MINUTE, { kind: 'start', runId: 'a' }), 'healthy');
  assert.is(after(2 * HOUR, { kind: 'due' }), 'open');
  assert.is(after(MINUTE, { kind: 'start', runId: 'b' }), 'open');
  assert.is(after(MINUTE, failed('b')), 'open', 'another run has ended');
  assert.is(after(MINUTE, failed('a')), now);
});

const id = fc.constantFrom(null, 'a', 'b', 'c');
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('start' as const), runId: id }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('checkIn' as const),
      runId: id,
      outcome: fc.constantFrom('healthy' as const, 'error' as const),
    }),
  },
  { weight: 6, arbitrary: fc.constant({ kind: 'due' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'pause' as const, until: { kind: 'unpaused' as const } }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'unpause' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rescheduled' as const }) },
);

test('whatever happens, a run is told at most once, never when it has ended, and none that hangs is forgotten', () => {
  const steps = fc.array(fc.tuple(event, fc.integer({ min: 1, max: 3 * HOUR })), { maxLength: 60 });
  const rules = { timezone: 'UTC', reminders: 'off', errorNotices: true } as const;
  const calendar = new Calendar();
  fc.assert(
    fc.property(steps, (all) => {
      let state: SnitchState = newSnitchState('hourly', 'basic', LIMITED);
      let now = START;
      const told = new Set<string>();
      for (const [trigger, wait] of all as [Trigger, number][]) {
        now += wait;
        if (trigger.kind === 'pause' && state.status === 'pending') continue;
        const before = state;
        const { snitch, alert } = transition(before, trigger, { now, calendar, rules, firstCheckIns: [] });
        state = snitch;
        if (alert?.type === 'snitch.missing') {
          const { reason } = state;
          assert.ok(reason, 'an alarm has a reason');
          if (reason.kind === 'overran') {
            const run = before.runs?.open.find(({ startedAt }) => startedAt === reason.startedAt);
            assert.ok(run && overrunsAt(run, before) <= now, 'it is open and took too long');
            assert.not(told.has(`${run.id} ${run.startedAt}`), 'it is told once');
            told.add(`${run.id} ${run.startedAt}`);
          }
        }
        const open = state.runs?.open ?? [];
        assert.ok(open.length <= MOST_OPEN);
        assert.ok(state.runs === null || open.length > 0);
        assert.is(new Set(open.map((run) => run.id)).size, open.length);
        if (state.status === 'healthy' || state.status === 'errored') {
          for (const run of open)
            assert.ok((state.dueAt ?? 0) <= overrunsAt(run, state), 'the sweep looks in time');
        }
        if (state.status !== 'failed' && state.status !== 'errored' && !state.pause)
          assert.is(state.reason, null);
      }
    }),
    { numRuns: cases(500) },
  );
});

test.run();
