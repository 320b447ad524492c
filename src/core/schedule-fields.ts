/** What a client may set on when a job is due: `schedule`, `timezone`, `grace` (`extensions: When a job is due`). */
import { wallMinute } from '../text/times.ts';
import type { Validation } from './errors.ts';
import { isObject } from './input.ts';
import { type Interval, intervalFor, isTimeZone, spelledTimeZone } from './interval.ts';
import { ScheduleRefused, wordsOf } from './schedule/refused.ts';
import { readSchedule, type Schedule, type ScheduleRule } from './schedule/schedule.ts';
import { BLANK, type Checked, NOT_AN_OBJECT, parseTimestamp } from './validation.ts';

/** Seconds: a year. */
export const LONGEST_GRACE = 31_536_000;

const EXAMPLES = '{"cron": "0 3 * * 1-5"}, {"calendar": "Mon..Fri 03:00"} or {"every": 5400}';

/**
 * One schedule, with the blanks in its expression tidied up.
 *
 * @param timezone IANA name: the snitch's, or else its case's
 * @param from the job must be due once more after this instant
 */
export function validateSchedule(given: unknown, timezone: string, from: number): Checked<ScheduleRule> {
  if (given === undefined || given === null) return refuse(BLANK);
  if (!isObject(given)) return refuse(`must be an object: ${EXAMPLES}`);
  const kinds = (['cron', 'calendar', 'every'] as const).filter((kind) => (given[kind] ?? null) !== null);
  const [kind] = kinds;
  if (kind === undefined) return refuse(`must be one of ${EXAMPLES}`);
  if (kinds.length > 1)
    return refuse(`must be one of cron, calendar and every, and not ${kinds.join(' and ')}`);
  const value = given[kind];
  if (kind !== 'every' && typeof value !== 'string') return refuse(`has a ${kind} that is no text`);
  try {
    const rule = ruleOf(kind, value);
    const schedule = readSchedule(rule, timezone);
    return schedule.nextAfter(from) === null ? refuse(whyNever(schedule, from)) : { value: rule };
  } catch (error) {
    if (error instanceof ScheduleRefused) return refuse(error.message);
    throw error;
  }
}

function ruleOf(kind: 'cron' | 'calendar' | 'every', value: unknown): ScheduleRule {
  // Anything that is not a number is refused when the schedule is read.
  if (kind === 'every') return { every: typeof value === 'number' ? value : Number.NaN };
  const expression = wordsOf(String(value)).join(' ');
  return kind === 'cron' ? { cron: expression } : { calendar: expression };
}

function whyNever(schedule: Schedule, from: number): string {
  const last = schedule.lastUntil(from);
  if (last === null) return 'would never be due: there is no such day';
  return `would never be due again: the last time was ${wallMinute(last, schedule.timezone)}`;
}

/** As the IANA database spells it; null for the case's zone. */
export function validateTimezone(given: unknown): Checked<string | null> {
  if (given === undefined || given === null || given === '') return { value: null };
  if (typeof given === 'string' && isTimeZone(given)) return { value: spelledTimeZone(given) };
  return refuse('is not a time zone: use an IANA name such as Europe/Berlin or UTC', 'timezone');
}

/** Seconds; null for what follows from the schedule. */
export function validateGrace(given: unknown): Checked<number | null> {
  if (given === undefined || given === null) return { value: null };
  const isRight = Number.isInteger(given) && Number(given) >= 0 && Number(given) <= LONGEST_GRACE;
  if (isRight) return { value: Number(given) };
  return refuse(`must be a whole number of seconds from 0 to ${LONGEST_GRACE}`, 'grace');
}

/** The interval shown to clients of the contract: the shortest of the 17 that the longest gap fits into. */
export function derivedInterval(schedule: Schedule): Interval {
  return intervalFor(schedule.longestGap ?? Number.POSITIVE_INFINITY);
}

export interface ScheduleToCheck {
  rule: ScheduleRule;
  /** Null for the zone of the case. */
  timezone: string | null;
  /** Seconds; null for what follows from the schedule. */
  grace: number | null;
  from: number;
}

/** A schedule to check without storing it: `from`, an ISO 8601 time, is when to begin. */
export function validateScheduleToCheck(
  body: unknown = {},
  caseTimezone: string,
  now: number,
): Checked<ScheduleToCheck> {
  if (!isObject(body)) return { validations: [NOT_AN_OBJECT] };
  const from = validateFrom(body.from, now);
  const timezone = validateTimezone(body.timezone);
  const grace = validateGrace(body.grace);
  const rule = validateSchedule(body.schedule, timezone.value ?? caseTimezone, from.value ?? now);
  const validations = [rule, timezone, grace, from].flatMap((one) => one.validations ?? []);
  if (rule.validations || timezone.validations || grace.validations || from.validations)
    return { validations };
  return { value: { rule: rule.value, timezone: timezone.value, grace: grace.value, from: from.value } };
}

function validateFrom(given: unknown, now: number): Checked<number> {
  if (given === undefined || given === null || given === '') return { value: now };
  const at = typeof given === 'string' ? parseTimestamp(given) : null;
  return at !== null && at >= 0 ? { value: at } : refuse('must be an ISO 8601 time since 1970', 'from');
}

function refuse(message: string, attribute = 'schedule'): { validations: Validation[] } {
  return { validations: [{ attribute, message }] };
}
