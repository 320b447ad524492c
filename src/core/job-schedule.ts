/** The schedule of a snitch, if it has one, and its grace (`extensions: When a job is due`). */
import { SECOND } from '../text/durations.ts';
import { nominalLength } from './interval.ts';
import { type Schedule, type ScheduleRule, Schedules } from './schedule/schedule.ts';
import type { DueFields, SnitchState } from './snitch.ts';

/** The fields that say when the job of a snitch is due; an absent one means null. */
export type Job = Pick<SnitchState, 'interval' | 'alertType'> & Partial<DueFields>;

/** Parsing an expression costs more than using it, and check-ins use the same ones again and again. */
const READ = new Schedules();

/** The same by zone and by the object that `ruleIn` returns, which is a quicker key than the text. */
const READ_RULES = new WeakMap<ScheduleRule, Map<string, Schedule>>();

/** How many zones one rule is remembered for. */
const REMEMBERED_ZONES = 50;

const RULES = new Map<string, ScheduleRule>();
const REMEMBERED_RULES = 4_000;

/** The rule stored as JSON. */
export function ruleIn(text: string): ScheduleRule {
  const known = RULES.get(text);
  if (known) return known;
  const rule = Object.freeze(JSON.parse(text)) as ScheduleRule;
  if (RULES.size >= REMEMBERED_RULES) RULES.clear();
  RULES.set(text, rule);
  return rule;
}

/** @param timezone that of the case; @returns null if the interval says when the job is due */
export function scheduleOf(
  { schedule = null, timezone: own = null }: Partial<DueFields>,
  timezone: string,
): Schedule | null {
  if (schedule === null) return null;
  const zone = own ?? timezone;
  return READ_RULES.get(schedule)?.get(zone) ?? read(schedule, zone);
}

function read(rule: ScheduleRule, zone: string): Schedule {
  const schedule = READ.read(rule, zone);
  const known = READ_RULES.get(rule) ?? new Map<string, Schedule>();
  if (known.size >= REMEMBERED_ZONES) known.clear();
  known.set(zone, schedule);
  READ_RULES.set(rule, known);
  return schedule;
}

/** The grace of a schedule in milliseconds: as set, or else derived from the schedule. */
export function graceOf({ grace = null }: Partial<DueFields>, schedule: Schedule, at: number): number {
  return grace === null ? schedule.defaultGrace(at) : grace * SECOND;
}

/** By how many milliseconds the deadline of an interval is later than that of the contract. */
export function lengthenedBy({ grace = null }: Partial<DueFields>): number {
  return (grace ?? 0) * SECOND;
}

/** The longest time from one run to the next, in milliseconds, give or take a clock change. */
export function usualLength(job: Omit<Job, 'alertType'>, timezone: string): number {
  return scheduleOf(job, timezone)?.longestGap ?? nominalLength(job.interval);
}

/** Whether a change of the case's time zone, which is now `timezone`, changes when the job is due. */
export function followsCaseZone({ schedule, timezone: own }: DueFields, timezone: string): boolean {
  if (schedule === null) return true;
  if ('every' in schedule || own !== null) return false;
  return READ.read(schedule, timezone).timezone === timezone;
}

/** Whether the deadlines of both are the same. The interval beside a schedule is only shown. */
export function isDueAlike(one: Job & DueFields, other: Job & DueFields): boolean {
  const isSame = JSON.stringify(one.schedule) === JSON.stringify(other.schedule);
  if (!isSame || one.grace !== other.grace || one.alertType !== other.alertType) return false;
  return one.schedule === null ? one.interval === other.interval : one.timezone === other.timezone;
}
