/** Lengths of time in milliseconds: the units, how people type them, and how people read them. */

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;

const TYPED: Record<string, number> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: WEEK };

const PART =
  /(\d+(?:\.\d+)?)\s*(ms|s(?:ec(?:onds?)?)?|m(?:in(?:utes?)?)?|h(?:ours?)?|d(?:ays?)?|w(?:eeks?)?)/y;

/** The milliseconds in `2h`, `90s`, `1d12h` or `1 day 2 hours`; null if the text is no duration. */
export function durationOf(text: string): number | null {
  const given = text.trim().toLowerCase();
  if (given === '') return null;
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < given.length) {
    const [, count = '', unit = ''] = PART.exec(given) ?? [];
    if (count === '') return null;
    total += Number(count) * (TYPED[unit === 'ms' ? unit : unit.charAt(0)] ?? Number.NaN);
    while (given[PART.lastIndex] === ' ') PART.lastIndex += 1;
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : null;
}

/** The units that lengths are shown in, the longest first. */
const SHOWN = [
  { length: DAY, sign: 'd', name: 'day', names: 'days' },
  { length: HOUR, sign: 'h', name: 'h', names: 'h' },
  { length: MINUTE, sign: 'm', name: 'min', names: 'min' },
  { length: SECOND, sign: 's', name: 's', names: 's' },
] as const;

type Part = { count: number; unit: (typeof SHOWN)[number] };

/** The largest unit that fits into `length`, and the one after it; rounded down. Empty for less than a second. */
function largestParts(length: number): Part[] {
  const first = SHOWN.findIndex((unit) => length >= unit.length);
  if (first < 0) return [];
  let rest = length;
  return SHOWN.slice(first, first + 2).map((unit) => {
    const count = Math.floor(rest / unit.length);
    rest -= count * unit.length;
    return { count, unit };
  });
}

/** `3d`, `5h 20m`, `12s`, `850ms`: at most two units, the second only after a single digit. Rounds down. */
export function shortDuration(length: number): string {
  const [first, second] = largestParts(length);
  if (!first) return `${Math.max(0, Math.floor(length))}ms`;
  return signs(first, second, ' ');
}

/**
 * Takes at most five columns for up to 27 years, in a table that is redrawn each second: `45s`, `12m`, `3h20m`, `5d4h`,
 * `120d`. Rounds down.
 */
export function compactDuration(length: number): string {
  const [first, second] = largestParts(length);
  if (!first) return '0s';
  return signs(first, first.unit.length > MINUTE ? second : undefined, '');
}

function signs(first: Part, second: Part | undefined, between: string): string {
  const shown = second && second.count > 0 && first.count < 10 ? [first, second] : [first];
  return shown.map(({ count, unit }) => `${count}${unit.sign}`).join(between);
}

/** For sentences, in the two largest units: `1 day 3 h`, `27 min`, `0 s`. Rounds down. */
export function durationInWords(length: number): string {
  const parts = largestParts(length).filter(({ count }) => count > 0);
  const words = parts.map(({ count, unit }) => `${count} ${count > 1 ? unit.names : unit.name}`);
  return words.join(' ') || '0 s';
}

/** How long a job ran: `850ms`, `4.2s`, `3m10s`, `3h20m`. */
export function runDuration(length: number): string {
  if (length < SECOND) return `${Math.round(length)}ms`;
  if (length < MINUTE) return `${(length / SECOND).toFixed(1)}s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)}m${Math.floor((length % MINUTE) / SECOND)}s`;
  return compactDuration(length);
}
