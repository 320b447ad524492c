/**
 * What a check-in makes of its snitch. Pure: what it needs to know is read before, and what it decides is written
 * after, so that a database may decide one check-in at a time or many at once.
 */
import type { AlertDecision } from '../../core/alert.ts';
import type { CheckIn, CheckInOutcome } from '../../core/check-in.ts';
import { type Calendar, isMinuteInterval } from '../../core/interval.ts';
import type { CaseRules, SnitchState } from '../../core/snitch.ts';
import { transition } from '../../core/transition.ts';
import type { KeptWindow } from './blind-windows.ts';
import { packInstants } from './packed-instants.ts';
import { historyOf, isLookedAt, type StateRow, toState } from './states.ts';

/** How many periods smart deadlines learn from. */
export const LEARNED_PERIODS = 50;

/** What is known when a run ended. */
export interface Facts {
  rules: CaseRules;
  calendar: Calendar;
  /** Those that ended after a check-in that came late, in the order in which they were opened. */
  windows: readonly KeptWindow[];
}

export interface CheckInDecision {
  /** The state after the check-in. */
  snitch: SnitchState;
  alert: AlertDecision | null;
  /** The windows that postponed the deadline of a check-in that came late. */
  postponedBy: readonly KeptWindow[];
  /** The first check-ins of the last periods, packed: with this one, where it is the first of its own. */
  firstCheckIns: Uint8Array | null;
  /** Whether nothing changes but times that no index has: nearly always. */
  isEveryday: boolean;
}

export function isEnd(outcome: CheckInOutcome): outcome is 'healthy' | 'error' {
  return outcome === 'healthy' || outcome === 'error';
}

/** A start or a line of the log changes no state. */
export function decideNoted(row: StateRow): CheckInDecision {
  const { first_check_ins: firstCheckIns } = row;
  return { snitch: toState(row), alert: null, postponedBy: [], firstCheckIns, isEveryday: true };
}

export function decideEnd(
  row: StateRow,
  { at, now }: CheckIn,
  outcome: 'healthy' | 'error',
  { rules, calendar, windows }: Facts,
): CheckInDecision {
  const isFirst = isFirstOfPeriod(row, calendar, rules.timezone, at);
  const isAsked = isFirst || row.alert_type === 'smart' || windows.length > 0;
  const known = isAsked ? historyOf(row) : [];
  const history = isFirst ? withFirst(known, at) : known;
  const before = toState(row);
  const trigger = { kind: 'checkIn', outcome, ...(at < now ? { at } : {}) } as const;
  const context = { now, calendar, rules, firstCheckIns: history, windows };
  const { snitch, alert, postponedBy = [] } = transition(before, trigger, context);
  return {
    snitch,
    alert,
    postponedBy: windows.filter((window) => postponedBy.includes(window)),
    firstCheckIns: isFirst ? packInstants(history) : row.first_check_ins,
    isEveryday: movesOnlyTimes(before, snitch) && isLookedAt(row, snitch.dueAt),
  };
}

function movesOnlyTimes(before: SnitchState, after: SnitchState): boolean {
  return after.status === before.status && after.pause === before.pause;
}

/** Minutes are too short to learn anything from. */
function isFirstOfPeriod(row: StateRow, calendar: Calendar, timezone: string, at: number): boolean {
  if (isMinuteInterval(row.interval)) return false;
  const { last_check_in_at: last } = row;
  return last === null || last < Math.min(at, calendar.periodAt(row.interval, timezone, at).start);
}

function withFirst(firstCheckIns: readonly number[], at: number): number[] {
  const others = firstCheckIns.filter((other) => other !== at);
  return [...others, at].sort((one, other) => one - other).slice(-LEARNED_PERIODS);
}
