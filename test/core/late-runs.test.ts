import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/core/interval.ts';
import { knownUntil, type Learned, NO_LATE_RUNS, withCheckIn } from '../../src/core/late-runs.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse('2025-01-06T00:00:00Z');

const NOTHING: Learned = { firstCheckIns: [], late: NO_LATE_RUNS };

function afterAll(checkIns: readonly number[], interval: Interval = 'daily', timezone = 'UTC'): Learned {
  return checkIns.reduce((learned, at) => withCheckIn(learned, interval, timezone, at), NOTHING);
}

/** A check-in a day at two; `late` maps a day to the hours by which it was late. */
function nights(count: number, late: Record<number, number> = {}): number[] {
  return Array.from({ length: count }, (_, day) => START + day * DAY + (2 + (late[day] ?? 0)) * HOUR);
}

const known = suite('what is remembered: known periods');

known('the last 50, ascending', () => {
  const all = nights(80);
  assert.equal(afterAll(all).firstCheckIns, all.slice(-50));
});

known('one that is delivered late takes its place among them, and one that comes twice counts once', () => {
  const [first, second, third] = nights(3) as [number, number, number];
  assert.equal(afterAll([first, third, second, third]).firstCheckIns, [first, second, third]);
});

known('since when the job is known never moves on, and moves back with what is delivered late', () => {
  const all = nights(500);
  assert.is(afterAll(all).late.since, all[0]);
  assert.is(withCheckIn(afterAll(all.slice(0, 3)), 'daily', 'UTC', START - DAY).late.since, START - DAY);
});

known('a history from before late runs were remembered is known since its first check-in', () => {
  const all = nights(20);
  const { late } = withCheckIn(
    { firstCheckIns: all.slice(0, -1), late: NO_LATE_RUNS },
    'daily',
    'UTC',
    all[19]!,
  );
  assert.is(late.since, all[0]);
});

known('up to an instant, that instant included', () => {
  const all = nights(4);
  const [first, second] = all as [number, number];
  const learned: Learned = {
    firstCheckIns: all,
    late: { since: first, runs: all.map((at) => ({ at, by: HOUR })) },
  };
  assert.equal(knownUntil(learned, second), {
    firstCheckIns: [first, second],
    late: { since: first, runs: [first, second].map((at) => ({ at, by: HOUR })) },
  });
  const only = { at: first, by: HOUR };
  assert.equal(knownUntil(learned, first), { firstCheckIns: [first], late: { since: first, runs: [only] } });
  assert.equal(knownUntil(learned, first - 1), { firstCheckIns: [], late: { since: null, runs: [] } });
});

known.run();

const late = suite('what is remembered: late runs');

late('a run is late where those before it and after it were earlier', () => {
  const all = nights(120, { 30: 5, 31: 3 });
  assert.equal(afterAll(all).late.runs, [
    { at: all[30]!, by: 5 * HOUR },
    { at: all[31]!, by: 3 * HOUR },
  ]);
});

late('it is not known to be one before enough of those after it have come', () => {
  const all = nights(43, { 30: 5 });
  assert.equal(afterAll(all.slice(0, 42)).late.runs, []);
  assert.is(afterAll(all).late.runs.length, 1);
});

late('a job that moves to another time, and back, is not late', () => {
  const moved = Object.fromEntries(Array.from({ length: 40 }, (_, day) => [day + 30, 12]));
  assert.equal(afterAll(nights(120, moved)).late.runs, []);
});

late('a job that drifts is not late by more than what it drifts meanwhile', () => {
  const drifting = nights(120).map((at, day) => at + day * MINUTE);
  assert.ok(afterAll(drifting).late.runs.every(({ by }) => by <= 12 * MINUTE));
});

late('neither the clock of the case nor the host that follows it makes a run late', () => {
  const local = Array.from(
    { length: 200 },
    (_, day) =>
      Temporal.PlainDateTime.from('2025-01-06T03:30').add({ days: day }).toZonedDateTime('Europe/Berlin')
        .epochMilliseconds,
  );
  assert.equal(afterAll(local, 'daily', 'Europe/Berlin').late.runs, []);
  assert.equal(afterAll(nights(200), 'daily', 'Europe/Berlin').late.runs, []);
});

late('the ten latest of the last 300 periods are kept', () => {
  const often = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [20 + 7 * index, index + 1]));
  const all = nights(130, often);
  assert.equal(
    afterAll(all).late.runs.map(({ by }) => by / HOUR),
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  );
  const once = nights(360, { 30: 5 });
  assert.is(afterAll(once.slice(0, 331)).late.runs.length, 1);
  assert.is(afterAll(once.slice(0, 332)).late.runs.length, 0);
});

late('whatever comes, in whatever order: bounded, ascending, and of check-ins that were', () => {
  const minutes = fc.array(fc.integer({ min: 0, max: 200 * 24 * 60 }), { maxLength: 120 });
  fc.assert(
    fc.property(
      minutes,
      fc.constantFrom<Interval>('hourly', '6_hour', 'daily', 'weekly', 'monthly'),
      (offsets, interval) => {
        const all = offsets.map((offset) => START + offset * MINUTE);
        const before = [...all];
        const { firstCheckIns, late: remembered } = afterAll(all, interval, 'America/Havana');
        assert.equal(all, before);
        assert.ok(firstCheckIns.length <= 50 && remembered.runs.length <= 10);
        for (const list of [firstCheckIns, remembered.runs.map(({ at }) => at)]) {
          assert.ok(list.every((at, index) => all.includes(at) && at > (list[index - 1] ?? 0)));
        }
        assert.ok(remembered.runs.every(({ by }) => by > 0));
        assert.is(remembered.since, all.length === 0 ? null : Math.min(...all));
      },
    ),
  );
});

late.run();
