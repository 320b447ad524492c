/**
 * What a check-in does to its snitch. Pure: what it needs is read before, and what it decides is written afterwards, so
 * that a database can decide one check-in at a time or many at once.
 */
import type { AlertDecision } from '../../core/alert.ts';
import type { BlindWindow } from '../../core/blind-window.ts';
import type { CheckIn, CheckInOutcome } from '../../core/check-in.ts';
import { type Calendar, isMinuteInterval } from '../../core/interval.ts';
import { type Learned, NOTHING_LEARNED, withCheckIn } from '../../core/late-runs.ts';
import { errorReported, isSameReason, type Reason } from '../../core/reason.ts';
import type { CaseRules, SnitchState } from '../../core/snitch.ts';
import { transition } from '../../core/transition.ts';
import type { KeptWindow } from './blind-windows.ts';
import { isLookedAt, type StateRow, toState } from './states.ts';

/** What is known when a run ends. */
export interface Facts {
  rules: CaseRules;
  calendar: Calendar;
  /** The blind windows that ended after the time of a check-in that arrived late, in the order of their opening. */
  windows: readonly KeptWindow[];
  /** The silences since then, up to now. */
  silences?: readonly BlindWindow[];
  /** `NOTHING_LEARNED` if `asksForHistory` says that it is not needed. */
  learned: Learned;
  /** Why a run that its job reported as a success counts as an error. */
  judged?: Reason | null;
}

export interface CheckInDecision {
  /** The state after the check-in. */
  snitch: SnitchState;
  alert: AlertDecision | null;
  /** The windows that postponed the deadline of a check-in that arrived late. */
  postponedBy: readonly KeptWindow[];
  /** What is known of the job including this check-in; null unless it is the first of its period. */
  learned: Learned | null;
  /** Whether it changes only times, none of which is in an index: nearly every check-in does. */
  isEveryday: boolean;
}

export function isEnd(outcome: CheckInOutcome): outcome is 'healthy' | 'error' {
  return outcome === 'healthy' || outcome === 'error';
}

/** A line of the log, or a start that nothing watches, changes no state. */
export function decideNoted(row: StateRow): CheckInDecision {
  return { snitch: toState(row), alert: null, postponedBy: [], learned: null, isEveryday: true };
}

/** The start of a run whose length is watched. */
export function decideStart(
  row: StateRow,
  { at, now, runId }: CheckIn,
  facts: Pick<Facts, 'rules' | 'calendar'>,
): CheckInDecision {
  const trigger = { kind: 'start', runId, ...(at < now ? { at } : {}) } as const;
  const { snitch } = transition(toState(row), trigger, { now, ...facts, ...NOTHING_LEARNED });
  return { snitch, alert: null, postponedBy: [], learned: null, isEveryday: false };
}

/** Whether the decision depends on what is learned, or adds to it. */
export function asksForHistory(
  row: StateRow,
  { at }: Pick<CheckIn, 'at'>,
  { rules, calendar, windows, silences = [] }: Omit<Facts, 'learned'>,
): boolean {
  return (
    row.alert_type === 'smart' ||
    windows.length > 0 ||
    silences.length > 0 ||
    isFirstOfPeriod(row, calendar, rules.timezone, at)
  );
}

export function decideEnd(
  row: StateRow,
  { at, now, exitStatus, runId }: CheckIn,
  outcome: 'healthy' | 'error',
  { rules, calendar, windows, silences = [], learned, judged = null }: Facts,
): CheckInDecision {
  const isFirst = isFirstOfPeriod(row, calendar, rules.timezone, at);
  const known = isFirst ? withCheckIn(learned, row.interval, rules.timezone, at) : learned;
  const before = toState(row);
  const why = outcome === 'error' ? { why: judged ?? errorReported(exitStatus) } : {};
  const trigger = { kind: 'checkIn', outcome, runId, ...why, ...(at < now ? { at } : {}) } as const;
  const all = silences.length === 0 ? windows : [...windows, ...silences].sort((a, b) => a.end - b.end);
  const context = { now, calendar, rules, windows: all, ...known };
  const { snitch: after, alert, postponedBy = [] } = transition(before, trigger, context);
  const snitch = withoutCounted(after, postponedBy.filter((window) => silences.includes(window)).length);
  return {
    snitch,
    alert,
    postponedBy: windows.filter((window) => postponedBy.includes(window)),
    learned: isFirst ? known : null,
    isEveryday: movesOnlyTimes(before, snitch) && isLookedAt(row, snitch.dueAt),
  };
}

/** Silences move a deadline as blind windows do, but are not counted with them. */
function withoutCounted(snitch: SnitchState, count: number): SnitchState {
  return count === 0 ? snitch : { ...snitch, postponed: snitch.postponed - count };
}

function movesOnlyTimes(before: SnitchState, after: SnitchState): boolean {
  return (
    after.status === before.status &&
    after.pause === before.pause &&
    after.errorsInRow === before.errorsInRow &&
    after.runs === before.runs &&
    isSameReason(before.reason, after.reason)
  );
}

/** Minute intervals are too short to learn anything from, and with a schedule nothing is learned. */
function isFirstOfPeriod(row: StateRow, calendar: Calendar, timezone: string, at: number): boolean {
  if (row.schedule !== null || isMinuteInterval(row.interval)) return false;
  const { last_check_in_at: last } = row;
  return last === null || last < Math.min(at, calendar.periodAt(row.interval, timezone, at).start);
}
