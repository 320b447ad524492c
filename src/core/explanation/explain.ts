/** Says in words what a snitch is waiting for, and why it alerts or stays silent. */
import { durationInWords, SECOND } from '../../text/durations.ts';
import { inTimeZone } from '../../text/times.ts';
import { acknowledgedInWords } from '../acknowledgement/words.ts';
import type { Calendar, Period } from '../interval.ts';
import { lengthenedBy, scheduleOf } from '../job-schedule.ts';
import type { ValueHistories } from '../judgement/usual.ts';
import type { LateRuns } from '../late-runs.ts';
import { reasonInWords } from '../reason.ts';
import { apart, type KnownRuns } from '../runs.ts';
import { scheduleWithZone } from '../schedule-name.ts';
import { type CaseRules, isAwaited, type SnitchState } from '../snitch.ts';
import { deadlineReasons, type Postponement } from './deadline-reasons.ts';
import { holdReason, type KnownNeeds, NO_NEEDS, needsReasons } from './needs-reasons.ts';
import { runReasons } from './run-reasons.ts';
import { expectationReasons, toleranceReasons } from './run-rule-reasons.ts';
import { type ScheduleShown, scheduleShown } from './schedule-words.ts';
import {
  MOVED_BY_SILENCE,
  type PlannedSilence,
  plannedReasons,
  type SilenceFacts,
  silenceReasons,
  stretchOf,
} from './silence-reasons.ts';
import { type ToldAlert, tellingReasons } from './told.ts';

export interface Explanation {
  /**
   * The period that `now` lies in; with a schedule, from the last run to the next. If there is no such run, it begins
   * or ends now. With `every`, runs are counted from the last check-in.
   */
  period: Period;
  /** When it is due by its schedule; null if it has none. */
  schedule: ScheduleShown | null;
  /** By when the next check-in is expected; null while none is awaited. */
  deadlineAt: number | null;
  /** When the next alert or reminder comes if nothing is heard; null for never. */
  nextAlertAt: number | null;
  /** The silence to come that delays it, or the first of those that leave none. */
  planned: PlannedSilence | null;
  /** One sentence each, for people. */
  reasons: string[];
}

export interface ExplainContext {
  rules: CaseRules;
  calendar: Calendar;
  now: number;
  /** Ascending: the first check-in of each of the last periods. */
  firstCheckIns?: readonly number[];
  late?: LateRuns;
  /** The blind windows that postponed the current deadline, oldest first. */
  postponements?: readonly Postponement[];
  /** What its last runs reported. */
  values?: ValueHistories;
  telling?: Telling;
  runs?: KnownRuns;
  /** The silence that applies to it. */
  silence?: SilenceFacts | null;
  /** Whether a silence that is over moved the deadline. */
  isMovedBySilence?: boolean;
  /** As `prospect.ts` foresees it; by the state alone when absent. */
  nextAlertAt?: number | null;
  /** A silence to come that delays it. */
  planned?: PlannedSilence | null;
  /** What it needs, and what holds its alert back. */
  needs?: KnownNeeds;
  /** Who began the pause or last changed its end, and when; null if that is not known. */
  pausedBy?: { name: string; at: number } | null;
}

/** What is known of who is told: all that `explain` says about that comes from here. */
export interface Telling {
  /** Why an alert would reach nobody, or null if it would reach somebody. */
  nobody: string | null;
  /** Whom an alarm would not go to, and why, one sentence each. */
  others?: readonly string[];
  /** The last alert of the snitch still in the store, with its deliveries. */
  last: ToldAlert | null;
}

const NO_FURTHER_RUN = 'Its schedule has no further run, so no more check-ins are expected.';

const MOVES = 'its deadline moves, because a silence is planned';

const NO_RUNS: KnownRuns = { open: [], usual: null };

const UNKNOWN: Telling = { nobody: null, last: null };

