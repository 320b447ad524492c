/** Works out the periods before the present one for the dashboard. The present one comes from the server. */
import { DAY, HOUR, MINUTE } from '../../text/durations.ts';

export interface Span {
  start: number;
  end: number;
}

/** The usual length of an interval in milliseconds; 0 for a name that this version does not know. */
export function intervalLength(interval: string): number {
  const counted = /^(\d+)_(minute|hour)$/.exec(interval);
  if (counted) return Number(counted[1]) * (counted[2] === 'minute' ? MINUTE : HOUR);
  switch (interval) {
    case 'hourly':
      return HOUR;
    case 'daily':
      return DAY;
    case 'weekly':
      return 7 * DAY;
    case 'monthly':
      return 30 * DAY;
    default:
      return 0;
  }
}

/** How the table shows an interval: `5 minute`, `2 hour`, `daily`. */
export function shortInterval(interval: string): string {
  return interval.replace(/^(\d+)_(minute|hour)$/, (_, count: string, unit: string) => `${count} ${unit}`);
}

/**
 * The `count` periods that end with `current`, the oldest first. Days, weeks and months follow the calendar of the time
 * zone. Shorter periods are counted back in real time, so a clock change may shift them by an hour.
 */
export function lastPeriods(interval: string, timezone: string, current: Span, count: number): Span[] {
  const periods = [current];
  while (periods.length < count) {
    const [{ start }] = periods as [Span];
    periods.unshift({ start: periodStartBefore(interval, timezone, start), end: start });
  }
  return periods;
}

const CALENDAR_UNITS: Record<string, Temporal.DurationLike> = {
  daily: { days: 1 },
  weekly: { weeks: 1 },
  monthly: { months: 1 },
};

function periodStartBefore(interval: string, timezone: string, start: number): number {
  const unit = CALENDAR_UNITS[interval];
  if (!unit) return start - (intervalLength(interval) || DAY);
  return Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timezone).subtract(unit)
    .epochMilliseconds;
}
