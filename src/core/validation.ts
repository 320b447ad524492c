/** What a client may set on a snitch, a pause or a case: input → value or one validation per failing attribute. */

import { codePoints } from '../text/code-points.ts';
import type { Validation } from './errors.ts';
import { type Body, isObject } from './input.ts';
import { type Interval, isInterval, isMinuteInterval } from './interval.ts';
import { MOST_MEMBERS } from './resource-limits.ts';
import type { AlertType, PauseUntil } from './snitch.ts';

const NAME_LENGTH = 255;
const NOTES_LENGTH = 10_000;
const TAG_LENGTH = 100;
const TAGS = 50;
const ADDRESSES = 50;

export const BLANK = `can't be blank`;
/** For something created since the client last looked. */
export const NAME_TAKEN = 'is that of another one, which the request does not know of';
export const SMART_WITH_MINUTES: Validation = {
  attribute: 'alert_type',
  message: 'smart is not available for minute intervals',
};
export const PENDING_CANNOT_PAUSE: Validation = {
  attribute: 'status',
  message: 'a pending snitch cannot be paused',
};
export const NOT_AN_OBJECT: Validation = { attribute: 'body', message: 'must be a JSON object' };

export type Checked<T> = { value: T; validations?: never } | { value?: never; validations: Validation[] };

export interface SnitchInput {
  name: string;
  /** What a status page calls it; null for its name. */
  publicName?: string | null;
  notes: string;
  tags: string[];
  alertEmail: string[];
  interval: Interval;
  alertType: AlertType;
}

/** Collects at most one validation per attribute while a body is read. */
class Findings {
  readonly validations: Validation[] = [];

  /** The result of `check`, or undefined if it found the attribute invalid. */
  check<T>(attribute: string, check: () => T | Refusal): T | undefined {
    const result = check();
    if (!(result instanceof Refusal)) return result;
    this.validations.push({ attribute, message: result.message });
    return undefined;
  }

  has(attribute: string): boolean {
    return this.validations.some((validation) => validation.attribute === attribute);
  }
}

class Refusal {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Create (`spec §4`): `name` and `interval` are required. A missing body counts as an empty object. */
export function validateNewSnitch(body: unknown = {}): Checked<SnitchInput> {
  if (!isObject(body)) return { validations: [NOT_AN_OBJECT] };
  const required = { name: body.name ?? null, interval: intervalOf(body) ?? null };
  const { value, validations } = validateFields({ ...pick(body), ...required });
  if (validations) return { validations };
  const {
    name = '',
    publicName = null,
    interval = 'daily',
    alertType = 'basic',
    notes = '',
    tags = [],
    alertEmail = [],
  } = value;
  const called = publicName === null ? {} : { publicName };
  return { value: { name, ...called, interval, alertType, notes, tags, alertEmail } };
}

/**
 * Update: any subset. What is not given is taken from `stored` to check whether alert type and interval
 * go together.
 */
export function validateSnitchChanges(
  body: unknown = {},
  stored: Partial<Pick<SnitchInput, 'interval' | 'alertType'>> = {},
): Checked<Partial<SnitchInput>> {
  if (!isObject(body)) return { validations: [NOT_AN_OBJECT] };
  return validateFields({ ...pick(body), interval: intervalOf(body) }, stored);
}

/** Only known fields are read, so a whole object can be sent back and `__proto__` means nothing. */
function pick(body: Body): Body {
  const { name, public_name, notes, tags, alert_email, alert_type } = body;
  return { name, public_name, notes, tags, alert_email, alert_type };
}

/** The first of the two forms that is given and not blank; else a blank one, if there is one. */
function intervalOf({ interval, type }: Body): unknown {
  const nested = isObject(type) ? type.interval : undefined;
  const isGiven = (form: unknown) => form !== undefined && !isBlank(form);
  return [interval, nested].find(isGiven) ?? (interval === undefined ? nested : interval);
}

function validateFields(
  body: Body,
  stored: Partial<Pick<SnitchInput, 'interval' | 'alertType'>> = {},
): Checked<Partial<SnitchInput>> {
  const findings = new Findings();
  const value: Partial<SnitchInput> = {};
  const set = <Field extends keyof SnitchInput>(
    attribute: string,
    field: Field,
    check: (given: unknown) => SnitchInput[Field] | Refusal,
  ) => {
    const given = body[attribute];
    if (given === undefined) return;
    const checked = findings.check(attribute, () => check(given));
    if (checked !== undefined) value[field] = checked;
  };
  set('name', 'name', checkName);
  set('public_name', 'publicName', (given) => (isBlank(given) ? null : checkLine(given, NAME_LENGTH)));
  set('interval', 'interval', checkInterval);
  // Some clients send a blank alert type to leave it out.
  if (!isBlank(body.alert_type)) set('alert_type', 'alertType', checkAlertType);
  set('alert_email', 'alertEmail', checkAddresses);
  set('notes', 'notes', checkNotes);
  set('tags', 'tags', (given) => (given === null ? [] : checkTags(given)));
  const { interval, alertType } = { ...stored, ...value };
  const bothKnown = !findings.has('interval') && !findings.has('alert_type');
  if (bothKnown && alertType === 'smart' && interval && isMinuteInterval(interval)) {
    findings.validations.push(SMART_WITH_MINUTES);
  }
  return findings.validations.length > 0 ? { validations: findings.validations } : { value };
}

function checkName(given: unknown): string | Refusal {
  return isBlank(given) ? new Refusal(BLANK) : checkLine(given, NAME_LENGTH);
}

/** One line of text: names and tags are shown in tables, logs and mail headers. */
function checkLine(given: unknown, limit: number): string | Refusal {
  if (typeof given !== 'string') return new Refusal('must be a string');
  if (!given.isWellFormed()) return new Refusal('must be well-formed Unicode');
  if (/\p{Cc}/u.test(given)) return new Refusal('must not contain control characters');
  return withinLength(given, limit);
}

function withinLength(given: string, limit: number): string | Refusal {
  return codePoints(given) > limit ? new Refusal(`is too long (maximum is ${limit} characters)`) : given;
}

function checkInterval(given: unknown): Interval | Refusal {
  if (isBlank(given)) return new Refusal(BLANK);
  return isInterval(given) ? given : new Refusal('is not a valid interval');
}

function checkAlertType(given: unknown): AlertType | Refusal {
  return given === 'basic' || given === 'smart' ? given : new Refusal('must be basic or smart');
}

function checkNotes(given: unknown): string | Refusal {
  if (given === null) return '';
  if (typeof given !== 'string') return new Refusal('must be a string');
  if (!given.isWellFormed()) return new Refusal('must be well-formed Unicode');
  if (/[^\P{Cc}\n\r\t]/u.test(given)) {
    return new Refusal('must not contain control characters other than newlines and tabs');
  }
  return withinLength(given, NOTES_LENGTH);
}

/** Tags in the order given, blank ones and repetitions dropped. */
function checkTags(given: unknown): string[] | Refusal {
  if (!Array.isArray(given)) return new Refusal('must be an array of strings');
  const tags = new Set<string>();
  for (const item of given as unknown[]) {
    const tag = typeof item === 'string' && isBlank(item) ? null : checkLine(item, TAG_LENGTH);
    if (tag instanceof Refusal) return tag;
    if (tag !== null) tags.add(tag);
  }
  return tags.size > TAGS ? new Refusal(`has too many tags (maximum is ${TAGS})`) : [...tags];
}

/** The body of "add tags": an array of one or more tags. */
export function validateTags(body: unknown): Checked<string[]> {
  const tags = Array.isArray(body) && body.length === 0 ? new Refusal(BLANK) : checkTags(body);
  return tags instanceof Refusal
    ? { validations: [{ attribute: 'tags', message: tags.message }] }
    : { value: tags };
}

/** The validation for a snitch that would have too many tags, or null. */
export function tooManyTags(tags: readonly string[]): Validation | null {
  return tags.length > TAGS ? { attribute: 'tags', message: `has too many tags (maximum is ${TAGS})` } : null;
}

function checkAddresses(given: unknown, most = ADDRESSES): string[] | Refusal {
  if (given === null) return [];
  const listed = typeof given === 'string' ? given.split(',') : given;
  if (!Array.isArray(listed)) return new Refusal('must be an array of addresses or a comma-separated string');
  const addresses: string[] = [];
  for (const item of listed as unknown[]) {
    if (typeof item !== 'string') return new Refusal('must be an array of addresses');
    const address = item.trim();
    if (address === '') continue;
    if (!isEmailAddress(address)) return new Refusal(`${quote(address)} is not an email address`);
    addresses.push(address);
  }
  const distinct = [...new Set(addresses)];
  return distinct.length > most ? new Refusal(`has too many addresses (maximum is ${most})`) : distinct;
}

/** Shows what was given, shortened and without control characters. */
function quote(text: string): string {
  return `"${text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').slice(0, 80)}"`;
}

const ADDRESS =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** A plain address of local part and host name: nothing that could carry a second recipient or a header. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text) && text.indexOf('@') <= 64;
}

