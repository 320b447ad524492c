/**
 * The part of the store for alarms that somebody has seen (`extensions: Acknowledge, silence, depend`). A snitch of another
 * case is as unknown as one that does not exist: null. `now` is in milliseconds since the epoch.
 */
import type { Alert, AlertKind } from '../core/alert.ts';
import type { Acknowledgement, Snitch, Status } from '../core/snitch.ts';

/** An alert that says that something is wrong, and what has become of that since. */
export interface Alarm {
  alert: Extract<Alert, { type: AlertKind }>;
  case: { name: string; timezone: string };
  /** Whether the snitch is still as the alert says, without having been anything else since. */
  lasts: boolean;
  /** What the snitch is now; null where it was deleted. */
  status: Status | null;
  /** Who has seen it, where it lasts and somebody has. */
  acknowledged: Acknowledgement | null;
}

/** What somebody says who acknowledges. */
export interface Said {
  note: string | null;
  by: string;
}

export interface AcknowledgementActs {
  /**
   * Nobody is reminded of the alarm any more, and what still waited to be sent of it is dropped, in one transaction. Where
   * it is acknowledged already, only another note is kept.
   *
   * @throws Invalid for a snitch that is neither failed nor errored
   */
  acknowledgeSnitch(caseId: string, token: string, said: Said, now: number): Promise<Snitch | null>;
  /** The reminders of a failed snitch count anew. What was dropped stays dropped. Any status may come here. */
  unacknowledgeSnitch(caseId: string, token: string, now: number): Promise<Snitch | null>;
  /** As `acknowledgeSnitch`, but only while the very alarm lasts, and only once: `isNew` tells whether this did it. */
  acknowledgeAlarm(alertId: string, said: Said, now: number): Promise<(Alarm & { isNew: boolean }) | null>;
}

export interface AcknowledgementStore {
  /** Null where no alert that is kept has this id, or it is no alarm. */
  findAlarm(alertId: string): Promise<Alarm | null>;
}
