/** Parses `OnCalendar=` and lengths of time in units of systemd (`man 7 systemd.time`). */
import { DAY, HOUR, MINUTE, SECOND, WEEK } from '../../text/durations.ts';
import { type Day, NotUnderstood, type Schedule, steps } from './schedule.ts';

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['minutely', '*-*-* *:*:00'],
  ['hourly', '*-*-* *:00:00'],
  ['daily', '*-*-* 00:00:00'],
  ['monthly', '*-*-01 00:00:00'],
  ['weekly', 'Mon *-*-* 00:00:00'],
  ['yearly', '*-01-01 00:00:00'],
  ['annually', '*-01-01 00:00:00'],
  ['quarterly', '*-01,04,07,10-01 00:00:00'],
  ['semiannually', '*-01,07-01 00:00:00'],
]);

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FULL_WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** @throws NotUnderstood with the reason */
export function parseCalendar(text: string): Schedule {
  const words = (SHORTHANDS.get(text.trim().toLowerCase()) ?? text).trim().split(/\s+/);
  if (words.length > 1 && isTimeZone(words.at(-1) ?? '')) words.pop();
  const weekdays = /^[a-z]/i.test(words[0] ?? '') ? weekdaysOf(words.shift() ?? '') : null;
  const date = words[0]?.includes(':') ? '*-*-*' : (words.shift() ?? '*-*-*');
  const time = words.shift() ?? '00:00:00';
  if (words.length > 0) throw refuse(text);
  const matchesDate = parseDate(date);
  return {
    matches: (day) => (weekdays === null || weekdays.has(day.weekday)) && matchesDate(day),
    minutes: parseTime(time),
  };
}

/** A time zone always follows a date or a time, so a lone weekday is never looked up as one. */
function isTimeZone(word: string): boolean {
  if (!/^[A-Z][A-Za-z]*(?:[/_+-][A-Za-z0-9_+-]+)*$/.test(word)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: word });
    return true;
  } catch {
    return false;
  }
}

function weekdaysOf(text: string): Set<number> {
  const numbers = text
    .split(',')
    .filter(Boolean)
    .flatMap((part) => {
      const [from = '', to = from, ...more] = part.split(/\.\.|-/).map((word) => word.toLowerCase());
      const [first, last] = [weekday(from), weekday(to)];
      if (first < 0 || last < 0 || more.length > 0) throw refuse(part);
      // Weeks begin on Monday, so that Sunday is the last day of a range.
      const end = last < first ? last + 7 : last;
      return steps(first, end, 1).map((number) => number % 7);
    });
  return new Set(numbers);
}

function weekday(word: string): number {
  return Math.max(WEEKDAYS.indexOf(word), FULL_WEEKDAYS.indexOf(word));
}

function parseDate(text: string): (day: Day) => boolean {
  const [, year = '*', month = '', sign = '-', day = ''] =
    /^(?:([^-~]+)-)?([^-~]+)([-~])([^-~]+)$/.exec(text) ?? [];
  if (year !== '*') throw new NotUnderstood(`${text}: it is for certain years only`);
  const months = new Set(valuesOf(month, 1, 12));
  const days = new Set(valuesOf(day, 1, 31));
  // A tilde counts the days from the end of the month.
  const dayIn = (one: Day) => (sign === '~' ? one.daysInMonth - one.day + 1 : one.day);
  return (one) => months.has(one.month) && days.has(dayIn(one));
}

/** Minutes since midnight. Seconds are checked, but make no difference to the interval. */
function parseTime(text: string): number[] {
  const [hour = '', minute = '', second = '0', ...more] = text.split(':');
  if (more.length > 0) throw refuse(text);
  valuesOf(second.replace(/\.\d+$/, ''), 0, 59);
  const minutes = valuesOf(minute, 0, 59);
  return valuesOf(hour, 0, 23).flatMap((of) => minutes.map((at) => of * 60 + at));
}

/** In order, each once. */
function valuesOf(text: string, min: number, max: number): number[] {
  const values = text.split(',').flatMap((part) => {
    const [, range = '', step = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part) ?? [];
    const repeats = part.includes('/');
    const [from = '', to] = range === '*' ? [String(min), String(max)] : range.split('..');
    const [first, last] = [numberIn(from), to === undefined ? null : numberIn(to)];
    const end = last ?? (repeats ? max : first);
    if (first < min || end > max || first > end || Number(step) === 0) throw refuse(part);
    return steps(first, end, Number(step));
  });
  return [...new Set(values)].sort((one, other) => one - other);
}

function numberIn(text: string): number {
  if (!/^\d{1,2}$/.test(text)) throw refuse(text);
  return Number(text);
}

function refuse(text: string): NotUnderstood {
  return new NotUnderstood(`"${text}" is not understood`);
}

const UNITS: readonly [pattern: RegExp, ms: number][] = [
  [/^(?:us|usec|µs|μs)$/, 0.001],
  [/^(?:ms|msec)$/, 1],
  [/^(?:|s|sec|seconds?)$/, SECOND],
  [/^(?:m|min|minutes?)$/, MINUTE],
  [/^(?:h|hr|hours?)$/, HOUR],
  [/^(?:d|days?)$/, DAY],
  [/^(?:w|weeks?)$/, WEEK],
  [/^(?:M|months?)$/, 30.44 * DAY],
  [/^(?:y|years?)$/, 365.25 * DAY],
];

/** A length of time such as `1h 30min`, in minutes. @throws NotUnderstood */
export function parseSpan(text: string): number {
  const parts = [...text.matchAll(/\s*(\d+(?:\.\d+)?)\s*([A-Za-zµμ]*)/gy)];
  if (parts.length === 0 || parts.map(([part]) => part).join('').length < text.trimEnd().length) {
    throw refuse(text);
  }
  const ms = parts.reduce((total, [, count = '', unit = '']) => {
    const [, length] = UNITS.find(([pattern]) => pattern.test(unit)) ?? [];
    if (length === undefined) throw refuse(text);
    return total + Number(count) * length;
  }, 0);
  return ms / MINUTE;
}
