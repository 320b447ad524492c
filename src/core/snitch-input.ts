/**
 * What a client may set on a snitch, including when its job is due and how a run must look (`extensions: When a job is
 * due, What a run must look like`). A client that knows only the contract sends an interval; an interval on its own
 * replaces a schedule.
 */
import type { Validation } from './errors.ts';
import { type Body, isObject } from './input.ts';
import { type Interval, isMinuteInterval } from './interval.ts';
import { ANY_RUN, type RunRules } from './judgement/rules.ts';
import { readNeeds } from './needs/needs.ts';
import { NOTHING_WATCHED, readRunFields } from './run-fields.ts';
import { readRunRules } from './run-rule-fields.ts';
import { readSchedule, type ScheduleRule } from './schedule/schedule.ts';
import { derivedInterval, validateGrace, validateSchedule, validateTimezone } from './schedule-fields.ts';
import type { AlertType, DueFields, RunFields } from './snitch.ts';
import {
  type Checked,
  SMART_WITH_MINUTES,
  type SnitchInput,
  validateNewSnitch,
  validateSnitchChanges,
} from './validation.ts';

export const SMART_WITH_SCHEDULE: Validation = {
  attribute: 'alert_type',
  message: 'a schedule says when the job is due; smart learns it',
};

export type FullInput = SnitchInput & DueFields & RunFields & RunRules & { needs: string[] };

/** The context of a request: the time zone of the case, and the instant. */
export interface Said {
  timezone: string;
  now: number;
}

type Stored = DueFields & { interval: Interval; alertType: AlertType };

const NOTHING = { schedule: null, timezone: null, grace: null, ...NOTHING_WATCHED };

const NOTHING_SAID: Omit<FullInput, keyof SnitchInput> = { ...NOTHING, ...ANY_RUN, needs: [] };

/** With these, every run would be an error or an alarm. */
export const MIN_ABOVE_MAX: Validation = { attribute: 'min_runtime', message: 'is longer than max_runtime' };

/** The validation for fields that contradict each other, or null. */
export function refusedTogether({
  schedule,
  interval,
  alertType,
  minRuntime,
  maxRuntime,
}: Pick<Stored, 'schedule' | 'interval' | 'alertType'> &
  RunFields &
  Pick<RunRules, 'minRuntime'>): Validation | null {
  if (minRuntime !== null && maxRuntime !== null && minRuntime > maxRuntime) return MIN_ABOVE_MAX;
  if (alertType !== 'smart') return null;
  if (schedule !== null) return SMART_WITH_SCHEDULE;
  return isMinuteInterval(interval) ? SMART_WITH_MINUTES : null;
}

/** A new snitch needs `name`, and `interval` or `schedule`. */
export function readNewSnitch(body: unknown, said: Said): Checked<FullInput> {
  if (!isObject(body)) return merged(validateNewSnitch(body), { value: NOTHING_SAID });
  const due = readDue(body, NOTHING, said);
  const isScheduled = isGiven(body.schedule);
  const fields = validateNewSnitch(isScheduled ? withInterval(body, due.value, said) : body);
  const own = merged(merged(merged(due, readRunFields(body)), readRunRules(body)), readNeedsOf(body));
  const read = merged(withoutSmart(fields, body, isScheduled), own, NOTHING_SAID);
  const refused = read.value ? refusedTogether(read.value) : null;
  return refused ? { validations: [refused] } : read;
}

/**
 * Any subset of the fields. What is not given stays as in `stored`, with two exceptions: an `interval` alone drops
 * the schedule, and with the schedule goes its time zone.
 */
export function readSnitchChanges(body: unknown, stored: Stored, said: Said): Checked<Partial<FullInput>> {
  if (!isObject(body)) return merged(validateSnitchChanges(body, stored), { value: {} });
  const dropped = stored.schedule !== null && (body.schedule === null || isInPlace(body, stored));
  const due = readDue(body, stored, said);
  const isScheduled =
    body.schedule === undefined ? stored.schedule !== null && !dropped : isGiven(body.schedule);
  const filled = isGiven(body.schedule) ? withInterval(body, due.value, said) : body;
  const fields = withoutSmart(validateSnitchChanges(filled, stored), body, isScheduled, stored.alertType);
  const cleared = dropped ? { schedule: null, timezone: null } : {};
  const own = merged(due.value ? { value: { ...cleared, ...due.value } } : due, readRunFields(body));
  return merged(fields, merged(merged(own, readRunRules(body)), readNeedsOf(body)));
}

