/** What people type for lengths of time and for instants. */
import { UsageError } from './failure.ts';

const SECOND = 1_000;
const UNITS: Record<string, number> = {
  ms: 1,
  s: SECOND,
  m: 60 * SECOND,
  h: 3_600 * SECOND,
  d: 86_400 * SECOND,
  w: 604_800 * SECOND,
};

const PART =
  /(\d+(?:\.\d+)?)\s*(ms|s(?:ec(?:onds?)?)?|m(?:in(?:utes?)?)?|h(?:ours?)?|d(?:ays?)?|w(?:eeks?)?)/y;

/** Milliseconds of `2h`, `90s`, `1d12h`, `1 day 2 hours`; null where `text` is no duration. */
export function durationOf(text: string): number | null {
  const given = text.trim().toLowerCase();
  if (given === '') return null;
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < given.length) {
    const [, count = '', unit = ''] = PART.exec(given) ?? [];
    if (count === '') return null;
    total += Number(count) * (UNITS[unit === 'ms' ? unit : unit.charAt(0)] ?? Number.NaN);
    while (given[PART.lastIndex] === ' ') PART.lastIndex += 1;
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : null;
}

/** @throws UsageError naming the option */
export function parseDuration(text: string, option: string): number {
  const ms = durationOf(text);
  if (ms === null || ms <= 0 || ms > 2 ** 31 - 1) {
    throw new UsageError(`${option}: "${text}" is no length of time: write 30s, 5m, 2h or 1d`);
  }
  return ms;
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const ALLOWED =
  'healthy, unpaused, a length of time (2h, 3d), a time (14:30, 2026-03-01T08:00), tomorrow, or a weekday';

/**
 * What `--until` means: `healthy` and `unpaused` as the API has them, everything else an instant in ISO 8601. A time
 * without an offset is local, because that is the clock which the person who types it has before them.
 *
 * @param now milliseconds since the epoch
 * @throws UsageError for what is not understood or lies in the past
 */
export function parseUntil(text: string, now: number): string {
  const given = text.trim().toLowerCase();
  if (given === 'healthy' || given === 'unpaused') return given;
  if (given === 'forever') return 'unpaused';
  const at = durationInstant(given, now) ?? wordInstant(given, now) ?? writtenInstant(text.trim(), now);
  if (at === null || Number.isNaN(at)) {
    throw new UsageError(`--until: "${text}" is not understood: write ${ALLOWED}`);
  }
  if (at <= now) throw new UsageError(`--until: ${new Date(at).toISOString()} is in the past`);
  return new Date(at).toISOString();
}

const LATEST = 8_640_000_000_000_000;

function durationInstant(text: string, now: number): number | null {
  const ms = durationOf(text.replace(/^in\s+/, ''));
  return ms === null || now + ms > LATEST ? null : now + ms;
}

/** Midnight, local time, of tomorrow or of the next such weekday. */
function wordInstant(text: string, now: number): number | null {
  const today = new Date(now);
  const weekday = WEEKDAYS.findIndex((name) => name === text || name.slice(0, 3) === text);
  if (text !== 'tomorrow' && weekday < 0) return null;
  const days = text === 'tomorrow' ? 1 : (weekday - today.getDay() + 7) % 7 || 7;
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() + days).getTime();
}

function writtenInstant(text: string, now: number): number | null {
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (clock) return nextTimeOfDay(Number(clock[1]), Number(clock[2]), now);
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text.replace(' ', 'T');
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/i.test(date) ? Date.parse(date) : null;
}

function nextTimeOfDay(hours: number, minutes: number, now: number): number {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at.getTime();
}
