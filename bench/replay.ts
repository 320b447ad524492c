/** Replays a history through both kinds of deadline, and counts the alerts that each of them would have raised. */
import { Calendar } from '../src/core/interval.ts';
import { type Learned, NO_LATE_RUNS, withCheckIn } from '../src/core/late-runs.ts';
import { smartDeadline } from '../src/core/smart-deadline.ts';
import type { History } from './histories.ts';

export interface Outcome {
  /** Milliseconds from when a missed run would have checked in to the alert. */
  delays: number[];
  /** Alerts between two check-ins before which no run had been missed. */
  falseAlarms: number;
  /** Missed runs after which no alert came before the next check-in. */
  unnoticed: number;
}

export interface Replay {
  checkIns: number;
  basic: Outcome;
  smart: Outcome;
}

export const EMPTY: Replay = {
  checkIns: 0,
  basic: { delays: [], falseAlarms: 0, unnoticed: 0 },
  smart: { delays: [], falseAlarms: 0, unnoticed: 0 },
};

export function replay({ interval, timezone, runs }: History): Replay {
  const result = structuredClone(EMPTY);
  const calendar = new Calendar();
  let learned: Learned = { firstCheckIns: [], late: NO_LATE_RUNS };
  let from: number | null = null;
  let missedAt: number | null = null;
  let basicDue = 0;
  let smartDue = 0;
  for (const { at, missed } of runs) {
    if (missed) {
      if (from !== null) missedAt ??= at;
      continue;
    }
    if (from !== null) {
      judge(result.basic, basicDue, at, missedAt);
      judge(result.smart, smartDue, at, missedAt);
    }
    result.checkIns += 1;
    if (from === null || from < calendar.periodAt(interval, timezone, at).start) {
      learned = withCheckIn(learned, interval, timezone, at);
    }
    from = at;
    missedAt = null;
    basicDue = calendar.periodAfter(interval, timezone, at).end;
    smartDue = smartDeadline(calendar, interval, timezone, learned.firstCheckIns, at, learned.late);
  }
  return result;
}

/** Counts what happened between two check-ins. */
function judge(outcome: Outcome, dueAt: number, checkedInAt: number, missedAt: number | null): void {
  const alarmed = dueAt <= checkedInAt;
  const isFalse = alarmed && (missedAt === null || dueAt < missedAt);
  if (isFalse) outcome.falseAlarms += 1;
  else if (alarmed && missedAt !== null) outcome.delays.push(dueAt - missedAt);
  else if (missedAt !== null) outcome.unnoticed += 1;
}

export function sum(replays: readonly Replay[]): Replay {
  const add = (a: Outcome, b: Outcome): Outcome => ({
    delays: [...a.delays, ...b.delays],
    falseAlarms: a.falseAlarms + b.falseAlarms,
    unnoticed: a.unnoticed + b.unnoticed,
  });
  return replays.reduce(
    (total, replay) => ({
      checkIns: total.checkIns + replay.checkIns,
      basic: add(total.basic, replay.basic),
      smart: add(total.smart, replay.smart),
    }),
    EMPTY,
  );
}

/** The delay that `share` of the delays do not exceed, in milliseconds. */
export function percentile(delays: readonly number[], share: number): number {
  const sorted = delays.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}
