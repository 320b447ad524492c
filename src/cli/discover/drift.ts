/** Compares when a job of the host is due with what its snitch expects. */
import type { SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { instantsAfter, readOrNull, type Schedule } from '../../core/schedule/schedule.ts';
import { scheduleWithZone } from '../../core/schedule-name.ts';
import { DAY, durationInWords, SECOND } from '../../text/durations.ts';
import type { Due } from './due/due.ts';

export interface Difference {
  /** Whether the snitch raises false alarms or notices failures too late. Otherwise it could only be more exact. */
  isDrift: boolean;
  words: string;
  /** The changes that would mend it; null if only a person can decide. */
  changes: SnitchInput | null;
}

interface Moment {
  /** Time zone of the case. */
  caseZone: string;
  now: number;
}

/** @returns null if the snitch expects what the job does, or is more patient */
export function differenceOf(due: Due, snitch: WireSnitch, moment: Moment): Difference | null {
  if (snitch.schedule) return scheduleDifference(due, snitch, moment) ?? graceDifference(due, snitch, moment);
  return intervalDifference(due, snitch);
}

/** `cron 0 3 * * 1-5 (Europe/Berlin)`, or the interval that has to do. */
export function dueInWords({ schedule, timezone, interval }: Due): string {
  return schedule ? scheduleWithZone(schedule, timezone, 'UTC') : (interval ?? '');
}

function scheduleDifference(due: Due, snitch: WireSnitch, { caseZone, now }: Moment): Difference | null {
  // Somebody gave the snitch a schedule, but this program cannot read one from the job to compare.
  if (due.schedule === null) return null;
  const zone = snitch.timezone ?? caseZone;
  const [of, mine] = [snitch.schedule ?? due.schedule, due.schedule];
  if (isSame(of, zone, mine, due.timezone ?? zone, now)) return null;
  const words = `its snitch expects ${scheduleWithZone(of, snitch.timezone, caseZone)}, and it runs by ${dueInWords(due)}`;
  const isGraceLongEnough = typeof snitch.grace === 'number' && snitch.grace >= due.lateness;
  const { schedule, timezone, grace } = due;
  return {
    isDrift: true,
    words,
    changes: { schedule, timezone, ...(isGraceLongEnough && !isEvery(of) ? {} : { grace }) },
  };
}

function isEvery(rule: object): boolean {
  return 'every' in rule;
}

type Rule = NonNullable<Due['schedule']>;

/** Whatever is due at the same instants is the same, however it is written. */
function isSame(one: Rule, zone: string, other: Rule, otherZone: string, now: number): boolean {
  if ('every' in one || 'every' in other) return JSON.stringify(one) === JSON.stringify(other);
  if (JSON.stringify(one) === JSON.stringify(other) && zone === otherZone) return true;
  const [first, second] = [readOrNull(one, zone), readOrNull(other, otherZone)];
  if (first === null || second === null) return false;
  return samples(first, now).join() === samples(second, now).join();
}

/**
 * This many runs in a row are compared, and the next run after each of this many later times, this far apart in
 * milliseconds: zones with different clock changes then differ.
 */
const IN_A_ROW = 100;
const TIMES = 60;
const APART = 20 * DAY;

function samples(schedule: Schedule, now: number): (number | null)[] {
  const later = Array.from({ length: TIMES }, (_, index) => schedule.nextAfter(now + (index + 1) * APART));
  return [...instantsAfter(schedule, now, IN_A_ROW), ...later];
}

function graceDifference(due: Due, snitch: WireSnitch, { caseZone, now }: Moment): Difference | null {
  if (!snitch.schedule || due.schedule === null) return null;
  const schedule = readOrNull(snitch.schedule, snitch.timezone ?? caseZone);
  if (schedule === null) return null;
  const allowed = snitch.grace ?? schedule.defaultGrace(now) / SECOND;
  if (allowed >= due.lateness) return null;
  const inWords = (seconds: number) => (seconds === 0 ? 'none' : durationInWords(seconds * SECOND));
  const words = `its snitch has a grace of ${inWords(allowed)}, and the host itself may start it ${inWords(due.lateness)} late`;
  return { isDrift: true, words, changes: { grace: due.grace } };
}

function intervalDifference(due: Due, snitch: WireSnitch): Difference | null {
  const isFitting = snitch.interval === due.interval;
  const isSmart = snitch.alert_type === 'smart';
  // A server that knows no schedules leaves the field out.
  const canHaveOne = snitch.schedule !== undefined && due.schedule !== null && !isSmart;
  if (isFitting && !canHaveOne) return null;
  const { schedule, timezone, grace, interval } = due;
  const byInterval = interval === null ? null : { interval };
  const words = `its snitch has the interval ${snitch.interval}, and it runs by ${dueInWords(due)}`;
  return { isDrift: !isFitting, words, changes: canHaveOne ? { schedule, timezone, grace } : byInterval };
}
