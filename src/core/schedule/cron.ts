/**
 * Reads cron expressions (`extensions: When a job is due`). Croner parses the fields. The search for times is shared
 * with OnCalendar expressions: croner's own takes tens of milliseconds to find out that 31 February never comes, which
 * is too long for something any client can request, and does not know our rule for clock changes.
 */
import { CronPattern } from 'croner';
import { checkFields } from './cron-fields.ts';
import { NICKNAMES } from './nicknames.ts';
import { bitsOf, daysWhere, type Month, type Pattern, timesOf } from './pattern.ts';
import { quoted, ScheduleRefused, wordsOf } from './refused.ts';

/**
 * The bit with which croner marks the last such weekday of a month; the bits for the first to the fifth are below it.
 */
const LAST = 32;

/**
 * Minute, hour, day of the month, month, day of the week, with names, lists, ranges and steps; `L`, `LW` and `15W` as
 * day of the month, `5L` and `5#2` as day of the week; `@daily` and the like.
 *
 * If day of the month and day of the week are both given, either is enough. If one of the two begins with a star,
 * with or without a step, both must match, as in the cron of most hosts (`man 5 crontab`). A `+` before the day of
 * the week requires both.
 *
 * @throws ScheduleRefused saying which field cannot be read, and why
 */
export function parseCron(expression: string): Pattern {
  const fields = fieldsOf(expression);
  checkFields(fields);
  const read = readWithCroner(fields);
  return {
    months: bitsOf(numbersIn(read.month, 1)),
    daysIn: dayFinder(read, fields),
    times: timesOf(numbersIn(read.hour), numbersIn(read.minute), [0]),
  };
}

function fieldsOf(expression: string): string[] {
  const words = wordsOf(expression);
  const [first = ''] = words;
  if (!first.startsWith('@')) return words;
  const nickname = words.length === 1 ? NICKNAMES[first.toLowerCase()] : undefined;
  if (nickname !== undefined) return nickname.split(' ');
  if (first.toLowerCase() === '@reboot') {
    throw new ScheduleRefused('cannot be @reboot: nobody knows when the host will start again');
  }
  if (first.toLowerCase() === '@every') {
    throw new ScheduleRefused('cannot be @every: use {"every": <seconds>} instead of cron');
  }
  const known = Object.keys(NICKNAMES).join(', ');
  throw new ScheduleRefused(`cannot be read: ${quoted(words.join(' '))} is none of ${known}`);
}

/** Croner's object is not kept: it holds a list of ten thousand years. */
function readWithCroner(fields: readonly string[]): CronPattern {
  try {
    return new CronPattern(fields.join(' '), undefined, { mode: '5-part' });
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    throw new ScheduleRefused(`cannot be read: ${why}`);
  }
}

/** The numbers of the places that are set; `first` is the number of the first place. */
function numbersIn(places: readonly number[], first = 0): number[] {
  return places.flatMap((set, index) => (set ? [index + first] : []));
}

type DayFinder = Pattern['daysIn'];

function dayFinder(read: CronPattern, fields: readonly string[]): DayFinder {
  const [, , day = '', , weekday = ''] = fields;
  const byDate = dateFinder(read);
  const byWeekday = weekdayFinder(read);
  const both = read.useAndLogic || /^[*?]/.test(day) || /^[*?]/.test(weekday);
  if (read.starDOW) return byDate;
  if (both) return (month) => byDate(month) & byWeekday(month);
  return (month) => byDate(month) | byWeekday(month);
}

function dateFinder({ day, lastDayOfMonth, lastWeekday, nearestWeekdays }: CronPattern): DayFinder {
  const always = bitsOf(numbersIn(day, 1));
  const nearest = numbersIn(nearestWeekdays, 1);
  return (month) => {
    let days = always;
    if (lastDayOfMonth) days |= bitsOf([month.length]);
    if (lastWeekday) days |= bitsOf([weekdayNear(month.length, month)]);
    for (const date of nearest) if (date <= month.length) days |= bitsOf([weekdayNear(date, month)]);
    return days;
  };
}

/** The day from Monday to Friday that is nearest to a date, without leaving its month. */
function weekdayNear(date: number, month: Month): number {
  const weekday = (month.firstWeekday + date - 1) % 7;
  if (weekday === 6) return date === 1 ? date + 2 : date - 1;
  if (weekday === 0) return date === month.length ? date - 2 : date + 1;
  return date;
}

function weekdayFinder({ dayOfWeek }: CronPattern): DayFinder {
  return daysWhere((weekday, date, length) => {
    const which = dayOfWeek[weekday] ?? 0;
    const isLast = date + 7 > length && (which & LAST) !== 0;
    return isLast || (which & (1 << Math.floor((date - 1) / 7))) !== 0;
  });
}
