/**
 * The central types. The words used everywhere in this program:
 *
 * - **snitch**: one monitored job, named by its secret token.
 * - **case**: the team that owns snitches, API keys, webhooks, channels and members.
 * - **check-in**: one call of the job to its check-in address.
 * - **interval**: how often the job runs, one of 17 names (`daily`).
 * - **schedule**: when exactly the job runs, as a person sets it: a cron expression for instance.
 * - **period**: one calendar-aligned stretch of an interval in the case's time zone.
 * - **deadline**: the instant by which the next check-in is expected.
 * - **due**: the instant at which the sweep has something to do for a snitch: its deadline, the instant at which
 *   a run has taken too long, its next reminder, or the end of its pause.
 * - **sweep**: the once-a-second pass over what is due.
 * - **trigger**: what can move a snitch from one status to another.
 * - **alert**: the decided fact that the team must be told something.
 * - **delivery**: one tracked send of an alert to one target.
 * - **channel**: a service, besides email and webhooks, that alerts are sent to.
 * - **target**: a webhook, a channel or an email address.
 * - **outbox**: the deliveries that are not finished.
 * - **blind window**: a stretch of time in which the daemon could not receive check-ins.
 *
 * All instants are integers: milliseconds since the Unix epoch, UTC.
 */
import type { LastReport } from './check-in.ts';
import type { Interval } from './interval.ts';
import { ANY_RUN, type RunRules } from './judgement/rules.ts';
import type { Held } from './needs/needs.ts';
import type { OpenRuns } from './open-run.ts';
import type { Reason } from './reason.ts';
import type { ScheduleRule } from './schedule/schedule.ts';

export type AlertType = 'basic' | 'smart';

/** The status of a snitch in the API (`spec §3`). */
export type Status = 'pending' | 'healthy' | 'failed' | 'errored' | 'paused';

/** A status that a pause can cover and restore. A `pending` snitch cannot be paused. */
export type RememberedStatus = 'healthy' | 'failed' | 'errored';

/** What ends a pause: the next healthy check-in, a person, or an instant. */
export type PauseUntil = { kind: 'healthy' } | { kind: 'unpaused' } | { kind: 'time'; at: number };

export interface Pause {
  until: PauseUntil;
  /** The status that the snitch returns to when the pause ends. */
  remembered: RememberedStatus;
  /** When it began; null for a pause from before this was kept. */
  since: number | null;
}

/** What a person sets on when a job is due, besides its interval. */
export interface DueFields {
  /** Null if the interval says when the job is due. */
  schedule: ScheduleRule | null;
  /** IANA name: the zone of the schedule; null for the case's. */
  timezone: string | null;
  /** Seconds after the expected time; null for the schedule's default, or for none without a schedule. */
  grace: number | null;
}

/** What a person sets on how a run must look; null for what is not watched. */
export interface RunFields {
  /** Seconds from the reported start of a run to its end. */
  maxRuntime: number | null;
}

/**
 * Somebody has seen an alarm (`extensions: Acknowledge, silence, depend`). The status does not change. Nobody is told
 * about the same alarm again: there are no reminders, and no escalation to those told only if nobody answers. Every
 * change of the status ends it.
 */
export interface Acknowledgement {
  /** In milliseconds since the epoch. */
  at: number;
  /** What the person wrote; null for nothing. */
  note: string | null;
  /** Who acknowledged it: a person, or the name of an API key. */
  by: string;
}

/** What changes with check-ins, deadlines and pauses: the input and output of the state machine. */
export interface SnitchState extends DueFields, RunFields, RunRules {
  interval: Interval;
  alertType: AlertType;
  status: Status;
  /** Last healthy check-in, or null. */
  checkedInAt: number | null;
  /** Last check-in of any outcome, or null: what the deadline counts from. */
  lastCheckInAt: number | null;
  /** When the sweep must look at this snitch, or null when nothing is awaited. */
  dueAt: number | null;
  /** Set exactly when `status` is `paused`. */
  pause: Pause | null;
  /** By how many blind windows the current deadline was postponed. */
  postponed: number;
  /** What the current deadline was before blind windows moved it by their length; null if none did. */
  movedFrom: number | null;
  /** Error check-ins since the last healthy one; counted only if one alone does not make the snitch errored. */
  errorsInRow: number;
  /** Why it is failed or errored, or was before a pause; null for others, and if that is not known. */
  reason: Reason | null;
  /** The open runs of a snitch that watches its runs; null if none is open. */
  runs: OpenRuns | null;
  /** Set only while `status` is `failed` or `errored`: from the acknowledgement until the status changes. */
  acknowledged: Acknowledgement | null;
  /** The held alert of its failure, kept during a pause too; null for none. */
  held: Held | null;
}

