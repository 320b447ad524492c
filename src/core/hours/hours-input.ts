/** What a client may set as hours: an object in a body, or one line of text. */
import { isTimeZone, spelledTimeZone } from '../../text/time-zone.ts';
import { DAYS, type Hours, type WeekDay } from './hours.ts';

export type HoursGiven = { hours: Hours; problem?: never } | { hours?: never; problem: string };

const SHAPE =
  'must be null or like {"timezone": "Europe/Berlin", "days": ["mon", "fri"], "from": "08:00", "to": "18:00"}';

/** Reads `hours` from a body. Without `days`, they apply every day. */
export function checkHours(given: unknown): HoursGiven {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { problem: SHAPE };
  const { timezone, days = DAYS, from, to } = given as Record<string, unknown>;
  if (typeof timezone !== 'string' || !isTimeZone(timezone.trim())) {
    return { problem: 'needs a timezone: use an IANA name such as Europe/Berlin or UTC' };
  }
  const named = Array.isArray(days) ? days.map(dayOf) : [];
  if (named.length === 0 || named.includes(null)) {
    return { problem: `must have days that are at least one of ${DAYS.join(', ')}` };
  }
  const [opens, closes] = [timeOf(from), timeOf(to)];
  if (opens === null || opens === '24:00') return { problem: 'must have from as a time from 00:00 to 23:59' };
  if (closes === null) return { problem: 'must have to as a time from 00:00 to 24:00' };
  const chosen = DAYS.filter((day) => named.includes(day));
  return { hours: { timezone: spelledTimeZone(timezone.trim()), days: chosen, from: opens, to: closes } };
}

function dayOf(given: unknown): WeekDay | null {
  const name = typeof given === 'string' ? given.trim().toLowerCase() : '';
  return DAYS.find((day) => day === name) ?? null;
}

/** The time with two digits for the hour; null if it is not a time. */
function timeOf(given: unknown): string | null {
  const [, hour = '', minute = ''] =
    /^(\d{1,2}):([0-5]\d)$/.exec(typeof given === 'string' ? given.trim() : '') ?? [];
  const isTime = hour !== '' && (Number(hour) < 24 || (hour === '24' && minute === '00'));
  return isTime ? `${hour.padStart(2, '0')}:${minute}` : null;
}

const EXAMPLE = 'write "mon-fri 08:00-18:00 Europe/Berlin"';

/**
 * Reads a line such as `mon-fri 08:00-18:00 Europe/Berlin`; without days it means every day, and `fri-mon` spans the
 * weekend.
 *
 * @param timezone used if the line names none
 */
export function parseHours(text: string, timezone: string): HoursGiven {
  const words = text.trim().split(/\s+/);
  const at = words.findIndex((word) => /^\d{1,2}:\d\d-\d{1,2}:\d\d$/.test(word));
  if (at < 0 || words.length - at > 2) return { problem: `"${text.slice(0, 80)}" is no hours: ${EXAMPLE}` };
  const [from, to] = (words[at] ?? '').split('-');
  const days = daysIn(words.slice(0, at).join(''));
  if (days === null) return { problem: `the days are not understood: ${EXAMPLE}` };
  const { hours, problem } = checkHours({ timezone: words[at + 1] ?? timezone, days, from, to });
  return hours ? { hours } : { problem: `${problem}: ${EXAMPLE}` };
}

/** Null if any part is not a day. */
function daysIn(text: string): WeekDay[] | null {
  if (text === '' || text.toLowerCase() === 'daily') return [...DAYS];
  const days: WeekDay[] = [];
  for (const part of text.split(',').filter((one) => one !== '')) {
    const [first, last = first, ...more] = part.split('-').map((name) => numberOf(name));
    if (first === undefined || last === undefined || first < 0 || last < 0 || more.length > 0) return null;
    for (let day = first; ; day = (day + 1) % DAYS.length) {
      days.push(DAYS[day] ?? 'mon');
      if (day === last) break;
    }
  }
  return days.length > 0 ? days : null;
}

/** -1 for anything that is not a day. */
function numberOf(name: string): number {
  return (DAYS as readonly (string | null)[]).indexOf(dayOf(name));
}
