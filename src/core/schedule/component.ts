/**
 * One part of an OnCalendar expression: the list of values that a year, month, day, hour, minute or second can have.
 */
import { quoted, ScheduleRefused } from './refused.ts';

/** `start`, `start..stop`, `start/step` or `start..stop/step`. */
interface Entry {
  start: number;
  /** The last value; null for the last one that the unit has. */
  stop: number | null;
  /** Null for a single value. */
  step: number | null;
}

export interface Unit {
  name: string;
  min: number;
  max: number;
}

/**
 * The values of a component in ascending order; null for a star, which means all.
 *
 * @throws ScheduleRefused
 */
export function valuesOf(text: string, unit: Unit): number[] | null {
  if (text === '*') return null;
  const entries = text.split(',').map((part) => entryOf(part, unit));
  return ascending(entries.flatMap(({ start, stop, step }) => series(start, stop ?? unit.max, step)));
}

/**
 * The days that a component after `~` means in a month of `length` days: `1` is the last day, `3..7` are the seventh to
 * the third last, and `7/1` the last seven, since a step runs to the end of the month.
 */
export function lastDaysOf(text: string, unit: Unit): (length: number) => number[] {
  const fromEnd = { ...unit, name: 'day from the end of the month', max: 28 };
  const entries = text.split(',').map((part) => entryOf(part, fromEnd, true));
  return (length) =>
    entries.flatMap(({ start, stop, step }) =>
      series(length + 1 - (stop ?? start), stop === null ? length : length + 1 - start, step),
    );
}

/** All values of a unit, which a star means. */
export function allOf({ min, max }: Unit): number[] {
  return series(min, max, 1);
}

function series(start: number, stop: number, step: number | null): number[] {
  if (step === null) return [start];
  return Array.from({ length: Math.floor((stop - start) / step) + 1 }, (_, index) => start + index * step);
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((one, other) => one - other);
}

/** The limits are systemd's, which refuses a step that reaches no second value. */
function entryOf(text: string, unit: Unit, fromEnd = false): Entry {
  const refuse = (why: string): never => {
    throw new ScheduleRefused(`cannot be read: ${unit.name} ${quoted(text)}: ${why}`);
  };
  const [, from, to, by] = /^(\d{1,4})(?:\.\.(\d{1,4}))?(?:\/(\d{1,4}))?$/.exec(text) ?? [];
  if (from === undefined) return refuse(whyNotEntry(text, unit));
  const { min, max } = unit;
  const [start, stop] = [numberIn(from, unit), to === undefined ? null : numberIn(to, unit)];
  const step = by === undefined ? null : Number(by);
  if (start < min || start > max || (stop ?? start) > max) refuse(`it is not from ${min} to ${max}`);
  if (step === 0) refuse('a step is at least 1');
  if (stop !== null && stop < start) refuse('the range runs backward');
  if (stop !== null) return range(start, stop, step ?? 1);
  const room = fromEnd ? start - min : max - start;
  if (step !== null && step > room) refuse('the step leads to no second value');
  return { start, stop, step };
}

/** As in systemd, a range ends at the last value it reaches: counted from the end of a month, its steps begin there. */
function range(start: number, stop: number, step: number): Entry {
  const last = stop - ((stop - start) % step);
  return last === start ? { start, stop: null, step: null } : { start, stop: last, step };
}

function whyNotEntry(text: string, { min, max }: Unit): string {
  if (text === '') return 'a value is missing';
  if (text.startsWith('*/')) return `a step needs a first value: write ${min}${text.slice(1)}`;
  if (text.includes('*')) return 'a star stands alone';
  if (/^\d+-\d+$/.test(text)) return `a range is written ${text.replace('-', '..')}`;
  return `it is no number from ${min} to ${max}, nor a range or a step of them`;
}

/** Two digits mean a year from 1970 to 2069. */
function numberIn(digits: string, { max }: Unit): number {
  const number = Number(digits);
  if (max < 1970) return number;
  if (number < 70) return number + 2000;
  return number < 100 ? number + 1900 : number;
}
