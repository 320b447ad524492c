/** A schedule and lengths of time as somebody types them into one field. */
import type { WireSchedule } from '../../api/wire.ts';
import { DAY, durationOf, HOUR, MINUTE, SECOND } from '../../text/durations.ts';

export type Read<T> = { value: T } | { problem: string };

const NO_LENGTH = 'is not a length of time: write 30s, 5m, 2h or 1d';

/**
 * Reads `0 3 * * 1-5`, `Mon..Fri 03:00` or `every 90m`. A leading `cron` or `calendar` says which it is, if the
 * expression alone does not. Null for an empty text.
 */
export function readSchedule(text: string): Read<WireSchedule | null> {
  const typed = text.trim();
  if (typed === '') return { value: null };
  const every = /^every\b(.*)$/is.exec(typed)?.[1];
  if (every !== undefined) {
    const seconds = secondsOf(every);
    return seconds === null ? { problem: `"${every.trim()}" ${NO_LENGTH}` } : { value: { every: seconds } };
  }
  const [, kind, expression = ''] = /^(cron|(?:on)?calendar)\b\s*[:=]?\s*(.*)$/is.exec(typed) ?? [];
  if (kind) return { value: kind.toLowerCase() === 'cron' ? { cron: expression } : { calendar: expression } };
  return { value: isCron(typed) ? { cron: typed } : { calendar: typed } };
}

/** Also recognises one that is only partly typed, so that what is said about it meanwhile fits its kind. */
function isCron(text: string): boolean {
  const [first = '', second = '', ...more] = text.split(/\s+/);
  if (first.startsWith('@') || more.length >= 3) return true;
  const isField = /^(\*|\d{1,2})[\d*,/-]*$/.test(first) && !/-.*-/.test(first);
  return isField && !second.includes(':');
}

/** The text that `readSchedule` reads back. */
export function scheduleText(schedule: WireSchedule | null | undefined): string {
  if (!schedule) return '';
  if ('every' in schedule) return `every ${lengthText(schedule.every)}`;
  return 'cron' in schedule ? `cron ${schedule.cron}` : `calendar ${schedule.calendar}`;
}

/** Seconds; null for an empty text. */
export function readLength(text: string): Read<number | null> {
  if (text.trim() === '') return { value: null };
  const seconds = secondsOf(text);
  return seconds === null ? { problem: NO_LENGTH } : { value: seconds };
}

function secondsOf(text: string): number | null {
  const ms = durationOf(text);
  return ms === null || ms % SECOND !== 0 ? null : ms / SECOND;
}

/** `90m` for 5,400 seconds: exact, in the largest unit that leaves no remainder. */
export function lengthText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '';
  const ms = seconds * SECOND;
  const units = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'm'],
  ] as const;
  const [length, sign] = units.find(([unit]) => ms > 0 && ms % unit === 0) ?? [SECOND, 's'];
  return `${ms / length}${sign}`;
}
