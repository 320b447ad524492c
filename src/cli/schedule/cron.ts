/** Parses the schedule of a line in a crontab: five fields, or a word that stands for them (`man 5 crontab`). */
import { NICKNAMES } from '../../core/schedule/nicknames.ts';
import { MONTHS } from '../../text/times.ts';
import { NotUnderstood, type Schedule, steps } from './schedule.ts';

interface FieldRule {
  name: string;
  min: number;
  max: number;
  words?: readonly string[];
}

const MONTH_NAMES = MONTHS.map((name) => name.toLowerCase());
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const MINUTE: FieldRule = { name: 'minute', min: 0, max: 59 };
const HOUR: FieldRule = { name: 'hour', min: 0, max: 23 };
const DAY: FieldRule = { name: 'day of the month', min: 1, max: 31 };
const MONTH: FieldRule = { name: 'month', min: 1, max: 12, words: MONTH_NAMES };
/** Sunday is both 0 and 7. */
const WEEKDAY: FieldRule = { name: 'day of the week', min: 0, max: 7, words: WEEKDAYS };

/** @throws NotUnderstood with the reason */
export function parseCronSchedule(text: string): Schedule {
  if (text.toLowerCase() === '@reboot') throw new NotUnderstood('it runs only at boot, at no known time');
  const plain = text.startsWith('@') ? NICKNAMES[text.toLowerCase()] : text;
  if (plain === undefined) throw new NotUnderstood(`${text} is no word that cron is known to have`);
  const fields = plain.split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const minutes = valuesOf(minute, MINUTE);
  const hours = valuesOf(hour, HOUR);
  const days = new Set(valuesOf(day, DAY));
  const months = new Set(valuesOf(month, MONTH));
  const weekdays = new Set(valuesOf(weekday, WEEKDAY).map((number) => number % 7));
  // If both kinds of day are given, cron runs the job on either. If one begins with a star, both have to match.
  const either = !day.startsWith('*') && !weekday.startsWith('*');
  return {
    matches: (one) => {
      const [byDate, byWeekday] = [days.has(one.day), weekdays.has(one.weekday)];
      return months.has(one.month) && (either ? byDate || byWeekday : byDate && byWeekday);
    },
    minutes: hours.flatMap((of) => minutes.map((at) => of * 60 + at)),
  };
}

/** In order, each once. */
function valuesOf(text: string, rule: FieldRule): number[] {
  const values = text.split(',').flatMap((part) => rangeOf(part, rule));
  return [...new Set(values)].sort((one, other) => one - other);
}

function rangeOf(text: string, rule: FieldRule): number[] {
  const [, range = '', , step] = /^([^/]+)(\/(\d{1,3}))?$/.exec(text) ?? [];
  const by = step === undefined ? 1 : Number(step);
  const [from = '', to, ...more] = range.split('-');
  if (range === '' || by === 0 || more.length > 0) throw refuse(text, rule);
  if (range === '*') return steps(rule.min, rule.name === WEEKDAY.name ? 6 : rule.max, by);
  if (to === undefined && step !== undefined) {
    throw new NotUnderstood(`${text} (${rule.name}): crons differ on a step without a range`);
  }
  const first = numberOf(from, rule);
  const last = to === undefined ? first : numberOf(to, rule);
  if (first === null || last === null || first > last) throw refuse(text, rule);
  return steps(first, last, by);
}

function numberOf(text: string, { min, max, words = [] }: FieldRule): number | null {
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return word + min;
  const number = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

function refuse(text: string, { name }: FieldRule): NotUnderstood {
  return new NotUnderstood(`"${text}" is not understood as a ${name}`);
}
