/** Joins several expressions for one job, because a snitch has only one. */
import { ScheduleRefused } from '../../core/schedule/refused.ts';
import {
  instantsAfter,
  readOrNull,
  readSchedule,
  type Schedule,
  type ScheduleRule,
} from '../../core/schedule/schedule.ts';
import { DAY, durationInWords, SECOND } from '../../text/durations.ts';
import { NotUnderstood } from './schedule.ts';

export interface Joined {
  rule: ScheduleRule;
  /** How it differs from what is written; null if it does not. */
  remark: string | null;
  /** Seconds between two runs, at most; infinite for a single run. */
  longestGap: number;
}

/**
 * One schedule for several OnCalendar expressions: one expression that means all of them if there is one, or else the
 * longest time between two of their runs.
 *
 * @param now expressions that are never due after this are left out if others are
 * @throws NotUnderstood for one that cannot be read
 */
export function joinCalendars(expressions: readonly string[], timezone: string, now: number): Joined {
  const read = [...new Set(expressions)].map((expression) => readCalendar(expression, timezone));
  const ahead = read.filter(({ schedule }) => schedule.nextAfter(now) !== null);
  const left = ahead.length > 0 ? ahead : read;
  const remark = left.find((one) => one.remark !== null)?.remark ?? null;
  const schedules = left.map(({ schedule }) => schedule);
  const longestGap = longestGapAmong(schedules, now);
  const calendar = mergedAll(
    left.map(({ expression }) => expression),
    mergedExpression,
  );
  const rule = calendar === null ? null : { calendar };
  if (rule !== null && (left.length === 1 || isUnion(rule, schedules, timezone, now))) {
    return { rule, remark, longestGap };
  }
  return everyGap(longestGap, `its ${left.length} OnCalendar expressions`);
}

/** One schedule for several cron schedules. @throws NotUnderstood for one that cannot be read */
export function joinSchedules(rules: readonly ScheduleRule[], timezone: string, now: number): Joined {
  const schedules = rules.map((rule) => read(rule, timezone));
  const longestGap = longestGapAmong(schedules, now);
  const cron = mergedAll(
    rules.map((rule) => ('cron' in rule ? rule.cron : '')),
    mergedCron,
  );
  if (cron && isUnion({ cron }, schedules, timezone, now))
    return { rule: { cron }, remark: null, longestGap };
  return everyGap(longestGap, `its ${rules.length} schedules`);
}

function everyGap(seconds: number, what: string): Joined {
  if (!Number.isFinite(seconds)) throw new NotUnderstood('it never runs twice');
  const every = Math.max(60, Math.ceil(seconds));
  const length = durationInWords(every * SECOND);
  const remark = `no single expression says the same as ${what}: after ${length} it is awaited, the longest time between two runs`;
  return { rule: { every }, remark, longestGap: seconds };
}

interface ReadCalendar {
  expression: string;
  schedule: Schedule;
  remark: string | null;
}

function readCalendar(expression: string, timezone: string): ReadCalendar {
  try {
    return { expression, schedule: readSchedule({ calendar: expression }, timezone), remark: null };
  } catch (error) {
    if (!(error instanceof ScheduleRefused)) throw error;
    const whole = /more often/.test(error.message) ? withoutSeconds(expression) : null;
    if (whole === null) throw new NotUnderstood(`it ${error.message}`);
    const remark = `it runs more often than once a minute, and is awaited as by ${whole}`;
    return { expression: whole, schedule: read({ calendar: whole }, timezone), remark };
  }
}

function read(rule: ScheduleRule, timezone: string): Schedule {
  try {
    return readSchedule(rule, timezone);
  } catch (error) {
    if (error instanceof ScheduleRefused) throw new NotUnderstood(`it ${error.message}`);
    throw error;
  }
}

/** The same expression at the full minute; null if it is there already. */
function withoutSeconds(expression: string): string | null {
  const whole = expression.replace(/(\S+:\S+):\S+/, '$1:00');
  return whole === expression ? null : whole;
}

/** How far ahead the longest gap is searched for, in milliseconds, and among how many runs of each at most. */
const AHEAD = 800 * DAY;
const MOST_RUNS = 20_000;

