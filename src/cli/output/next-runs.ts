/** Schedules and the runs that follow from them, in words for people. */
import type { WireSnitch } from '../../api/wire.ts';
import { scheduleWithZone } from '../../core/schedule-name.ts';
import { MONTHS, zonedOf } from '../../text/times.ts';

/** How many of the runs that the server returns fit into a line. */
const SHOWN = 3;

/** `cron 0 3 * * 1-5 (Europe/Berlin)`; empty if the interval decides. */
export function scheduleWords({ schedule, timezone }: Pick<WireSnitch, 'schedule' | 'timezone'>): string {
  return schedule ? scheduleWithZone(schedule, timezone, 'time zone of the case') : '';
}

interface Runs {
  runs: readonly { at: string }[];
  timezone: string;
}

/** `Mon 23 Nov 03:00 CET, Tue 24 Nov 03:00 CET, …` @returns null if no further run is due */
export function nextRuns({ runs, timezone }: Runs, now: number, most = SHOWN): string | null {
  if (runs.length === 0) return null;
  const shown = runs.slice(0, most).map(({ at }) => shortLocalTime(Date.parse(at), timezone, now));
  return `${shown.join(', ')}${runs.length > most ? ', …' : ''}`;
}

/** `Mon 23 Nov 03:00 CET`: with seconds if there are any, and with the year if it is not this one. */
export function shortLocalTime(at: number, timezone: string, now: number): string {
  const zoned = zonedOf(at, timezone);
  const year = zoned.year === zonedOf(now, timezone).year ? '' : ` ${zoned.year}`;
  const day = zoned.toLocaleString('en-GB', { weekday: 'short' });
  const month = MONTHS[zoned.month - 1];
  const time = zoned.toPlainTime().toString({ smallestUnit: zoned.second === 0 ? 'minute' : 'second' });
  return `${day} ${zoned.day} ${month}${year} ${time} ${zoneSign(zoned, at)}`;
}

/** These know different abbreviations. */
const LOCALES = ['en-GB', 'en-US', 'en-AU'];

/** `CET`, or the offset if the zone has no abbreviation that people use: `+05:45`. */
function zoneSign(zoned: Temporal.ZonedDateTime, at: number): string {
  for (const locale of LOCALES) {
    const format = new Intl.DateTimeFormat(locale, { timeZone: zoned.timeZoneId, timeZoneName: 'short' });
    const sign = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value;
    if (sign !== undefined && !/^GMT[+-]/.test(sign)) return sign;
  }
  return zoned.offset;
}
