/** The five crontab fields for a job to run when its snitch expects it. */
import { durationInWords, SECOND } from '../../text/durations.ts';
import { MONTHS } from '../../text/times.ts';
import { NICKNAMES } from '../schedule/nicknames.ts';
import type { ScheduleRule } from '../schedule/schedule.ts';

/** The fields, or why cron cannot do it. */
export type CronTimes = { times: string; why?: never } | { times?: never; why: string };

export function cronTimesOf(snitch: { schedule: ScheduleRule | null; interval: string }): CronTimes {
  const { schedule, interval } = snitch;
  if (schedule === null) return { times: timesOfInterval(interval) };
  if ('cron' in schedule) return plainTimes(schedule.cron);
  if ('every' in schedule) return timesOfEvery(schedule.every);
  return { why: 'its schedule is one of systemd (OnCalendar), which cron does not know' };
}

const TIMES: Readonly<Record<string, string>> = {
  hourly: '0 * * * *',
  daily: '0 3 * * *',
  weekly: '0 3 * * 1',
  monthly: '0 3 1 * *',
};

/** @param interval one of the 17 names: `15_minute`, `2_hour`, `daily` */
export function timesOfInterval(interval: string): string {
  const known = TIMES[interval];
  if (known !== undefined) return known;
  const [, count = '1', unit] = /^(\d+)_(minute|hour)$/.exec(interval) ?? [];
  if (unit === 'hour') return `0 */${count} * * *`;
  return count === '1' ? '* * * * *' : `*/${count} * * * *`;
}

const MINUTES_OF_DAY = 24 * 60;

function timesOfEvery(seconds: number): CronTimes {
  const minutes = seconds / 60;
  if (minutes === 1) return { times: '* * * * *' };
  if (Number.isInteger(minutes) && 60 % minutes === 0 && minutes < 60) {
    return { times: `*/${minutes} * * * *` };
  }
  const hours = minutes / 60;
  if (hours === 1) return { times: '0 * * * *' };
  if (Number.isInteger(hours) && 24 % hours === 0 && hours < 24) return { times: `0 */${hours} * * *` };
  if (minutes === MINUTES_OF_DAY) return { times: '0 3 * * *' };
  return { why: `cron cannot run a job every ${durationInWords(seconds * SECOND)}` };
}

const MONTH_NAMES = MONTHS.map((name) => name.toLowerCase());
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const PART = /^(?:\*|\d{1,2}(?:-\d{1,2})?)(?:\/\d{1,3})?$/;
const LONE_STEP = /^\d{1,2}\//;

/** Avoids what only some crons understand: names become numbers, and what has no such form is refused. */
function plainTimes(expression: string): CronTimes {
  const given = expression.trim();
  const fields = (NICKNAMES[given.toLowerCase()] ?? given).split(/\s+/);
  if (fields.length !== 5) return { why: notPlain(given) };
  const plain = fields.map((field, at) => numbered(field, at));
  const isPlain = plain.every((field) =>
    field.split(',').every((part) => PART.test(part) && !LONE_STEP.test(part)),
  );
  return isPlain ? { times: plain.join(' ') } : { why: notPlain(given) };
}

function notPlain(expression: string): string {
  return `"${expression}" has signs that cron does not know (such as L and #)`;
}

/** Names of months and days as numbers; a range that ends on Sunday ends with 7. */
function numbered(field: string, at: number): string {
  const names = at === 3 ? MONTH_NAMES : at === 4 ? WEEKDAYS : [];
  const number = (word: string) => {
    const found = names.indexOf(word.toLowerCase());
    return found < 0 ? word : String(at === 3 ? found + 1 : found);
  };
  const numbers = field.replace(/[A-Za-z]{3,}/g, number);
  return at === 4 ? numbers.replace(/([1-6])-0/g, '$1-7') : numbers;
}
