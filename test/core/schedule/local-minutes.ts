/**
 * Ten years of a time zone, minute by minute. The clock is looked at each minute of real time; a minute of the local
 * clock belongs to the first real minute at which the clock shows it or a later one. That is the rule for skipped and
 * doubled times, put in the simplest way there is.
 */

const MINUTE = 60_000;
const QUARTER = 15;

/** In minutes. No zone changes its clock twice within so long: where both ends have one offset, so has all between. */
const STRETCH = 6 * 60;

export const FIRST_YEAR = 2020;
export const YEARS = 10;

/** The wall clock's first and last minute, counted from 1970 on that clock. */
export const FIRST_WALL = Date.UTC(FIRST_YEAR, 0, 1) / MINUTE;
export const LAST_WALL = Date.UTC(FIRST_YEAR + YEARS, 0, 1) / MINUTE;

/** By minute of the local clock, from the first on: the real minute at which it is due. */
export function dueMinutes(timezone: string): Float64Array {
  const due = new Float64Array(LAST_WALL - FIRST_WALL);
  const start = FIRST_WALL - 24 * 60;
  let highest = Number.NEGATIVE_INFINITY;
  for (const { from, offset } of quarters(timezone, start, LAST_WALL + 24 * 60)) {
    for (let real = from; real < from + QUARTER; real += 1) {
      const shown = real + offset;
      for (let wall = Math.max(highest + 1, FIRST_WALL); wall <= Math.min(shown, LAST_WALL - 1); wall += 1) {
        due[wall - FIRST_WALL] = real;
      }
      highest = Math.max(highest, shown);
    }
  }
  return due;
}

/** No zone changes its clock but at a quarter of an hour, in these years. */
function* quarters(timezone: string, start: number, end: number) {
  for (let stretch = start; stretch < end; stretch += STRETCH) {
    const [first, last] = [stretch, stretch + STRETCH].map((at) => offsetInMinutes(timezone, at * MINUTE));
    for (let from = stretch; from < Math.min(stretch + STRETCH, end); from += QUARTER) {
      yield { from, offset: first === last ? first! : offsetInMinutes(timezone, from * MINUTE) };
    }
  }
}

function offsetInMinutes(timezone: string, at: number): number {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
  return zoned.offsetNanoseconds / 60e9;
}

/** The real minutes at which the offset of the zone is another than a minute before. */
export function clockChanges(due: Float64Array): number[] {
  const changes: number[] = [];
  for (let index = 1; index < due.length; index += 1) {
    if (due[index]! - due[index - 1]! !== 1) changes.push(due[index]!);
  }
  return [...new Set(changes)];
}