export function explain(state: SnitchState, context: ExplainContext): Explanation {
  const { rules, calendar, now, firstCheckIns = [], late, postponements = [] } = context;
  const { values = {}, telling = UNKNOWN, runs = NO_RUNS, silence = null, needs = NO_NEEDS } = context;
  const { planned = null } = context;
  const shown = scheduleShown(state, rules.timezone, now);
  const awaited = isAwaited(state);
  const { nextAlertAt = nextAlertOf(state, silence, needs) } = context;
  return {
    period: periodOf(state, { rules, calendar, now }),
    schedule: shown,
    deadlineAt: awaited ? state.dueAt : null,
    nextAlertAt,
    planned,
    reasons: [
      ...reasonsFor(state, rules, telling, { ...needs, nextAlertAt, planned }),
      ...needsReasons(needs, awaited, (at) => inTimeZone(at, rules.timezone)),
      ...pauserOf(state, rules, context),
      ...acknowledgedReasons(state, rules),
      ...(silence ? silenceReasons(state, silence, (at) => inTimeZone(at, rules.timezone)) : []),
      ...(context.isMovedBySilence ? [MOVED_BY_SILENCE] : []),
      ...runReasons(state, runs, { now, local: (at) => inTimeZone(at, rules.timezone) }),
      ...toleranceReasons(state, rules),
      ...expectationReasons(state, values),
      ...graceReasons(state, shown),
      ...(awaited
        ? deadlineReasons(apart(state).plain, {
            calendar,
            timezone: rules.timezone,
            firstCheckIns,
            late,
            postponements,
            local: (at) => inTimeZone(at, rules.timezone),
          })
        : []),
      ...tellingOf(state, { rules, now, telling: needs.hold ? { ...telling, last: null } : telling }),
    ],
  };
}

function periodOf(
  state: SnitchState,
  { rules, calendar, now }: Pick<ExplainContext, 'rules' | 'calendar' | 'now'>,
): Period {
  const schedule = scheduleOf(state, rules.timezone);
  if (schedule === null) return calendar.periodAt(state.interval, rules.timezone, now);
  if (state.schedule && 'every' in state.schedule) {
    const length = state.schedule.every * SECOND;
    const since = Math.max(0, now - (state.lastCheckInAt ?? now));
    const start = now - (since % length);
    return { start, end: start + length };
  }
  return { start: schedule.lastUntil(now) ?? now, end: schedule.nextAfter(now) ?? now };
}

function graceReasons(state: SnitchState, shown: ScheduleShown | null): string[] {
  if (state.schedule && shown) {
    const words = scheduleWithZone(state.schedule, null, shown.timezone);
    const grace = shown.grace === 0 ? 'without grace' : `with a grace of ${durationInWords(shown.grace)}`;
    return [`Its schedule is ${words}, ${grace}.`];
  }
  const grace = lengthenedBy(state);
  return grace > 0 ? [`Its grace makes each deadline ${durationInWords(grace)} later.`] : [];
}

/** The last alert no longer matters once the snitch is well and does not flap. */
function tellingOf(
  { status }: SnitchState,
  { rules, now, telling }: Pick<ExplainContext, 'rules' | 'now'> & { telling: Telling },
): string[] {
  const { nobody, last, others = [] } = telling;
  const raised = status === 'failed' || status === 'errored' || status === 'paused' || last?.flapping;
  return [
    ...(raised && last ? tellingReasons(last, now, (at) => inTimeZone(at, rules.timezone)) : []),
    ...(nobody === null ? [] : [`Nobody would be told of an alert: ${nobody}.`]),
    ...others,
  ];
}

function nextAlertOf(state: SnitchState, silence: SilenceFacts | null, { hold }: KnownNeeds): number | null {
  if (silence?.isKeptBack) return silence.until;
  if (hold) return hold.until;
  return isAwaited(state) || state.status === 'failed' ? state.dueAt : null;
}

/** What will happen if nothing is heard. */
interface Foreseen {
  nextAlertAt: number | null;
  planned: PlannedSilence | null;
}

