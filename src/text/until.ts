/** Reads the end of a pause or a silence as people type it on the command line and in the dashboard. */
import { durationOf } from './durations.ts';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const TIMES = 'a length of time (2h, 3d), a time (14:30, 2026-03-01T08:00), tomorrow, or a weekday';
const ALLOWED = `healthy, unpaused, ${TIMES}`;

/** What the API accepts, or what is wrong with the text, in words. */
export type Understood = { until: string } | { problem: string };

/**
 * `healthy` and `unpaused` are passed on to the API; everything else becomes an instant in ISO 8601. A time without an
 * offset is local, because that is the clock of the person who types it.
 *
 * @param now milliseconds since the epoch
 */
export function understandUntil(text: string, now: number): Understood {
  const given = text.trim().toLowerCase();
  if (given === '') return { problem: `until when? Write ${ALLOWED}` };
  if (given === 'healthy' || given === 'unpaused') return { until: given };
  if (given === 'forever') return { until: 'unpaused' };
  return instantOf(text, now, ALLOWED);
}

/** The same for something that always has an end, such as a silence: an instant in ISO 8601. @param now as there */
export function understandEnd(text: string, now: number): Understood {
  return text.trim() === '' ? { problem: `until when? Write ${TIMES}` } : instantOf(text, now, TIMES);
}

function instantOf(text: string, now: number, allowed: string): Understood {
  const given = text.trim().toLowerCase();
  const at = durationInstant(given, now) ?? wordInstant(given, now) ?? writtenInstant(text.trim(), now);
  if (at === null || Number.isNaN(at)) return { problem: `"${text}" is not understood: write ${allowed}` };
  const until = new Date(at).toISOString();
  return at <= now ? { problem: `${until} is in the past` } : { until };
}

const LATEST = 8_640_000_000_000_000;

function durationInstant(text: string, now: number): number | null {
  const ms = durationOf(text.replace(/^in\s+/, ''));
  return ms === null || now + ms > LATEST ? null : now + ms;
}

/** Local midnight at the beginning of tomorrow, or of the next such weekday, which is never today. */
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
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/i.test(date) && isDay(date) ? Date.parse(date) : null;
}

/**
 * Whether a text begins with a day that the calendar has. `Date.parse` reads 30 February as 2 March, and a typing
 * error would be carried out.
 */
export function isDay(text: string): boolean {
  const day = text.slice(0, 'YYYY-MM-DD'.length);
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

function nextTimeOfDay(hours: number, minutes: number, now: number): number {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at.getTime();
}
