/** Times and lengths of time as people read them. */
import { type Interval, isMinuteInterval } from '../../core/interval.ts';

/** `2026-11-20 03:00 (Europe/Berlin)` */
export function localTime(at: number, timezone: string): string {
  const { date, minutes } = local(at, timezone);
  return `${date} ${minutes} (${timezone})`;
}

/** `2026-11-20 03:00`, where the time zone is told elsewhere */
export function shortTime(at: number, timezone: string): string {
  const { date, minutes } = local(at, timezone);
  return `${date} ${minutes}`;
}

/** `2026-11-20 03:00:12 (Europe/Berlin, UTC+01:00)`: the hour that a clock change repeats is told apart. */
export function exactLocalTime(at: number, timezone: string): string {
  const { date, minutes, seconds, offset } = local(at, timezone);
  const zone = timezone === 'UTC' ? 'UTC' : `${timezone}, UTC${offset}`;
  return `${date} ${minutes}:${seconds} (${zone})`;
}

function local(at: number, timezone: string) {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
  const time = zoned.toPlainTime().toString({ smallestUnit: 'second' });
  return {
    date: zoned.toPlainDate().toString(),
    minutes: time.slice(0, 5),
    seconds: time.slice(6),
    offset: zoned.offset,
  };
}

const UNITS: readonly [unit: string, length: number][] = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** The two largest units of a length of time: `1 day 3 h`, `27 min`, `0 s`. */
export function durationInWords(length: number): string {
  const first = UNITS.findIndex(([, unit]) => length >= unit);
  if (first < 0) return '0 s';
  let rest = length;
  const parts: string[] = [];
  for (const [name, unit] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count > 0) parts.push(`${count} ${name === 'day' && count > 1 ? 'days' : name}`);
  }
  return parts.join(' ');
}

/** `every 5 minutes`, `every hour`, `every week (Monday to Monday)` */
export function intervalInWords(interval: Interval): string {
  switch (interval) {
    case 'hourly':
      return 'every hour';
    case 'daily':
      return 'every day';
    case 'weekly':
      return 'every week (Monday to Monday)';
    case 'monthly':
      return 'every month';
    default: {
      const count = Number.parseInt(interval, 10);
      const unit = isMinuteInterval(interval) ? 'minute' : 'hour';
      return count === 1 ? `every ${unit}` : `every ${count} ${unit}s`;
    }
  }
}
