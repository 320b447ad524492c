/** Alerts: what is decided, and how webhooks see it (`spec §6`). */
import { inTimeZone } from '../text/times.ts';
import type { Flapping } from './flapping.ts';
import type { Interval } from './interval.ts';
import { type Reason, reasonInWords } from './reason.ts';
import type { ScheduleRule } from './schedule/schedule.ts';
import type { PauseUntil, Status } from './snitch.ts';

export type AlertKind = 'snitch.reporting' | 'snitch.missing' | 'snitch.errored' | 'snitch.paused';

/** The notice to a case's team that the service itself was blind; it concerns no single snitch. */
export const BLIND_NOTICE = 'service.blind';

/** The notice to a case's team that a service refuses what is sent to one of its channels. */
export const REFUSAL_NOTICE = 'service.refused';

/** The types of notices: they are about the service itself, and concern no single snitch. */
export type NoticeType = typeof BLIND_NOTICE | typeof REFUSAL_NOTICE;

/** Whether something is wrong with the snitch; the other alerts are for information. */
export function isAlarm(type: AlertKind | NoticeType): boolean {
  return type === 'snitch.missing' || type === 'snitch.errored';
}

/** What the state machine decided: the team must be told about this change. */
export interface AlertDecision {
  type: AlertKind;
  status: Status;
  previousStatus: Status;
}

/** The state names of webhook payloads: `failed` in the API is `missing` here (`spec §3`). */
export type PayloadStatus = 'pending' | 'healthy' | 'missing' | 'errored' | 'paused';

/** Replaces the token in an alert that is only a test: no snitch has one this short. */
export const TEST_TOKEN = 'test';

/** The snitch as an alert shows it: how it was when the alert was decided. */
export interface AlertSnitch {
  token: string;
  name: string;
  notes: string;
  tags: string[];
  status: PayloadStatus;
  previous_status: PayloadStatus;
}

/** What the team wants to know besides the payload; kept with the alert because the snitch goes on changing. */
export interface AlertDetails {
  interval: Interval;
  checkedInAt: number | null;
  lastCheckInAt: number | null;
  /** The deadline or reminder that passed; null if the alert came from a check-in or a pause. */
  deadlineAt: number | null;
  /** When the next check-in is due or the next reminder would come; null for never. */
  nextDueAt: number | null;
  /** Message and exit status of the check-in that raised the alert, if there was one. */
  message: string | null;
  exitStatus: number | null;
  /** When the job checked in, if that was reported only later. Older alerts lack this and the optional fields below. */
  ranAt?: number;
  /** When the alert was decided, if a silence kept it back for a while. */
  silencedSince?: number;
  /** The check-in whose output belongs to the alert. */
  checkInId?: number;
  /** The deadline that the snitch first missed. */
  missingSince?: number;
  /** Why the alert was raised. */
  reason?: Reason;
  /** When the unfinished run began. */
  startedAt?: number;
  pausedUntil?: PauseUntil['kind'];
  /** Only for a snitch with a schedule: the rule that says when it is due, and the zone that rule is read in. */
  schedule?: { rule: ScheduleRule; timezone: string };
  /** How many milliseconds the deadline is later than the expected time; absent for none. */
  grace?: number;
  /** Only if the alert stands for many changes. */
  flapping?: Flapping;
  /** The alert that opened the incident this one belongs to; null if this one opens it. */
  threadId: string | null;
}

/** What a blind notice says. */
export interface BlindNotice {
  start: number;
  end: number;
  /** Names of the snitches whose deadlines were postponed; at most `NOTICE_NAMES` of them. */
  postponed: string[];
  postponedCount: number;
  /**
   * The same snitches with their new deadlines, the earliest first; absent in notices from before they were kept.
   */
  snitches?: BlindSnitch[];
}

/** A snitch whose deadline a blind window postponed. */
export interface BlindSnitch {
  token: string;
  name: string;
  /** Null if its schedule has no further run, so nothing more is awaited. */
  deadlineAt: number | null;
}

