/** How the API explains why a snitch is as it is, and when its job is due. */
import type { WireAudience, WireStatus } from './wire.ts';
import type { WireHold, WirePause, WireSilenced } from './wire-kept-back.ts';

export interface WireExplanation {
  status: WireStatus;
  /** Why it is failed or errored, in words; null for others. Older servers leave it out. */
  reason?: string | null;
  timezone: string;
  /** The current period of its interval. */
  period: { start: string; end: string };
  /** When the next check-in is due at the latest, in UTC and in the case's time zone; null if none is awaited. */
  deadline: { at: string; local: string } | null;
  /** When the next alert or reminder comes if there is no check-in before then; null for never. */
  next_alert: { at: string; local: string } | null;
  /**
   * The silence to come that delays the next alert, or the first of those that leave none. Null if none does. Older
   * servers leave it out.
   */
  planned?: { from: string; to: string; by: string; note: string } | null;
  /** The deadline that a failed snitch missed; null for others. Older servers leave it out. */
  missing_since?: string | null;
  /** Its pause; null for none. Older servers leave it out. */
  paused?: WirePause | null;
  /** The silence that covers it; null for none. Older servers leave it out. */
  silenced?: WireSilenced | null;
  /** The alert of its failure that is held; null for none. Older servers leave it out. */
  held?: WireHold | null;
  /** The next runs of a snitch with a schedule, in its time zone; null for others. Older servers leave it out. */
  schedule?: WireScheduleShown | null;
  /** What is known of its runs. Older servers leave it out. */
  runs?: WireRuns;
  /** The values that the job reports, the last reported last. Older servers leave it out. */
  values?: WireValue[];
  /** Sentences for people. */
  reasons: string[];
  /** Who would be told. */
  notify: Omit<WireAudience, 'sends_email'> & Partial<WireAudience>;
}

/** What is known of a value that a job reports. */
export interface WireValue {
  name: string;
  last: number;
  /** When that was reported. */
  at: string;
  /** The median of the last 20 successful runs; null while fewer than 5 are known. */
  usual: number | null;
  /** How many successful runs are known, at most 20. */
  runs: number;
}

/** When a schedule that is only being checked would be due. */
export interface WireScheduleCheck {
  /** The interval shown to clients that do not know schedules. */
  interval: string;
  /** The zone that applies: the expression's own, if it names one. */
  timezone: string;
  /** Seconds. */
  grace: number;
  runs: WireRun[];
}

/** The runs that began and have not ended, and how long successful runs took. */
export interface WireRuns {
  /** `overruns_at` is null if the length of runs is not watched, or if the end of this one may have been lost. */
  open: { started_at: string; overruns_at: string | null }[];
  /** The median of the last runs, in milliseconds; null if fewer than five are known. */
  usual_ms: number | null;
}

/** When a job is due, and by when it must have checked in. */
export interface WireRun {
  at: string;
  deadline: string;
}

/** When a snitch with a schedule is due next. */
export interface WireScheduleShown {
  /** The zone that applies: the expression's own, if it names one, the snitch's, or the case's. */
  timezone: string;
  /** Seconds: as set, or else derived from the schedule. */
  grace: number;
  /** At most five; fewer if the schedule ends earlier. Local times look like `Mon 2026-03-09 13:00 +01:00`. */
  runs: { at: string; local: string; deadline: string; deadline_local: string }[];
}
