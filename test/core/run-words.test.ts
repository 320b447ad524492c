/** How runs are described, in explanations and in a few words. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runReasons } from '../../src/core/explanation/run-reasons.ts';
import { runningLines } from '../../src/core/running.ts';
import { newSnitchState, type SnitchState } from '../../src/core/snitch.ts';

const HOUR = 3_600_000;
const test = suite('words about runs');

const plain: SnitchState = { ...newSnitchState('daily', 'basic', { maxRuntime: 7_200 }), status: 'healthy' };
const known = { open: [], usual: null };
const local = (at: number) => `<${at / HOUR}>`;

function withOpen(...open: NonNullable<SnitchState['runs']>['open']): SnitchState {
  return { ...plain, runs: { dueAt: null, open } };
}

test('each run that is watched says when it overruns', () => {
  const a = { id: 'a', startedAt: HOUR, from: HOUR };
  assert.equal(runReasons(withOpen(a), { ...known, usual: 720_000 }, { now: 2 * HOUR, local }), [
    'A run that started at <1> is going on: it may take 2 h, and overruns at <3>.',
    'Its runs usually take 12 min.',
  ]);
  assert.equal(runReasons(withOpen(a), known, { now: 3 * HOUR, local }), [
    'A run that started at <1> has not ended: it may take 2 h.',
  ]);
  assert.equal(runReasons(withOpen({ ...a, excused: true }), known, { now: 2 * HOUR, local }), [
    'A run that started at <1> may have ended while the service was blind: it raises no alarm.',
  ]);
});

test('the run that is the reason is not told twice', () => {
  const failed: SnitchState = {
    ...withOpen({ id: 'a', startedAt: HOUR, from: HOUR }),
    status: 'failed',
    reason: { kind: 'overran', startedAt: HOUR },
  };
  assert.equal(runReasons(failed, known, { now: 4 * HOUR, local }), []);
});

test('of many runs five are named', () => {
  const open = Array.from({ length: 7 }, (_, index) => ({ id: `${index}`, startedAt: HOUR, from: HOUR }));
  const said = runReasons(withOpen(...open), known, { now: HOUR, local });
  assert.equal([said.length, said.at(-1)], [6, '2 more runs are going on.']);
  const few = runReasons(withOpen(...open.slice(0, 5)), known, { now: HOUR, local });
  assert.equal(few, said.slice(0, 5), 'none is left to be counted');
  const wire = open.map(() => ({ started_at: 'then', overruns_at: null }));
  const lines = runningLines({ open: wire, usual_ms: null }, (iso) => iso, 0);
  assert.equal([lines.length, lines[0], lines.at(-1)], [6, 'since then', 'and 2 more']);
  const five = runningLines({ open: wire.slice(0, 5), usual_ms: null }, (iso) => iso, 0);
  assert.equal(five, Array(5).fill('since then'), 'and no more');
});

test('a run says in a few words since when, how long it usually takes, and when it has to end', () => {
  const one = (overruns_at: string | null, usual_ms: number | null) =>
    runningLines(
      { open: [{ started_at: '03:00', overruns_at }], usual_ms },
      (iso) => iso,
      Date.parse('2026-01-01'),
    );
  assert.equal(one(null, 720_000), ['since 03:00, usually 12 min']);
  assert.equal(one('2026-01-02', 5), ['since 03:00, usually less than a second, overruns at 2026-01-02']);
  assert.equal(one('2026-01-01', null), ['since 03:00, should have ended by 2026-01-01']);
  assert.equal(
    runningLines(undefined, (iso) => iso, 0),
    [],
  );
});

test.run();
