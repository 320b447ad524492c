/** What a client may set on a silence: input → value, or one validation per failing attribute. */
import { DAY, durationInWords, HOUR, MINUTE, SECOND } from '../../text/durations.ts';
import type { Validation } from '../errors.ts';
import { type Body, isGiven, isObject, refuse } from '../input.ts';
import { readSchedule, type ScheduleRule } from '../schedule/schedule.ts';
import { validateSchedule, validateTimezone } from '../schedule-fields.ts';
import {
  BLANK,
  type Checked,
  hasOffset,
  NOT_AN_OBJECT,
  parseTimestamp,
  validateSnitchChanges,
} from '../validation.ts';
import type { NewSilence, Silence, SilenceScope, SilenceTime } from './silence.ts';

/** For any longer, a job should be paused or deleted instead of silenced; milliseconds. */
export const LONGEST_SILENCE = 31 * DAY;
export const SHORTEST_SILENCE = MINUTE;

/** How far ahead a silence can begin, in milliseconds. */
const FARTHEST = 366 * DAY;

/** A recurring silence begins at most once in this time, in milliseconds. */
const CLOSEST = HOUR;

const MOST_TOKENS = 500;
const NOTE_LENGTH = 1_000;

/** The most silences a case can have that are not over. */
export const MOST_SILENCES = 200;

export interface SilenceSurroundings {
  /** IANA name: that of the case. */
  timezone: string;
  now: number;
}

/** A missing body counts as an empty object. */
export function validateNewSilence(given: unknown = {}, around: SilenceSurroundings): Checked<NewSilence> {
  if (!isObject(given)) return { validations: [NOT_AN_OBJECT] };
  const scope = checkScope(given);
  const time = isGiven(given.schedule) ? checkRecurring(given, around) : checkOnce(given, around.now);
  const note = checkNote(given.note);
  const validations = [scope, time, note].flatMap((one) => one.validations ?? []);
  if (scope.validations || time.validations || note.validations) return { validations };
  return { value: { scope: scope.value, time: time.value, note: note.value } };
}

/** What can be changed: the end of a silence that is neither recurring nor over, and the note. */
export interface SilenceChanges {
  to?: number;
  note?: string;
}

const UNCHANGEABLE = ['tags', 'tokens', 'all', 'from', 'schedule', 'timezone'] as const;

/** @param stored `from` and the like, which a client reads and sends back unchanged, are ignored */
export function validateSilenceChanges(
  given: unknown,
  { time }: Pick<Silence, 'time'>,
  now: number,
): Checked<SilenceChanges> {
  if (!isObject(given)) return { validations: [NOT_AN_OBJECT] };
  const changes: SilenceChanges = {};
  const validations: Validation[] = [];
  if (given.note !== undefined) {
    const note = checkNote(given.note);
    if (note.validations) validations.push(...note.validations);
    else changes.note = note.value;
  }
  if (isGiven(given.to)) {
    const to =
      time.kind === 'once'
        ? checkNewEnd(given, Math.max(time.from, now), now)
        : refuse('to', 'is nothing for a recurring silence: delete it, and make another one');
    if (to.validations) validations.push(...to.validations);
    else changes.to = to.value;
  }
  if (validations.length > 0) return { validations };
  const isEmpty = Object.keys(changes).length === 0;
  if (!isEmpty || !UNCHANGEABLE.some((name) => isGiven(given[name]))) return { value: changes };
  return refuse('body', 'only "to" and "note" can change: delete the silence, and make another one');
}

function checkScope(body: Body): Checked<SilenceScope> {
  const given = (['tags', 'tokens', 'all'] as const).filter(
    (name) => isGiven(body[name]) && body[name] !== false,
  );
  const [kind] = given;
  if (kind === undefined) {
    return refuse('tags', 'are missing: say which snitches, by "tags", by "tokens", or by "all": true');
  }
  if (given.length > 1) return refuse(kind, `exclude ${given.slice(1).join(' and ')}: give one of the three`);
  switch (kind) {
    case 'all':
      return body.all === true ? { value: { kind } } : refuse('all', 'must be true');
    case 'tags':
      return checkTags(body.tags);
    case 'tokens':
      return checkTokens(body.tokens);
  }
}

function checkTags(given: unknown): Checked<SilenceScope> {
  const { value, validations } = validateSnitchChanges({ tags: given });
  if (validations) return { validations };
  const tags = [...new Set(value.tags)];
  return tags.length > 0 ? { value: { kind: 'tags', tags } } : refuse('tags', BLANK);
}

function checkTokens(given: unknown): Checked<SilenceScope> {
  if (!Array.isArray(given) || !given.every((token) => typeof token === 'string' && token !== '')) {
    return refuse('tokens', 'must be a list of the tokens of snitches');
  }
  const tokens = [...new Set(given as string[])];
  if (tokens.length === 0) return refuse('tokens', BLANK);
  if (tokens.length > MOST_TOKENS) {
    return refuse('tokens', `are too many: ${MOST_TOKENS} is the most, so give the snitches a tag`);
  }
  return { value: { kind: 'tokens', tokens } };
}

