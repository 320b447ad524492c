/** What may move a snitch from one status to another, and what comes of it. */
import type { AlertDecision } from './alert.ts';
import type { BlindWindow } from './blind-window.ts';
import type { DeadlineContext } from './deadline.ts';
import type { NeedsFacts } from './needs/needs.ts';
import type { OpenRun } from './open-run.ts';
import type { Reason } from './reason.ts';
import type { PauseUntil, SnitchState } from './snitch.ts';

export type Trigger =
  /**
   * `at` is when the job checked in, where that was earlier than now: it could not reach the service then. `why` is why
   * an error is one; `runId` names the run that ends.
   */
  | { kind: 'checkIn'; outcome: 'healthy' | 'error'; at?: number; why?: Reason; runId?: string | null }
  /** A run began, at `at` where that was earlier than now, and its end has not come before its start. */
  | { kind: 'start'; runId: string | null; at?: number }
  /**
   * The sweep found `dueAt` in the past. `startedAt`: a run began then that has not ended.
   */
  | { kind: 'due'; startedAt?: number }
  | { kind: 'pause'; until: PauseUntil }
  | { kind: 'unpause' }
  /** Somebody has seen the alarm, and who; or takes that back. */
  | { kind: 'acknowledge'; note: string | null; by: string }
  | { kind: 'unacknowledge' }
  /** The interval, the schedule, the alert type or the case's rules changed: the state carries the new ones. */
  | { kind: 'rescheduled' }
  /** The longest time that a run may take changed: the state carries the new one. `open` are those to watch. */
  | { kind: 'runtimeChanged'; open: readonly OpenRun[] }
  /** Something that the snitch needs is not down any more. */
  | { kind: 'relieved' }
  /** A silence ended in the case. */
  | { kind: 'silenceEnded' }
  /** A person changed what the snitch needs. `isHolderNeeded`: what holds its alert is among that still. */
  | { kind: 'needsChanged'; isHolderNeeded: boolean };

export interface TransitionContext extends DeadlineContext {
  /** The instant of the trigger. */
  now: number;
  /**
   * The windows that ended after a check-in that is delivered late, in the order in which they ended: its deadline
   * does not allow for them yet.
   */
  windows?: readonly BlindWindow[];
  /** What the snitch needs; absent for nothing. Only deadlines ask for it, and what is about needs. */
  needs?: NeedsFacts;
}

export interface Transition {
  snitch: SnitchState;
  alert: AlertDecision | null;
  /** The windows that postponed the deadline of a check-in that was delivered late. */
  postponedBy?: readonly BlindWindow[];
}

/** What moves the status; the others are about the runs of a snitch alone. */
export type StateTrigger = Exclude<
  Trigger,
  | { kind: 'start' }
  | { kind: 'runtimeChanged' }
  | { kind: 'relieved' }
  | { kind: 'silenceEnded' }
  | { kind: 'needsChanged' }
>;
