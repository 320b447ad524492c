/** Says in words why a deadline is where it is: what was learned, and which blind windows postponed it. */
import { durationInWords } from '../../text/durations.ts';
import type { BlindWindow } from '../blind-window.ts';
import type { Calendar } from '../interval.ts';
import { lengthenedBy } from '../job-schedule.ts';
import type { LateRuns } from '../late-runs.ts';
import { LEAST_KNOWN, smartDeadlineIn } from '../smart-deadline.ts';
import type { SnitchState } from '../snitch.ts';

/** A blind window that postponed a deadline, and to when. */
export interface Postponement extends BlindWindow {
  /** Null for a window from before this was kept. */
  dueAt: number | null;
}

export interface DeadlineFacts {
  calendar: Calendar;
  timezone: string;
  /** Ascending: the first check-in of each of the last periods. */
  firstCheckIns: readonly number[];
  late: LateRuns | undefined;
  /** Those of the current deadline, oldest first; the oldest may be missing. */
  postponements: readonly Postponement[];
  /** An instant in words. */
  local: (at: number) => string;
}

/** How many windows are named; the others are counted. */
const NAMED = 5;

/** One sentence each, for a snitch that awaits a check-in. */
export function deadlineReasons(state: SnitchState, facts: DeadlineFacts): string[] {
  return [...learning(state, facts), ...postponing(state, facts)];
}

function learning(state: SnitchState, { calendar, timezone, firstCheckIns, late }: DeadlineFacts): string[] {
  const { interval, alertType, dueAt } = state;
  if (alertType !== 'smart' || dueAt === null) return [];
  const known = firstCheckIns.length;
  const basic = 'the deadline is the end of the period, as with basic alerts';
  if (known < LEAST_KNOWN) {
    return [
      `Its deadline is not learned yet: ${known} of at least ${LEAST_KNOWN} periods are known, so ${basic}.`,
    ];
  }
  const deadline = (state.movedFrom ?? dueAt) - lengthenedBy(state);
  const period = calendar.periodAt(interval, timezone, deadline - 1);
  const isBasic = deadline === period.end;
  if (!isBasic) {
    const before = late?.runs.some(({ at }) => at < (firstCheckIns[0] ?? at));
    const also = before ? ', and from the latest runs before them' : '';
    return [`Its deadline is learned from its first check-ins of the last ${known} periods${also}.`];
  }
  return smartDeadlineIn(period, interval, timezone, firstCheckIns, null, late) === period.end
    ? [
        `Its deadline is not learned: its first check-ins of the last ${known} periods say too little, so ${basic}.`,
      ]
    : [
        `Its deadline is not a learned one this time, for its last check-in may count for the next period: ${basic}.`,
      ];
}

function postponing({ postponed }: SnitchState, { postponements, local }: DeadlineFacts): string[] {
  if (postponed === 0) return [];
  const times = postponed === 1 ? 'once' : postponed === 2 ? 'twice' : `${postponed} times`;
  const because = 'because the service was blind and could not have heard the check-in in time';
  const shown = postponements.slice(-NAMED);
  const left = postponed - shown.length;
  return [
    `Its deadline was postponed ${times}, ${because}.`,
    ...(left > 0 && shown.length > 0
      ? [`The first ${left === 1 ? 'window is' : `${left} windows are`} left out here.`]
      : []),
    ...shown.map(({ start, end, dueAt }) => {
      const to = dueAt === null ? '' : `; postponed to ${local(dueAt)}`;
      return `Blind from ${local(start)} to ${local(end)} (${durationInWords(end - start)})${to}.`;
    }),
  ];
}