/** Begins now unless `from` is given. A duration counts from the beginning. */
function checkOnce(body: Body, now: number): Checked<SilenceTime> {
  const { value: timezone, validations } = zoneOfTimes(body);
  if (validations) return { validations };
  const from = isGiven(body.from) ? checkBeginning(body.from, now, timezone) : { value: now };
  if (isGiven(body.to) && isGiven(body.duration)) {
    return bothOf(from, refuse('duration', 'excludes "to": give one of the two'));
  }
  if (!isGiven(body.to) && !isGiven(body.duration)) {
    const message = `${BLANK}: say until when, by "to" or by "duration" in seconds, or give a "schedule"`;
    return bothOf(from, refuse('to', message));
  }
  const start = from.value ?? now;
  const length = isGiven(body.duration) ? checkDuration(body.duration) : null;
  if (length?.validations) return bothOf(from, length);
  const to = length ? { value: start + length.value } : checkEnd(body.to, start, now, timezone);
  if (from.validations || to.validations) return bothOf(from, to);
  return { value: { kind: 'once', from: from.value, to: to.value } };
}

/** The zone in which `from` and `to` are read; it is not needed if both have an offset. */
function zoneOfTimes({ from, to, timezone }: Body): Checked<string> {
  const isAsked = [from, to].some((time) => typeof time === 'string' && !hasOffset(time));
  const zone = isAsked ? validateTimezone(timezone) : { value: null };
  return zone.validations ? zone : { value: zone.value ?? 'UTC' };
}

function bothOf(...checked: Checked<unknown>[]): { validations: Validation[] } {
  return { validations: checked.flatMap(({ validations = [] }) => validations) };
}

/** A silence begins now at the earliest, even if the client's clock says that it began before. */
function checkBeginning(given: unknown, now: number, timezone: string): Checked<number> {
  const from = instantOf(given, timezone);
  if (from === null) return refuse('from', 'must be an ISO 8601 time');
  if (from > now + FARTHEST) return refuse('from', `must be within ${inDays(FARTHEST)}`);
  return { value: Math.max(from, now) };
}

function checkNewEnd({ to, timezone }: Body, from: number, now: number): Checked<number> {
  const zone = zoneOfTimes({ to, timezone });
  return zone.validations ? zone : checkEnd(to, from, now, zone.value);
}

function checkEnd(given: unknown, from: number, now: number, timezone: string): Checked<number> {
  const to = instantOf(given, timezone);
  if (to === null) return refuse('to', 'must be an ISO 8601 time');
  if (to <= now) return refuse('to', 'must be in the future');
  if (to <= from) return refuse('to', 'must be later than "from"');
  if (to - from > LONGEST_SILENCE) return refuse('to', tooLong());
  return { value: to };
}

function tooLong(): string {
  return `is more than ${inDays(LONGEST_SILENCE)} after the beginning, which is the longest: pause a job that rests longer`;
}

function instantOf(given: unknown, timezone: string): number | null {
  return typeof given === 'string' ? parseTimestamp(given, timezone) : null;
}

/** Given in seconds. */
function checkDuration(given: unknown): Checked<number> {
  const seconds = Number.isInteger(given) ? Number(given) : 0;
  const length = seconds * SECOND;
  if (length >= SHORTEST_SILENCE && length <= LONGEST_SILENCE) return { value: length };
  return refuse(
    'duration',
    `must be a whole number of seconds from ${SHORTEST_SILENCE / SECOND} to ${LONGEST_SILENCE / SECOND} (${inDays(LONGEST_SILENCE)})`,
  );
}

function checkRecurring(body: Body, { timezone: ofCase, now }: SilenceSurroundings): Checked<SilenceTime> {
  const timezone = validateTimezone(body.timezone);
  const zone = timezone.value ?? ofCase;
  const rule = checkRule(body.schedule, zone, now);
  const duration = isGiven(body.duration)
    ? checkDuration(body.duration)
    : refuse('duration', `${BLANK}: say for how many seconds each silence lasts`);
  const ends = (['from', 'to'] as const)
    .filter((name) => isGiven(body[name]))
    .map((name) => refuse(name, 'is nothing for a recurring silence: its schedule says when it begins'));
  if (timezone.validations || rule.validations || duration.validations || ends.length > 0) {
    return bothOf(timezone, rule, duration, ...ends);
  }
  const gap = checkGap(rule.value, zone, duration.value, now);
  if (gap.validations) return gap;
  return {
    value: { kind: 'recurring', schedule: rule.value, duration: duration.value, timezone: timezone.value },
  };
}

function checkRule(given: unknown, zone: string, now: number): Checked<ScheduleRule> {
  const rule = validateSchedule(given, zone, now);
  if (!rule.value || !('every' in rule.value)) return rule;
  return refuse(
    'schedule',
    '"every" counts from check-ins, which a silence has none of: use cron or calendar',
  );
}

/** One silence must be over before it begins again. */
function checkGap(rule: ScheduleRule, zone: string, duration: number, now: number): Checked<null> {
  const gap = Math.min(...readSchedule(rule, zone).gapsAfter(now));
  if (gap < CLOSEST) return refuse('schedule', 'must not begin more than once an hour');
  if (duration < gap) return { value: null };
  return refuse(
    'duration',
    `must be shorter than the ${durationInWords(gap)} until the schedule begins the silence again`,
  );
}

function checkNote(given: unknown): Checked<string> {
  if (given === undefined || given === null) return { value: '' };
  const { value, validations } = validateSnitchChanges({ notes: given });
  if (validations) return refuse('note', validations[0]?.message ?? 'is not valid');
  const note = value.notes ?? '';
  if ([...note].length <= NOTE_LENGTH) return { value: note };
  return refuse('note', `is too long (maximum is ${NOTE_LENGTH} characters)`);
}

function inDays(length: number): string {
  return `${Math.round(length / DAY)} days`;
}