/** Email addresses of a case's team. */
export function validateMembers(given: unknown): Checked<string[]> {
  const members = checkAddresses(given, MOST_MEMBERS);
  return members instanceof Refusal
    ? { validations: [{ attribute: 'members', message: members.message }] }
    : { value: members };
}

const TIMESTAMP =
  /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** The basic format of ISO 8601: `20260310T102000Z`. */
const BASIC_TIMESTAMP = /^\d{8}[Tt]\d{4}(?:\d{2}(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

const OFFSET = /([Zz]|[+-]\d{2}(:?\d{2})?)$/;

/** The body of a pause: nothing, or an object with `until` (`spec §4`). A time without an offset is UTC. */
export function validatePause(body: unknown, now: number): Checked<PauseUntil> {
  if (body === undefined || body === null) return { value: { kind: 'healthy' } };
  if (!isObject(body)) return { validations: [NOT_AN_OBJECT] };
  const { until } = body;
  if (until === undefined || isBlank(until) || until === 'healthy') return { value: { kind: 'healthy' } };
  if (until === 'unpaused') return { value: { kind: 'unpaused' } };
  const at = typeof until === 'string' ? parseTimestamp(until) : null;
  if (at === null) {
    return refuseUntil('must be healthy, unpaused or an ISO 8601 time in the future');
  }
  return at > now ? { value: { kind: 'time', at } } : refuseUntil('must be in the future');
}

function refuseUntil(message: string): Checked<PauseUntil> {
  return { validations: [{ attribute: 'until', message }] };
}

/**
 * Milliseconds since the epoch of an ISO 8601 date or time, or null.
 *
 * @param timezone for a time without an offset. A time that a clock change skips counts as the same distance past the
 *   change, and a repeated time as the first of the two.
 */
export function parseTimestamp(text: string, timezone = 'UTC'): number | null {
  const given = text.trim();
  if (!TIMESTAMP.test(given) && !BASIC_TIMESTAMP.test(given)) return null;
  try {
    if (hasOffset(given)) return Temporal.Instant.from(given).epochMilliseconds;
    return Temporal.PlainDateTime.from(given).toZonedDateTime(timezone).epochMilliseconds;
  } catch {
    return null;
  }
}

/** Whether a date or time determines its instant on its own. */
export function hasOffset(text: string): boolean {
  return OFFSET.test(text.trim().slice('2026-03-10'.length));
}

export function isBlank(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}
