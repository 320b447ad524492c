/**
 * Says what is wrong with a cron expression. Croner, which parses it, says so for programmers; this is for the
 * person who typed it. Whatever croner refuses is refused here, and vice versa, which a test asserts.
 */

import { MONTHS } from '../../text/times.ts';
import { quoted, ScheduleRefused } from './refused.ts';

interface FieldRule {
  name: string;
  min: number;
  max: number;
  /** How many values croner counts: its largest step. */
  count: number;
  words?: readonly string[];
}

const MONTH_NAMES = MONTHS.map((name) => name.toLowerCase());
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const DAY: FieldRule = { name: 'day of the month', min: 1, max: 31, count: 31 };
const WEEKDAY: FieldRule = { name: 'day of the week', min: 0, max: 7, count: 7, words: WEEKDAYS };

const FIELDS: readonly FieldRule[] = [
  { name: 'minute', min: 0, max: 59, count: 60 },
  { name: 'hour', min: 0, max: 23, count: 24 },
  DAY,
  { name: 'month', min: 1, max: 12, count: 12, words: MONTH_NAMES },
  WEEKDAY,
];

const FIELD_NAMES = 'minute, hour, day of the month, month, day of the week';

/** @throws ScheduleRefused naming the field and the part that cannot be read */
export function checkFields(fields: readonly string[]): void {
  checkCount(fields);
  for (const [index, rule] of FIELDS.entries()) checkField(fields[index] ?? '', rule);
}

function checkCount(fields: readonly string[]): void {
  if (fields.length === 5) return;
  const [first = ''] = fields;
  if (/^(?:CRON_)?TZ=/i.test(first)) {
    throw new ScheduleRefused(
      `cannot be read: the time zone does not stand in it, but in the field timezone`,
    );
  }
  if (fields.length < 5) {
    throw new ScheduleRefused(
      `cannot be read: cron has five fields (${FIELD_NAMES}), and this has ${fields.length}`,
    );
  }
  const more = fields.slice(5).every((field) => /^[\d*?,/L#-]+$/i.test(field));
  throw new ScheduleRefused(
    more
      ? `cannot be read: this has ${fields.length} fields, and cron has five (${FIELD_NAMES}): leave out the seconds and the year`
      : `cannot be read: cron has five fields (${FIELD_NAMES}): leave out the user and the command`,
  );
}

function checkField(field: string, rule: FieldRule): void {
  const refuse = (why: string): never => {
    throw new ScheduleRefused(`cannot be read: ${rule.name} ${quoted(field)}: ${why}`);
  };
  const text = field.replaceAll('?', '*').toLowerCase();
  if (rule === DAY && text === 'lw') return;
  const parts = (rule === WEEKDAY ? text.replace(/^\+/, '') : text).split(',');
  for (const part of parts) {
    const why = part === '' ? 'a value is missing' : whyNot(part, rule);
    if (why !== null) refuse(why);
  }
}

/** What is wrong with one part of a list; null if nothing is. */
function whyNot(part: string, rule: FieldRule): string | null {
  if (rule === DAY) {
    if (part === 'l') return null;
    if (part === 'lw') return 'LW, the last weekday of the month, must stand alone';
    const [, nearest] = /^(\d+)w$/.exec(part) ?? [];
    if (nearest !== undefined) return whyNotValue(nearest, rule);
  }
  if (rule !== WEEKDAY) return whyNotRange(part, rule);
  const [, range = part, nth] = /^(.*?)(?:#(.*)|l)$/.exec(part) ?? [];
  if (nth !== undefined && !/^(?:0*[1-5]|l)$/.test(nth)) return 'what follows # is 1 to 5, or L for the last';
  if (range === '') return 'L stands behind a day, as in 5L for the last Friday';
  return whyNotRange(range, rule);
}

function whyNotRange(part: string, rule: FieldRule): string | null {
  const [range = '', step, ...more] = part.split('/');
  if (more.length > 0) return `${quoted(part)} has two steps`;
  const [from = '', to, ...others] = range.split('-');
  if (step !== undefined && to === undefined && range !== '*') {
    return `a step needs a range: write ${range === '' ? '*' : `${range}-${rule.max}`}/${step}`;
  }
  if (range !== '*') {
    if (others.length > 0) return `${quoted(range)} is no range`;
    const why = whyNotValue(from, rule) ?? (to === undefined ? null : whyNotValue(to, rule));
    if (why !== null) return why;
    if (to !== undefined && numberOf(from, rule) > endOf(to, rule)) return backward(from, to, rule);
  }
  if (step === undefined) return null;
  const isStep = /^\d+$/.test(step) && Number(step) >= 1 && Number(step) <= rule.count;
  return isStep ? null : `a step is a number from 1 to ${rule.count}`;
}

function backward(from: string, to: string, { max, min, words }: FieldRule): string {
  if (words) return `the range ${from}-${to} runs backward: name the days or months one by one`;
  const [first, last] = [Number(from), Number(to)];
  const parts = [first === max ? `${max}` : `${first}-${max}`, last === min ? `${min}` : `${min}-${last}`];
  return `the range ${from}-${to} runs backward: write ${parts.join(',')}`;
}

function whyNotValue(text: string, { min, max, words }: FieldRule): string | null {
  if (text === '') return 'a value is missing';
  if (words?.includes(text)) return null;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return null;
  const names = words ? `, nor a name from ${words[0]} to ${words.at(-1)}` : '';
  return `${quoted(text)} is not a number from ${min} to ${max}${names}`;
}

function numberOf(text: string, { min, words }: FieldRule): number {
  const word = words?.indexOf(text) ?? -1;
  return word >= 0 ? word + min : Number(text);
}

/** At the end of a range the name of Sunday means 7. */
function endOf(text: string, rule: FieldRule): number {
  return rule === WEEKDAY && text === 'sun' ? 7 : numberOf(text, rule);
}
