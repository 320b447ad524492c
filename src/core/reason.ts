/**
 * Why a snitch is failed or errored, and why an alert was raised (`extensions: What a run must look like`). It is kept
 * as plain data with the state and with the alert, so everybody can be shown the times in their own time zone.
 */
import { durationInWords, SECOND } from '../text/durations.ts';

export type Reason =
  /** Nothing was heard until `by`. `startedAt`: a run had begun that had not ended then. */
  | { kind: 'noCheckIn'; by: number; startedAt?: number; held?: HeldFor }
  /** A run that began at `startedAt` took longer than `max_runtime`. It has not ended, or only at `endedAt`. */
  | { kind: 'overran'; startedAt: number; endedAt?: number; held?: HeldFor }
  | { kind: 'exitStatus'; status: number }
  /** The job reported a failure without an exit status. */
  | { kind: 'error' }
  /** A run that its job reported as a success broke an expectation, in the words of `judge`. */
  | { kind: 'judged'; what: string }
  /** What ends an alarm. `tookMs` only if the start of the run was reported. */
  | { kind: 'checkedIn'; first?: true; tookMs?: number }
  /** Until its next healthy check-in, until somebody unpauses it, or until an instant. */
  | { kind: 'paused'; until: 'healthy' | 'unpaused' | number };

/** How long the alert was held, and the name of the needed snitch that was down. */
export interface HeldFor {
  by: string;
  since: number;
  until: number;
  /** It was not failed, but silenced. */
  isSilenced?: true;
}

/** @param show an instant in words, with its time zone if the text around it does not name one */
export function reasonInWords(reason: Reason, show: (at: number) => string): string {
  switch (reason.kind) {
    case 'noCheckIn': {
      const { by, startedAt, held } = reason;
      const hangs = startedAt === undefined ? '' : `: ${unended(startedAt, show)}`;
      return `no check-in by ${show(by)}${hangs}${heldFor(held, show)}`;
    }
    case 'overran': {
      const { startedAt, endedAt, held } = reason;
      if (endedAt === undefined) return `${unended(startedAt, show)}${heldFor(held, show)}`;
      return `a run that started at ${show(startedAt)} ended only at ${show(endedAt)}`;
    }
    case 'exitStatus':
      return `exit status ${reason.status}`;
    case 'error':
      return 'the job reported an error';
    case 'judged':
      return reason.what;
    case 'checkedIn': {
      const { tookMs } = reason;
      if (tookMs !== undefined)
        return `a run ended well after ${tookMs < SECOND ? 'less than a second' : durationInWords(tookMs)}`;
      return reason.first ? 'the first check-in' : 'a healthy check-in';
    }
    case 'paused':
      return pausedUntil(reason.until, show);
  }
}

function heldFor(held: HeldFor | undefined, show: (at: number) => string): string {
  if (held === undefined) return '';
  const what = held.isSilenced ? 'silenced' : 'down';
  return `; the alert was held from ${show(held.since)} to ${show(held.until)}, because ${held.by} was ${what}`;
}

function unended(startedAt: number, show: (at: number) => string): string {
  return `a run that started at ${show(startedAt)} has not ended`;
}

function pausedUntil(until: 'healthy' | 'unpaused' | number, show: (at: number) => string): string {
  if (typeof until === 'number') return `paused until ${show(until)}`;
  return until === 'healthy' ? 'paused until its next healthy check-in' : 'paused until somebody unpauses it';
}

/** Why an error check-in is one, going by what it says itself. */
export function errorReported(exitStatus: number | null): Reason {
  return exitStatus === null || exitStatus === 0
    ? { kind: 'error' }
    : { kind: 'exitStatus', status: exitStatus };
}

/** Whether both say the same, null being no reason. */
export function isSameReason(one: Reason | null, other: Reason | null): boolean {
  if (one === other) return true;
  return one !== null && other !== null && JSON.stringify(one) === JSON.stringify(other);
}
