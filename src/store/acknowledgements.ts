/**
 * The part of the store for acknowledged alarms (`extensions: Acknowledge, silence, depend`). A snitch of another case
 * is as unknown as one that does not exist: null. `now` is in milliseconds since the epoch.
 */
import type { Alert, AlertKind } from '../core/alert.ts';
import type { Acknowledgement, Snitch, Status } from '../core/snitch.ts';

/** An alert that reports a problem, and what has become of it. */
export interface Alarm {
  alert: Extract<Alert, { type: AlertKind }>;
  case: { name: string; timezone: string };
  /** Whether the snitch still is as the alert says, and has been nothing else since. */
  lasts: boolean;
  /** The snitch's present status; null if it was deleted. */
  status: Status | null;
  /** Who acknowledged it; null if it is over or nobody has. */
  acknowledged: Acknowledgement | null;
}

/** What a person says when acknowledging. */
export interface Said {
  note: string | null;
  by: string;
}

export interface AcknowledgementActs {
  /**
   * Nobody is reminded of the alarm any more, and its deliveries that still wait are dropped, in one transaction. If it
   * is acknowledged already, only a new note is stored.
   *
   * @throws Invalid for a snitch that is neither failed nor errored
   */
  acknowledgeSnitch(caseId: string, token: string, said: Said, now: number): Promise<Snitch | null>;
  /** The reminders of a failed snitch start again. What was dropped stays dropped. The snitch can have any status. */
  unacknowledgeSnitch(caseId: string, token: string, now: number): Promise<Snitch | null>;
  /** As `acknowledgeSnitch`, but only while this alarm lasts, and only once: `isNew` says whether this call did it. */
  acknowledgeAlarm(alertId: string, said: Said, now: number): Promise<(Alarm & { isNew: boolean }) | null>;
}

export interface AcknowledgementStore {
  /** Null if no stored alert has this id, or if it is no alarm. */
  findAlarm(alertId: string): Promise<Alarm | null>;
}