/** Those of `schedule`, `timezone` and `grace` that are given. */
function readDue(
  body: Body,
  stored: DueFields,
  { timezone: caseZone, now }: Said,
): Checked<Partial<DueFields>> {
  const value: Partial<DueFields> = {};
  const validations: Validation[] = [];
  const zone = validateTimezone(body.timezone);
  if (zone.validations) validations.push(...zone.validations);
  else if (body.timezone !== undefined) value.timezone = zone.value;
  const grace = validateGrace(body.grace);
  if (grace.validations) validations.push(...grace.validations);
  else if (body.grace !== undefined) value.grace = grace.value;
  // A stored schedule without further runs can be sent back with the rest of the snitch.
  const isStored = JSON.stringify(body.schedule) === JSON.stringify(stored.schedule);
  if (body.schedule === null) value.schedule = null;
  else if (isStored) value.schedule = stored.schedule;
  else if (body.schedule !== undefined) {
    const own = value.timezone === undefined ? stored.timezone : value.timezone;
    const rule = validateSchedule(body.schedule, own ?? caseZone, now);
    if (rule.validations) validations.unshift(...rule.validations);
    else value.schedule = rule.value;
  }
  return validations.length > 0 ? { validations } : { value };
}

function readNeedsOf({ needs }: Body): Checked<{ needs?: string[] }> {
  if (needs === undefined) return { value: {} };
  const read = readNeeds(needs);
  return 'refused' in read
    ? { validations: [{ attribute: 'needs', message: read.refused }] }
    : { value: { needs: read.needs } };
}

/** The body with the interval that follows from the schedule, if it gives none. */
function withInterval(body: Body, due: Partial<DueFields> | undefined, said: Said): Body {
  if (intervalsIn(body).length > 0) return body;
  const { type: _, ...others } = body;
  // If the schedule is refused, any valid interval will do: no validation should be about it.
  return { ...others, interval: due?.schedule ? intervalOf(due.schedule, due.timezone, said) : 'daily' };
}

function intervalOf(rule: ScheduleRule, timezone: string | null | undefined, said: Said): Interval {
  return derivedInterval(readSchedule(rule, timezone ?? said.timezone));
}

/**
 * Whether the interval replaces the schedule. An unchanged interval next to other fields is just sent back by a
 * client that does not know schedules.
 */
function isInPlace(body: Body, stored: Stored): boolean {
  const [interval] = intervalsIn(body);
  if (interval === undefined || body.schedule !== undefined) return false;
  const others = [body.name, body.notes, body.tags, body.alert_email];
  return interval !== stored.interval || others.every((other) => other === undefined);
}

/** The two forms of the interval, as far as given and not blank. */
function intervalsIn({ interval, type }: Body): unknown[] {
  return [interval, isObject(type) ? type.interval : undefined].filter(isGiven);
}

/** @param alertType what the snitch has, used if the body does not say */
function withoutSmart<T>(
  fields: Checked<T>,
  body: Body,
  isScheduled: boolean,
  alertType: AlertType = 'basic',
): Checked<T> {
  const wanted = isGiven(body.alert_type) ? body.alert_type : alertType;
  if (!isScheduled || wanted !== 'smart') return fields;
  const others = (fields.validations ?? []).filter(({ attribute }) => attribute !== 'alert_type');
  return { validations: [...others, SMART_WITH_SCHEDULE] };
}

function merged<One, Other>(one: Checked<One>, other: Checked<Other>): Checked<One & Other>;
/** @param base supplies what `other` leaves out */
function merged<One, Base>(one: Checked<One>, other: Checked<Partial<Base>>, base: Base): Checked<One & Base>;
function merged(one: Checked<object>, other: Checked<object>, base: object = {}): Checked<object> {
  if (one.validations || other.validations) {
    return { validations: [...(one.validations ?? []), ...(other.validations ?? [])] };
  }
  return { value: { ...base, ...one.value, ...other.value } };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');
}
