/** Error check-ins that do not count yet: `failures_before_alert`. */
import { type DeadlineContext, deadlineAfterCheckIn } from './deadline.ts';
import { MOST_FAILURES } from './run-rule-fields.ts';
import type { SnitchState } from './snitch.ts';

/**
 * If one error is enough, errors are not counted, which saves a write. One that was kept back may be delivered again
 * because its answer was lost: at the very same time as the last one, it is the same error.
 *
 * @param at when the error was made, if it is reported late
 */
export function errorsAfter(before: SnitchState, at: number | undefined): number {
  const { failuresBeforeAlert, errorsInRow, lastCheckInAt, checkedInAt } = before;
  if (failuresBeforeAlert === 1) return 0;
  const isAgain = at === lastCheckInAt && checkedInAt !== lastCheckInAt;
  return isAgain ? errorsInRow : Math.min(errorsInRow + 1, MOST_FAILURES);
}

/** The status after an error check-in that `errorsInRow` already includes. It changes only once there are enough. */
export function statusAfterError({ status, pause, errorsInRow, failuresBeforeAlert }: SnitchState) {
  const before = pause?.remembered ?? status;
  const isEnough = failuresBeforeAlert === 1 || errorsInRow >= failuresBeforeAlert;
  return isEnough || before === 'paused' ? 'errored' : before;
}

/**
 * When the sweep must look again. An error that leaves a snitch failed still answers for its period: the job has been
 * heard, so a reminder comes only if nothing more is heard, and no sooner than it would have come anyway.
 */
export function awaitedAfter(
  before: SnitchState,
  status: SnitchState['status'],
  at: number,
  context: DeadlineContext,
): number | null {
  const next = deadlineAfterCheckIn(before, at, context);
  if (status !== 'failed') return next;
  return before.dueAt === null || next === null ? before.dueAt : Math.max(before.dueAt, next);
}
