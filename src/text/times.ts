/** Shows instants, in milliseconds since the epoch, to people in a time zone. */
import { compactDuration, SECOND, shortDuration } from './durations.ts';

/** `2026-03-10 13:00:05`, if the time zone is named elsewhere. @throws RangeError for an unknown zone */
export function wallTime(at: number, timezone: string): string {
  return wallOf(zonedOf(at, timezone));
}

/** `2026-03-10 13:00`, if the time zone is named elsewhere. @throws RangeError for an unknown zone */
export function wallMinute(at: number, timezone: string): string {
  return wallTime(at, timezone).slice(0, -3);
}

/** `2026-03-10 13:00:05 (Europe/Berlin)` */
export function inTimeZone(at: number, timezone: string): string {
  return `${wallTime(at, timezone)} (${timezone})`;
}

/** `2026-03-10 13:00 (Europe/Berlin)` */
export function minuteInTimeZone(at: number, timezone: string): string {
  return `${wallMinute(at, timezone)} (${timezone})`;
}

/** `2026-03-10 13:00:05 (Europe/Berlin, UTC+01:00)`: unambiguous even in the hour that a clock change repeats. */
export function exactTime(at: number, timezone: string): string {
  const zoned = zonedOf(at, timezone);
  return `${wallOf(zoned)} (${timezone === 'UTC' ? 'UTC' : `${timezone}, UTC${zoned.offset}`})`;
}

/** In English, short. */
export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** `Mon 2026-03-09 13:00 +01:00`; with seconds if there are any. @throws RangeError for an unknown zone */
export function weekdayTime(at: number, timezone: string): string {
  const zoned = zonedOf(at, timezone);
  const wall = wallOf(zoned).replace(/:00$/, '');
  return `${WEEKDAYS[zoned.dayOfWeek - 1]} ${wall} ${zoned.offset}`;
}

/** The instant on the clocks of the time zone. @throws RangeError for an unknown zone */
export function zonedOf(at: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
}

function wallOf(zoned: Temporal.ZonedDateTime): string {
  return zoned.toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' ');
}

/** `2026-03-10 13:00:05 +01:00`, in the time zone of this terminal. Any other text is left as it is. */
export function terminalTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const offset = -at.getTimezoneOffset();
  const sign = offset < 0 ? '-' : '+';
  return `${date} ${time} ${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
}

/** `5m 10s ago`, `in 2h`, `just now`: an instant in ISO 8601 as seen from `now`. Any other text is left as it is. */
export function relativeTime(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const distance = Math.abs(at - now);
  if (distance < SECOND) return 'just now';
  const length = shortDuration(distance);
  return at <= now ? `${length} ago` : `in ${length}`;
}

/** `3h20m ago`, or `never`: short enough for the column of a table. */
export function ago(at: number | null, now: number): string {
  return at === null ? 'never' : `${compactDuration(Math.max(0, now - at))} ago`;
}
