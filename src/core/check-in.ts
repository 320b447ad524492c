/**
 * Check-ins: what a job reports, and what is kept of it.
 *
 * - **outcome**: what a check-in says about a run. `healthy` and `error` end it, `start` begins it, `log` only
 *   notes.
 * - **run**: from its reported start to its reported end; a run id pairs the two when runs overlap.
 * - **late check-in**: one that the job kept back because it could not reach the service: `at` is before `now`.
 * - **report**: a check-in that says how a run ended.
 *
 * All instants are milliseconds since the Unix epoch.
 */

import type { ReadValues, ReportedValues } from './judgement/values.ts';

/** A `start` and a `log` change no status; after a `start` the run is watched if it has a maximum run time. */
export type CheckInOutcome = 'healthy' | 'error' | 'start' | 'log';

export interface CheckIn {
  token: string;
  /** When it was received. */
  now: number;
  /** When the job checked in: earlier than `now` if it could not reach the service then. */
  at: number;
  outcome: CheckInOutcome;
  exitStatus: number | null;
  message: string | null;
  /** The address that the check-in came from. */
  source: string | null;
  /** Pairs the start of a run with its end. */
  runId: string | null;
  /** What the job printed. */
  output: string | null;
  /** The numbers that the job reported; absent if none. */
  reported?: ReadValues;
}

/** A check-in in the log of its snitch. */
export interface CheckInRecord extends Omit<CheckIn, 'token' | 'now' | 'runId' | 'reported'> {
  id: number;
  /** From the start of the run to this check-in, if the start was reported. */
  durationMs: number | null;
  /** Null if the job reported none. */
  values: ReportedValues | null;
  /** What could not be read of them, in words. */
  dropped: readonly string[];
  /** Why a run that ended well counts as an error, in words; null for any other. */
  reason: string | null;
}

/** The newest check-in that says how a run ended; `start` and `log` do not. */
export interface LastReport {
  at: number;
  outcome: 'healthy' | 'error';
  exitStatus: number | null;
  message: string | null;
  /** Why a run that ended well counts as an error, in words. */
  reason?: string;
}
