/** Times as people read them. All arguments are milliseconds; `now` is always given. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS = [
  { length: DAY, name: 'd', next: { length: HOUR, name: 'h' } },
  { length: HOUR, name: 'h', next: { length: MINUTE, name: 'm' } },
  { length: MINUTE, name: 'm', next: null },
  { length: SECOND, name: 's', next: null },
] as const;

/** A stretch of time in at most five columns, up to some thirty years: `45s`, `12m`, `3h20m`, `5d4h`, `120d`. */
export function shortDuration(length: number): string {
  const unit = UNITS.find((candidate) => length >= candidate.length);
  if (!unit) return '0s';
  const count = Math.floor(length / unit.length);
  const rest = unit.next ? Math.floor((length % unit.length) / unit.next.length) : 0;
  return unit.next && rest > 0 && count < 10
    ? `${count}${unit.name}${rest}${unit.next.name}`
    : `${count}${unit.name}`;
}

export function ago(at: number | null, now: number): string {
  return at === null ? 'never' : `${shortDuration(Math.max(0, now - at))} ago`;
}

/** How long a job ran: `850ms`, `4.2s`, `3m10s`. */
export function runDuration(length: number): string {
  if (length < SECOND) return `${Math.round(length)}ms`;
  if (length < MINUTE) return `${(length / SECOND).toFixed(1)}s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)}m${Math.floor((length % MINUTE) / SECOND)}s`;
  return shortDuration(length);
}

/** `2026-03-10 13:00:05` on the clock of `timezone`. */
export function localTime(at: number, timezone: string): string {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDateTime();
  return wall.toString({ smallestUnit: 'second' }).replace('T', ' ');
}
