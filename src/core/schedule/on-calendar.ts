/**
 * Reads systemd's calendar expressions, as used by OnCalendar= in timer units (`man 7 systemd.time`).
 *
 * The grammar is systemd's: weekdays, date, time of day, time zone, each of which may be left out. Its shorthands are
 * supported. Seconds since 1970 (`@…`) and fractions of a second are refused: nobody schedules a job by them.
 */
import { isTimeZone, spelledTimeZone } from '../../text/time-zone.ts';
import { allOf, lastDaysOf, type Unit, valuesOf } from './component.ts';
import { bitsOf, daysWhere, type Pattern, timesOf } from './pattern.ts';
import { quoted, ScheduleRefused, wordsOf } from './refused.ts';

export interface CalendarExpression {
  pattern: Pattern;
  /** The time zone that the expression itself names, or null. */
  timezone: string | null;
}

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['minutely', '*-*-* *:*:00'],
  ['hourly', '*-*-* *:00:00'],
  ['daily', '*-*-* 00:00:00'],
  ['weekly', 'Mon *-*-* 00:00:00'],
  ['monthly', '*-*-01 00:00:00'],
  ['quarterly', '*-01,04,07,10-01 00:00:00'],
  ['semiannually', '*-01,07-01 00:00:00'],
  ['semi-annually', '*-01,07-01 00:00:00'],
  ['biannually', '*-01,07-01 00:00:00'],
  ['bi-annually', '*-01,07-01 00:00:00'],
  ['yearly', '*-01-01 00:00:00'],
  ['annually', '*-01-01 00:00:00'],
]);

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const YEAR: Unit = { name: 'year', min: 1970, max: 2199 };
const MONTH: Unit = { name: 'month', min: 1, max: 12 };
const DAY: Unit = { name: 'day', min: 1, max: 31 };
const HOUR: Unit = { name: 'hour', min: 0, max: 23 };
const MINUTE: Unit = { name: 'minute', min: 0, max: 59 };
const SECOND: Unit = { name: 'second', min: 0, max: 59 };

/** @throws ScheduleRefused saying which part cannot be read, and why */
export function parseOnCalendar(expression: string): CalendarExpression {
  const words = wordsOf(expression);
  const timezone = takeTimeZone(words);
  const long = words.length === 1 ? SHORTHANDS.get(words[0]?.toLowerCase() ?? '') : undefined;
  const rest = long?.split(' ') ?? words;
  const weekdays = /^[a-z]/i.test(rest[0] ?? '') ? weekdaysOf(rest.shift() ?? '') : null;
  const date = rest[0]?.includes(':') ? '*-*-*' : (rest.shift() ?? '*-*-*');
  const time = rest.shift() ?? '00:00:00';
  if (rest.length > 0) {
    throw new ScheduleRefused(
      `cannot be read: nothing can follow the time of day, and here is ${quoted(rest.join(' '))}`,
    );
  }
  return { pattern: { ...parseDate(weekdays, date), times: parseTime(time) }, timezone };
}

/** Removes the time zone from the end of the words. */
function takeTimeZone(words: string[]): string | null {
  const last = words.at(-1) ?? '';
  if (words.length < 2 || !/^[a-z]/i.test(last)) return null;
  if (!isTimeZone(last))
    throw new ScheduleRefused(`cannot be read: ${quoted(last)} is not a time zone that is known here`);
  words.pop();
  return spelledTimeZone(last);
}

/** Numbers from 0 for Sunday. */
function weekdaysOf(text: string): Set<number> {
  // A trailing comma is allowed.
  const parts = text.replace(/,$/, '').split(',');
  return new Set(parts.flatMap(weekdayRange));
}

function weekdayRange(part: string): number[] {
  const [from = '', to, ...more] = part.split(/\.\.|-/);
  if (more.length > 0) throw new ScheduleRefused(`cannot be read: weekdays ${quoted(part)}: it is no range`);
  const first = weekday(from);
  if (to === undefined) return [first];
  // The week ends with Sunday.
  const [start, end] = [first || 7, weekday(to) || 7];
  if (start > end) {
    throw new ScheduleRefused(
      `cannot be read: weekdays ${quoted(part)}: the range runs backward: write ${from}..Sun,Mon..${to}`,
    );
  }
  return Array.from({ length: end - start + 1 }, (_, index) => (start + index) % 7);
}

function weekday(word: string): number {
  const given = word.toLowerCase();
  const number = WEEKDAYS.findIndex((name) => given === name || given === name.slice(0, 3));
  if (number >= 0) return number;
  throw new ScheduleRefused(
    given === ''
      ? 'cannot be read: a weekday is missing'
      : `cannot be read: ${quoted(word)} is neither a weekday such as Mon, nor a word such as daily`,
  );
}

function parseDate(weekdays: ReadonlySet<number> | null, date: string): Omit<Pattern, 'times'> {
  const [, year = '*', month, sign, day] = /^(?:([^-~]*)-)?([^-~]*)([-~])([^-~]*)$/.exec(date) ?? [];
  if (month === undefined || day === undefined) throw new ScheduleRefused(whyNoDate(date));
  const named = valuesOf(year, YEAR);
  const years = named && new Set(named);
  const days = daysOf(day, sign === '~');
  const withWeekday = weekdays && daysWhere((weekday) => weekdays.has(weekday));
  return {
    months: bitsOf(valuesOf(month, MONTH) ?? allOf(MONTH)),
    daysIn: (of) => {
      if (years?.has(of.year) === false) return 0;
      return days(of.length) & (withWeekday?.(of) ?? -1);
    },
  };
}

function whyNoDate(text: string): string {
  if (text.startsWith('@')) return 'cannot be a point in time: it would never come again';
  return `cannot be read: ${quoted(text)} is neither a date such as *-*-01 nor a time such as 03:00`;
}

/** The days of a month as bits, by the length of the month. */
function daysOf(text: string, fromEnd: boolean): (length: number) => number {
  if (!fromEnd || text === '*') {
    const days = bitsOf(valuesOf(text, DAY) ?? allOf(DAY));
    return () => days;
  }
  const daysIn = lastDaysOf(text, DAY);
  const byLength = [28, 29, 30, 31].map((length) => bitsOf(daysIn(length)));
  return (length) => byLength[length - 28] ?? 0;
}

function parseTime(text: string): number[] {
  const [hour = '', minute, second = '00', ...more] = text.split(':');
  if (minute === undefined || more.length > 0) {
    throw new ScheduleRefused(`cannot be read: ${quoted(text)} is not a time of day such as 03:00`);
  }
  const whole = second.replace(/(?<=\d)\.0+(?!\d)/g, '');
  if (/\d\.\d/.test(whole)) {
    throw new ScheduleRefused(
      `cannot be read: second ${quoted(second)}: fractions of a second are not known here`,
    );
  }
  const seconds = valuesOf(whole, SECOND);
  if (seconds?.length !== 1) {
    throw new ScheduleRefused(
      'would be due more often than once a minute: give a single value for the seconds, such as :00',
    );
  }
  return timesOf(valuesOf(hour, HOUR) ?? allOf(HOUR), valuesOf(minute, MINUTE) ?? allOf(MINUTE), seconds);
}
