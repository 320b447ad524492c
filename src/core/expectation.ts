/**
 * When the check-in that a deadline awaits is expected (`decisions: When the service itself was blind`): by the
 * schedule of the snitch, or by its interval and history.
 */
import { MINUTE } from '../text/durations.ts';
import type { DeadlineContext } from './deadline.ts';
import { addIntervals, addIntervalsOnWallClock, nominalLength, type Period } from './interval.ts';
import { graceOf, lengthenedBy, scheduleOf } from './job-schedule.ts';
import type { Schedule } from './schedule/schedule.ts';
import { earliestCheckIn } from './schedule/timing.ts';
import { LEAST_KNOWN, learnedTime, smartDeadlineIn } from './smart-deadline.ts';
import type { SnitchState } from './snitch.ts';

/** Without a history, the tolerance around the expected instant: a share of the interval within these bounds. */
const TOLERANCE_SHARE = 0.05;
const SMALLEST_TOLERANCE = MINUTE;
const LARGEST_TOLERANCE = 15 * MINUTE;

/** With a history, the learned times are widened by this much on both sides. */
const WIDER = MINUTE;

export interface Expectation {
  /** The earliest instant at which the check-in can come. */
  from: number;
  /** The instant at which it is expected: the schedule's, or the middle of the first of the times below. */
  instant(): number;
  /** The times at which it is expected: more than one if a clock change leaves open which is meant. */
  times(): Period[];
  /**
   * The deadline of the first check-in that cannot fall into a window that ended at `end`; null if no further
   * one is due.
   */
  deadlineBehind(end: number): number | null;
}

/** The earliest instant at which the check-in that `deadline` awaits can come. */
export function expectedFrom(
  snitch: SnitchState,
  deadline: number,
  context: Omit<DeadlineContext, 'firstCheckIns'>,
): number {
  const schedule = scheduleOf(snitch, context.rules.timezone);
  if (schedule === null) return periodBefore(snitch, deadline, context).start;
  return earliestCheckIn(schedule, deadline - graceOf(snitch, schedule, deadline));
}

export function expectationOf(snitch: SnitchState, deadline: number, context: DeadlineContext): Expectation {
  const schedule = scheduleOf(snitch, context.rules.timezone);
  const from = expectedFrom(snitch, deadline, context);
  if (schedule !== null) {
    return {
      from,
      instant: () => deadline - graceOf(snitch, schedule, deadline),
      // A job may use all of its grace before it checks in.
      times: () => [{ start: from, end: deadline }],
      deadlineBehind: (end) => deadlineOfRunBehind(snitch, schedule, end),
    };
  }
  const awaited = periodBefore(snitch, deadline, context);
  const grace = lengthenedBy(snitch);
  const times = () => expectedTimes(snitch, awaited, deadline - grace, context);
  return {
    from,
    instant: () => Math.min(...times().map(({ start, end }) => (start + end) / 2)),
    times,
    deadlineBehind: (end) => deadlineOfPeriodBehind(snitch, awaited, end, context) + grace,
  };
}

function deadlineOfRunBehind(snitch: SnitchState, schedule: Schedule, end: number): number | null {
  let run = schedule.nextAfter(end);
  while (run !== null && earliestCheckIn(schedule, run) <= end) run = schedule.nextAfter(run);
  return run === null ? null : run + graceOf(snitch, schedule, end);
}

/** The period whose check-in a deadline awaits. */
function periodBefore(
  snitch: SnitchState,
  deadline: number,
  { calendar, rules }: Pick<DeadlineContext, 'calendar' | 'rules'>,
): Period {
  return calendar.periodAt(snitch.interval, rules.timezone, deadline - lengthenedBy(snitch) - 1);
}

/**
 * When the check-in of the period `awaited` is expected: at the time learned from the last periods; with too few of
 * them, as many intervals after the last check-in as fit before the deadline. If the clock changes in between, a job
 * that follows the local clock and one that counts in UTC are expected an hour apart, and both may be meant.
 */
function expectedTimes(
  snitch: SnitchState,
  awaited: Period,
  deadline: number,
  { rules, firstCheckIns }: DeadlineContext,
): Period[] {
  const { interval, lastCheckInAt } = snitch;
  const { timezone } = rules;
  const learned = learnedTime(awaited, interval, timezone, firstCheckIns);
  if (learned) return [{ start: learned.start - WIDER, end: learned.end + WIDER }];
  if (lastCheckInAt === null) return [awaited];
  const share = TOLERANCE_SHARE * nominalLength(interval);
  const tolerance = Math.min(LARGEST_TOLERANCE, Math.max(SMALLEST_TOLERANCE, share));
  const readings = [
    (count: number) => addIntervals(interval, 'UTC', lastCheckInAt, count),
    (count: number) => addIntervalsOnWallClock(interval, timezone, lastCheckInAt, count),
  ];
  return readings.map((after) => {
    const at = lastBefore(deadline, after, (deadline - lastCheckInAt) / nominalLength(interval));
    return { start: at - tolerance, end: at + tolerance };
  });
}

/** The last of the instants `after(1)`, `after(2)`, … before `deadline`, and at least the first. */
function lastBefore(deadline: number, after: (count: number) => number, about: number): number {
  let count = Math.max(1, Math.floor(about) - 1);
  while (after(count + 1) < deadline) count += 1;
  return after(count);
}

/** The deadline of the first period that lies entirely after the window. */
function deadlineOfPeriodBehind(
  { interval, alertType }: SnitchState,
  awaited: Period,
  end: number,
  { calendar, rules, firstCheckIns, late }: DeadlineContext,
): number {
  const { timezone } = rules;
  let period = calendar.periodAt(interval, timezone, Math.max(awaited.start, end));
  if (alertType === 'basic' || firstCheckIns.length < LEAST_KNOWN) {
    return period.start >= end ? period.end : calendar.periodAfter(interval, timezone, period.start).end;
  }
  for (;;) {
    const time = learnedTime(period, interval, timezone, firstCheckIns);
    if (time && time.start - WIDER > end) {
      return smartDeadlineIn(period, interval, timezone, firstCheckIns, null, late);
    }
    period = calendar.periodAfter(interval, timezone, period.start);
  }
}
