/** Times for people: how long ago, how long still, and the local time where that is what they think in. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `3d`, `5h 20m`, `12s`: at most two units, the second only where it says something. Rounds down. */
export function shortDuration(ms: number): string {
  for (const [index, [unit, length]] of UNITS.entries()) {
    if (ms < length) continue;
    const count = Math.floor(ms / length);
    const [nextUnit, nextLength] = UNITS[index + 1] ?? ['', 0];
    const rest = nextLength > 0 ? Math.floor((ms % length) / nextLength) : 0;
    return count < 10 && rest > 0 ? `${count}${unit} ${rest}${nextUnit}` : `${count}${unit}`;
  }
  return `${Math.max(0, Math.floor(ms))}ms`;
}

/** `5m ago`, `in 2h`, `just now`. */
export function relativeTime(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const distance = Math.abs(at - now);
  if (distance < 1_000) return 'just now';
  const length = shortDuration(distance);
  return at <= now ? `${length} ago` : `in ${length}`;
}

/** `2026-03-01 14:05:09 +01:00`, in the time zone of this terminal. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const offset = -at.getTimezoneOffset();
  const sign = offset < 0 ? '-' : '+';
  return `${date} ${time} ${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
}