/** Seconds, with the hour that a clock change adds. */
function longestGapAmong(schedules: readonly Schedule[], now: number): number {
  const found = schedules.map((schedule) => instantsUntil(schedule, now, now + AHEAD));
  // After the last known run of any of them, the others alone would seem to have gaps that do not exist.
  const end = Math.min(...found.map(({ knownUntil }) => knownUntil));
  const instants = found.flatMap(({ instants: all }) => all).filter((at) => at <= end);
  const inOrder = [...new Set(instants)].sort((one, other) => one - other);
  let longest = inOrder.length < 2 ? Number.POSITIVE_INFINITY : 0;
  for (const [index, at] of inOrder.entries()) {
    if (index > 0) longest = Math.max(longest, at - (inOrder[index - 1] ?? at));
  }
  return longest / SECOND;
}

interface Found {
  instants: number[];
  knownUntil: number;
}

function instantsUntil(schedule: Schedule, from: number, until: number): Found {
  const instants: number[] = [];
  let at = schedule.nextAfter(from);
  while (at !== null && instants.length < MOST_RUNS) {
    // The first run beyond shows how long the last gap is.
    instants.push(at);
    if (at > until) return { instants, knownUntil: at };
    at = schedule.nextAfter(at);
  }
  return { instants, knownUntil: at === null ? Number.POSITIVE_INFINITY : (instants.at(-1) ?? from) };
}

/** How many runs are compared. */
const COMPARED = 200;

function isUnion(merged: ScheduleRule, of: readonly Schedule[], timezone: string, now: number): boolean {
  const all = of.flatMap((schedule) => instantsAfter(schedule, now, COMPARED));
  const union = [...new Set(all)].sort((one, other) => one - other).slice(0, COMPARED);
  const schedule = readOrNull(merged, timezone);
  const found = schedule === null ? [] : instantsAfter(schedule, now, COMPARED);
  return union.every((at, index) => found[index] === at);
}

type Merge = (one: string, other: string) => string | null;

function mergedAll([first = '', ...others]: readonly string[], merge: Merge): string | null {
  let merged: string | null = first;
  for (const other of others) merged = merged === null ? null : merge(merged, other);
  return merged;
}

/** One cron expression for two that differ in only one field; null for others. */
function mergedCron(one: string, other: string): string | null {
  const [fields, others] = [one.trim().split(/\s+/), other.trim().split(/\s+/)];
  const differing = fields.flatMap((field, index) => (field === others[index] ? [] : [index]));
  const [place] = differing;
  if (fields.length !== 5 || others.length !== 5 || differing.length > 1) return null;
  return place === undefined ? one : fields.with(place, `${fields[place]},${others[place]}`).join(' ');
}

/** One expression for two that differ in only one part; null for others. */
function mergedExpression(one: string, other: string): string | null {
  const [parts, others] = [partsOf(one), partsOf(other)];
  if (parts === null || others === null) return null;
  const differing = parts.flatMap((part, index) => (part === others[index] ? [] : [index]));
  const [place] = differing;
  if (place === undefined) return one;
  const [mine = '', theirs = ''] = [parts[place], others[place]];
  // The whole date is one part, and zones cannot be joined.
  if (differing.length > 1 || place === DATE || place === ZONE || mine === '' || theirs === '') return null;
  const [weekdays, date, hour, minute, second, zone] = parts.with(place, `${mine},${theirs}`);
  return [weekdays, date, `${hour}:${minute}:${second}`, zone].filter(Boolean).join(' ');
}

const DATE = 1;
const ZONE = 5;

/** Weekdays, date, hour, minute, second and zone; null for an expression of another form. */
function partsOf(expression: string): string[] | null {
  const form =
    /^(?:([A-Za-z][A-Za-z.,-]*)\s+)?(?:(\S*[-~]\S*)\s+)?([^\s:]+):([^\s:]+)(?::([^\s:]+))?(?:\s+([A-Za-z]\S*))?$/;
  const found = form.exec(expression.trim());
  if (found === null) return null;
  const [, weekdays = '', date = '*-*-*', hour = '', minute = '', second = '00', zone = ''] = found;
  return [weekdays, date, hour, minute, second, zone];
}
