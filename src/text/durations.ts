/** Lengths of time as people type them. */

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