function reasonsFor(
  state: SnitchState,
  rules: CaseRules,
  { nobody, last }: Telling,
  { hold, down, nextAlertAt, planned }: KnownNeeds & Foreseen,
): string[] {
  const local = (at: number) => inTimeZone(at, rules.timezone);
  const isTold = nobody === null && nextAlertAt === state.dueAt;
  const missing = planned ? MOVES : isTold ? 'the team is told that it is missing' : 'it counts as missing';
  const moved = planned ? plannedReasons(planned, nextAlertAt, local) : [];
  const due = state.dueAt === null ? 'never' : local(state.dueAt);
  switch (state.status) {
    case 'pending':
      return [
        state.lastCheckInAt === null
          ? 'It waits for its first check-in. A pending snitch never alerts.'
          : 'It waits for its first healthy check-in. A pending snitch never alerts of silence.',
      ];
    case 'healthy':
      return [
        state.errorsInRow === 0
          ? `It last checked in at ${local(state.checkedInAt ?? 0)}.`
          : `Its last healthy check-in was at ${local(state.checkedInAt ?? 0)}.`,
        state.dueAt === null ? NO_FURTHER_RUN : `If it does not check in again by ${due}, ${missing}.`,
        ...moved,
      ];
    case 'errored':
      return [
        `Its last check-in, at ${local(state.lastCheckInAt ?? 0)}, ${faultOf(state, local)}.`,
        state.dueAt === null
          ? `A healthy check-in ends this. ${NO_FURTHER_RUN}`
          : `A healthy check-in ends this; without any check-in by ${due} ${missing}.`,
        ...moved,
      ];
    case 'failed':
      return [
        missed(state, local),
        ...whyMissed(state, last, local),
        ...(hold
          ? [holdReason(hold, nextAlertAt, local)]
          : state.acknowledged || down
            ? []
            : [reminderReason(state, rules, { nextAlertAt, planned })]),
      ];
    case 'paused':
      return [pauseReason(state, local)];
  }
}

function whyMissed({ reason }: SnitchState, last: ToldAlert | null, local: (at: number) => string): string[] {
  if (reason) return [`Why: ${reasonInWords(reason, local)}.`];
  return last?.startedAt ? [`A run that started at ${local(last.startedAt)} had not ended then.`] : [];
}

function reminderReason(
  { dueAt, schedule }: SnitchState,
  { reminders, timezone }: CaseRules,
  { nextAlertAt, planned }: Foreseen,
): string {
  const local = (at: number) => inTimeZone(at, timezone);
  if (dueAt !== null) {
    const after = planned ? `, after a silence that is planned ${stretchOf(planned, local)}` : '';
    return `Unless it checks in before, a reminder comes at ${local(planned ? (nextAlertAt ?? dueAt) : dueAt)}${after}.`;
  }
  return schedule === null || reminders === 'off' ? 'Reminders are off in this case.' : NO_FURTHER_RUN;
}

function acknowledgedReasons({ acknowledged, status }: SnitchState, { timezone }: CaseRules): string[] {
  if (acknowledged === null) return [];
  const words = acknowledgedInWords(acknowledged, (at) => inTimeZone(at, timezone));
  const what = status === 'failed' ? 'There are no reminders and no escalation' : 'There is no escalation';
  return [`It was ${words}. ${what} until its status changes.`];
}

function missed(
  { reason, lastCheckInAt: last, errorsInRow }: SnitchState,
  local: (at: number) => string,
): string {
  const what = reason?.kind === 'overran' ? 'Its run took too long' : 'It missed its deadline';
  if (last === null) return `${what}.`;
  return errorsInRow > 0
    ? `${what}; its last check-in, at ${local(last)}, was an error.`
    : `${what}: the last check-in came at ${local(last)}.`;
}

/** What made the last check-in an error. */
function faultOf({ reason }: SnitchState, local: (at: number) => string): string {
  if (reason === null || reason.kind === 'error') return 'reported an error';
  const words = reasonInWords(reason, local);
  return reason.kind === 'exitStatus' ? `reported ${words}` : `counts as an error: ${words}`;
}

function pauserOf(
  { status }: SnitchState,
  { timezone }: CaseRules,
  { pausedBy = null }: Pick<ExplainContext, 'pausedBy'>,
): string[] {
  if (status !== 'paused' || pausedBy === null) return [];
  return [`${pausedBy.name} paused it at ${inTimeZone(pausedBy.at, timezone)}.`];
}

function pauseReason({ pause }: SnitchState, local: (at: number) => string): string {
  switch (pause?.until.kind) {
    case 'time':
      return `It is paused until ${local(pause.until.at)}: until then it raises no alerts.`;
    case 'unpaused':
      return 'It is paused until somebody unpauses it: until then it raises no alerts.';
    default:
      return 'It is paused until its next healthy check-in: until then it raises no alerts.';
  }
}