/** The decided fact. `snitch` and `details` are as they were when it was decided; a notice has neither. */
export type Alert = { id: string; caseId: string; at: number } & (
  | { type: AlertKind; token: string; snitch: AlertSnitch; details: AlertDetails; notice: null }
  | { type: typeof BLIND_NOTICE; token: null; snitch: null; details: null; notice: BlindNotice }
  | { type: typeof REFUSAL_NOTICE; token: null; snitch: null; details: null; notice: null; refusal: Refusal }
);

/** What a service refused for good, and for which channel. */
export interface Refusal {
  channel: { id: string; name: string; kind: string };
  /** In words, without secrets. */
  error: string;
}

/** The webhook body of such a notice, for webhooks that want notices. */
export interface RefusalPayload {
  type: typeof REFUSAL_NOTICE;
  /** ISO 8601 with milliseconds, UTC. */
  timestamp: string;
  data: Refusal;
}

/** @param at when it was noticed, in milliseconds since the epoch */
export function refusalPayload(at: number, refusal: Refusal): RefusalPayload {
  return { type: REFUSAL_NOTICE, timestamp: new Date(at).toISOString(), data: refusal };
}

/** How many names a blind notice lists. */
export const NOTICE_NAMES = 100;

/** The body of a webhook, exactly as `spec §6` gives it. */
export interface AlertPayload {
  type: AlertKind;
  /** ISO 8601 with milliseconds, UTC. */
  timestamp: string;
  data: {
    snitch: AlertSnitch;
    /** Why, in words (`extensions: What a run must look like`); absent in alerts that predate it. */
    reason?: string;
  };
}

/** The webhook body of a notice, for webhooks that want notices (`decisions: When the service itself was blind`). */
export interface NoticePayload {
  type: typeof BLIND_NOTICE;
  /** ISO 8601 with milliseconds, UTC. */
  timestamp: string;
  data: { notice: NoticeShown };
}

/** A notice as the API and webhooks show it. Times are ISO 8601 with milliseconds, UTC. */
export interface NoticeShown {
  from: string;
  to: string;
  postponed: string[];
  postponed_count: number;
  /** The deadline is null if nothing more is awaited. */
  snitches: { token: string; name: string; deadline: string | null }[];
}

export function noticeShown({
  start,
  end,
  postponed,
  postponedCount,
  snitches = [],
}: BlindNotice): NoticeShown {
  return {
    from: new Date(start).toISOString(),
    to: new Date(end).toISOString(),
    postponed,
    postponed_count: postponedCount,
    snitches: snitches.map(({ token, name, deadlineAt }) => ({
      token,
      name,
      deadline: deadlineAt === null ? null : new Date(deadlineAt).toISOString(),
    })),
  };
}

/** @param at when the notice was decided, in milliseconds since the epoch */
export function noticePayload(at: number, notice: BlindNotice): NoticePayload {
  return {
    type: BLIND_NOTICE,
    timestamp: new Date(at).toISOString(),
    data: { notice: noticeShown(notice) },
  };
}

export function payloadStatus(status: Status): PayloadStatus {
  return status === 'failed' ? 'missing' : status;
}

/** The snitch part of the payload of `decision`. */
export function alertSnitch(
  snitch: { token: string; name: string; notes: string; tags: readonly string[] },
  decision: AlertDecision,
): AlertSnitch {
  return {
    token: snitch.token,
    name: snitch.name,
    notes: snitch.notes,
    tags: [...snitch.tags],
    status: payloadStatus(decision.status),
    previous_status: payloadStatus(decision.previousStatus),
  };
}

/** @param timezone IANA name: the zone that times in the reason are given in */
export function alertPayload(
  { type, at, snitch, details }: Extract<Alert, { type: AlertKind }>,
  timezone: string,
): AlertPayload {
  const reason = reasonOf(details, timezone);
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: { snitch, ...(reason === null ? {} : { reason }) },
  };
}

/** Null if an older version decided the alert. */
export function reasonOf({ reason }: Pick<AlertDetails, 'reason'>, timezone: string): string | null {
  return reason ? reasonInWords(reason, (time) => inTimeZone(time, timezone)) : null;
}
