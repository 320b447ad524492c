/** What can move a snitch from one status to another, and the result. */
import type { AlertDecision } from './alert.ts';
import type { BlindWindow } from './blind-window.ts';
import type { DeadlineContext } from './deadline.ts';
import type { NeedsFacts } from './needs/needs.ts';
import type { OpenRun } from './open-run.ts';
import type { Reason } from './reason.ts';
import type { PauseUntil, SnitchState } from './snitch.ts';

/** A transition about which nobody is told. */
export function silent(snitch: SnitchState): Transition {
  return { snitch, alert: null };
}

export type Trigger =
  /**
   * `at` is when the job checked in, if earlier than now because it could not reach the service then. `why` is why an
   * error counts as one; `runId` names the run that ends.
   */
  | { kind: 'checkIn'; outcome: 'healthy' | 'error'; at?: number; why?: Reason; runId?: string | null }
  /** A run began, at `at` if that was earlier than now, and its end was not received before its start. */
  | { kind: 'start'; runId: string | null; at?: number }
  /** The sweep found `dueAt` in the past. `startedAt`: when a run began that has not ended. */
  | { kind: 'due'; startedAt?: number }
  | { kind: 'pause'; until: PauseUntil }
  | { kind: 'unpause' }
  /** Somebody has seen the alarm; or takes that back. */
  | { kind: 'acknowledge'; note: string | null; by: string }
  | { kind: 'unacknowledge' }
  /** The interval, the schedule, the alert type or the case's rules changed: the state carries the new ones. */
  | { kind: 'rescheduled' }
  /** The maximum run time changed: the state carries the new one. `open` are the runs to watch. */
  | { kind: 'runtimeChanged'; open: readonly OpenRun[] }
  /** Something the snitch needs is no longer down. */
  | { kind: 'relieved' }
  /** A silence ended in the case. */
  | { kind: 'silenceEnded' }
  /** A person changed what the snitch needs. `isHolderNeeded`: whether it still needs what holds its alert. */
  | { kind: 'needsChanged'; isHolderNeeded: boolean };

export interface TransitionContext extends DeadlineContext {
  /** The instant of the trigger. */
  now: number;
  /**
   * The windows that ended after a check-in that was reported late, in the order in which they ended: its deadline
   * does not allow for them yet.
   */
  windows?: readonly BlindWindow[];
  /** What the snitch needs; absent for nothing. Used only for deadlines and for triggers about needs. */
  needs?: NeedsFacts;
}

export interface Transition {
  snitch: SnitchState;
  alert: AlertDecision | null;
  /** The windows that postponed the deadline of a check-in that was reported late. */
  postponedBy?: readonly BlindWindow[];
}

/** Triggers that can change the status by themselves; the others are about open runs and held alerts. */
export type StateTrigger = Exclude<
  Trigger,
  | { kind: 'start' }
  | { kind: 'runtimeChanged' }
  | { kind: 'relieved' }
  | { kind: 'silenceEnded' }
  | { kind: 'needsChanged' }
>;