/** What a person sets on a snitch; an absent field of when it is due, or of how its runs must look, is not set. */
export interface SnitchFields extends Partial<DueFields>, Partial<RunFields & RunRules> {
  name: string;
  /** What a status page calls it; null, or absent, for its name. */
  publicName?: string | null;
  notes: string;
  tags: string[];
  /** The override list; empty for the case's members. */
  alertEmail: string[];
  interval: Interval;
  alertType: AlertType;
  /**
   * Tokens and `tag:<tag>`: what else must be well for the alert of a missed deadline to be raised; absent for none.
   */
  needs?: string[];
}

/** One monitored job: its settings and its state. */
export interface Snitch
  extends Omit<SnitchFields, 'interval' | 'alertType' | keyof DueFields | keyof RunFields | keyof RunRules> {
  token: string;
  caseId: string;
  createdAt: number;
  state: SnitchState;
  lastReport: LastReport | null;
  /** The deadline that a failed snitch missed; null for others, and if it is no longer known. */
  missingSince: number | null;
  /** Absent if it was not requested, and if no silence holds. */
  silenced?: SilencedBy;
  needs: string[];
  /** The alert that is held, for people; null for none. */
  hold: Hold | null;
}

/** An alert that is held, and what holds it: if that alert is held too, the snitch at the root. */
export interface Hold {
  /** Null if what held it was deleted. */
  by: { token: string; name: string } | null;
  since: number;
  /** When it is raised if no check-in comes; null while something the snitch needs is down. */
  until: number | null;
  /** The snitch that holds it is not failed but silenced. */
  isSilenced?: true;
  /** Nothing it needs is known to be down yet: it is held in case that turns out to be so, and raised otherwise. */
  isUnsure?: true;
}

/** Whether the job must check in by the time the snitch is due. */
export function isAwaited({ status }: Pick<SnitchState, 'status'>): boolean {
  return status === 'healthy' || status === 'errored';
}

/** Whether something is wrong with it, which somebody can acknowledge. */
export function isAlarming({ status }: Pick<SnitchState, 'status'>): boolean {
  return status === 'failed' || status === 'errored';
}

/** The silence that covers a snitch, as shown to people. */
export interface SilencedBy {
  id: string;
  /** When the silence over the snitch ends. */
  until: number;
  by: string;
  note: string;
}

/** What a list shows of a snitch. */
export interface ListedSnitch extends Omit<Snitch, 'caseId' | 'state'> {
  state: Pick<
    SnitchState,
    | 'status'
    | 'interval'
    | 'alertType'
    | 'checkedInAt'
    | 'dueAt'
    | 'reason'
    | 'maxRuntime'
    | 'acknowledged'
    | keyof RunRules
    | keyof DueFields
  >;
}

/** How a case wants to be reminded of a snitch that stays failed. */
export type Reminders = 'period' | 'hourly' | 'daily' | 'off';

/** The settings of a case that its snitches' deadlines depend on. */
export interface CaseRules {
  /** IANA name. */
  timezone: string;
  reminders: Reminders;
  /** Whether an error check-in makes the snitch `errored`; otherwise it counts as healthy. */
  errorNotices: boolean;
}

/** The state of a snitch that was just created. */
export function newSnitchState(
  interval: Interval,
  alertType: AlertType,
  {
    schedule = null,
    timezone = null,
    grace = null,
    maxRuntime = null,
    ...rules
  }: Partial<DueFields & RunFields & RunRules> = {},
): SnitchState {
  return {
    interval,
    alertType,
    schedule,
    timezone,
    grace,
    ...ANY_RUN,
    ...rules,
    status: 'pending',
    checkedInAt: null,
    lastCheckInAt: null,
    dueAt: null,
    pause: null,
    postponed: 0,
    movedFrom: null,
    errorsInRow: 0,
    reason: null,
    maxRuntime,
    runs: null,
    acknowledged: null,
    held: null,
  };
}
