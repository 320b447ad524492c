/** How silences affect a deadline. The silences themselves are in `silence.ts`. */
import { postponeByAll } from '../blind-window.ts';
import type { DeadlineContext } from '../deadline.ts';
import { expectedFrom } from '../expectation.ts';
import { apart, overranBy, overrunsAt, together } from '../runs.ts';
import { isAwaited, type SnitchState } from '../snitch.ts';
import type { SilenceWindow } from './silence.ts';

/** What the sweep does with a snitch that is due. */
export type DueInSilence =
  /** The same as without silences. The deadline of `snitch` already allows for those that ended. */
  | { do: 'apply'; snitch: SnitchState }
  /** Nothing yet: the sweep looks at the snitch again at this instant. */
  | { do: 'wait'; until: number };

export interface Silences {
  /** Silences that ended and may have kept the awaited run from checking in; merged, in order. */
  ended: readonly SilenceWindow[];
  /** When the silence that covers the snitch now ends; null if there is none. */
  until: number | null;
}

/**
 * 1. A pause ends in a silence as at any other time.
 * 2. While a silence lasts, a deadline and a reminder wait for its end. Nothing is decided before then, since somebody
 *    may end the silence early.
 * 3. Then each silence moves the deadline as a blind window of the same length would: the job was not expected to run.
 * 4. A run that takes too long fails its snitch in a silence, too. Who is told about that is decided elsewhere.
 */
export function dueThrough(
  snitch: SnitchState,
  { ended, until }: Silences,
  context: DeadlineContext & { now: number },
): DueInSilence {
  const { plain, open } = apart(snitch);
  if (snitch.status === 'failed') {
    return until === null ? { do: 'apply', snitch } : { do: 'wait', until };
  }
  if (!isAwaited(snitch) || overranBy(plain, open, context.now)) return { do: 'apply', snitch };
  if (until !== null) {
    const overruns = open.filter((run) => !run.excused).map((run) => overrunsAt(run, plain));
    return { do: 'wait', until: Math.min(until, ...overruns) };
  }
  return { do: 'apply', snitch: movedBy(snitch, ended, context) };
}

/** From when on a silence may have kept the awaited run from checking in; null if none is awaited. */
export function concernedFrom(
  snitch: SnitchState,
  context: Omit<DeadlineContext, 'firstCheckIns'>,
): number | null {
  const { plain } = apart(snitch);
  if (!isAwaited(plain) || plain.dueAt === null) return null;
  return expectedFrom(plain, plain.movedFrom ?? plain.dueAt, context);
}

/**
 * The state with its deadline moved by silences that ended. The open runs stay as they are, because the service still
 * receives their ends during a silence.
 *
 * @param windows merged, in order
 */
export function movedBy(
  snitch: SnitchState,
  windows: readonly SilenceWindow[],
  context: DeadlineContext,
): SnitchState {
  if (windows.length === 0) return snitch;
  const { plain, open } = apart(snitch);
  const { snitch: moved, by } = postponeByAll(plain, windows, context);
  // `postponed` counts blind windows only.
  return by.length === 0 ? snitch : together({ ...moved, postponed: plain.postponed }, open);
}
