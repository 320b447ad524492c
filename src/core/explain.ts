/** Says in words what a snitch waits for, and why it alerts or is silent. */
import { deadlineReasons, type Postponement } from './deadline-reasons.ts';
import type { Calendar, Period } from './interval.ts';
import type { CaseRules, SnitchState } from './snitch.ts';

export interface Explanation {
  /** The period that `now` lies in. */
  period: Period;
  /** By when the next check-in is expected; null while none is awaited. */
  deadlineAt: number | null;
  /** When the next alert or reminder comes if nothing is heard; null for never. */
  nextAlertAt: number | null;
  /** One sentence each, for people. */
  reasons: string[];
}

export interface ExplainContext {
  rules: CaseRules;
  calendar: Calendar;
  now: number;
  /** Ascending: the first check-in of each of the last periods. */
  firstCheckIns?: readonly number[];
  /** The blind windows that postponed the present deadline, oldest first. */
  postponements?: readonly Postponement[];
}

export function explain(
  state: SnitchState,
  { rules, calendar, now, firstCheckIns = [], postponements = [] }: ExplainContext,
): Explanation {
  const period = calendar.periodAt(state.interval, rules.timezone, now);
  const awaited = state.status === 'healthy' || state.status === 'errored';
  return {
    period,
    deadlineAt: awaited ? state.dueAt : null,
    nextAlertAt: awaited || state.status === 'failed' ? state.dueAt : null,
    reasons: [
      ...reasonsFor(state, rules),
      ...(awaited
        ? deadlineReasons(state, {
            calendar,
            timezone: rules.timezone,
            firstCheckIns,
            postponements,
            local: (at) => inTimeZone(at, rules.timezone),
          })
        : []),
    ],
  };
}

function reasonsFor(state: SnitchState, rules: CaseRules): string[] {
  const local = (at: number) => inTimeZone(at, rules.timezone);
  const due = state.dueAt === null ? 'never' : local(state.dueAt);
  switch (state.status) {
    case 'pending':
      return ['It waits for its first check-in. A pending snitch never alerts.'];
    case 'healthy':
      return [
        `It last checked in at ${local(state.checkedInAt ?? 0)}.`,
        `If it does not check in again by ${due}, the team is told that it is missing.`,
      ];
    case 'errored':
      return [
        `Its last check-in, at ${local(state.lastCheckInAt ?? 0)}, reported an error. The team was told once.`,
        `A healthy check-in ends this; without any check-in by ${due} the team is told that it is missing.`,
      ];
    case 'failed':
      return [
        state.lastCheckInAt === null
          ? 'It missed its deadline.'
          : `It missed its deadline: the last check-in came at ${local(state.lastCheckInAt)}.`,
        state.dueAt === null
          ? 'The team was told; this case wants no reminders.'
          : `The team was told, and is reminded at ${due} unless it checks in before.`,
      ];
    case 'paused':
      return [pauseReason(state, local)];
  }
}

function pauseReason({ pause }: SnitchState, local: (at: number) => string): string {
  switch (pause?.until.kind) {
    case 'time':
      return `It is paused until ${local(pause.until.at)}: until then nothing alerts.`;
    case 'unpaused':
      return 'It is paused until somebody unpauses it: until then nothing alerts.';
    default:
      return 'It is paused until its next healthy check-in: until then nothing alerts.';
  }
}

/** `2026-03-10 13:00:00 (Europe/Berlin)` */
export function inTimeZone(at: number, timezone: string): string {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDateTime();
  return `${wall.toString({ smallestUnit: 'second' }).replace('T', ' ')} (${timezone})`;
}
