/** The numbers that a job reports with a check-in. Whatever cannot be read is left out, and the history says so. */

/** By name, in the order in which they were reported. */
export type ReportedValues = Readonly<Record<string, number>>;

export interface ReadValues {
  values: ReportedValues;
  /** What was left out and why, in words; at most a few. */
  dropped: readonly string[];
}

/** How many values are kept of one check-in. */
export const MOST_VALUES = 20;
/** How many of the values left out are named. */
const MOST_DROPPED = 5;
const SHOWN_LENGTH = 60;

const NAME = /^[a-z][a-z0-9_]{0,31}$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

export const VALUE_NAME_RULE = 'a name is a lower-case letter, then up to 31 lower-case letters, digits or _';

export const NO_VALUES: ReadValues = { values: {}, dropped: [] };

export function isValueName(name: string): boolean {
  return NAME.test(name);
}

/** The finite number in a text, or null: no units, no separators, nothing in another base. */
export function numberIn(text: string): number | null {
  const given = text.trim();
  if (given.length > 400 || !NUMBER.test(given)) return null;
  const number = Number(given);
  // Adding zero turns -0 into 0, which is what the history shows.
  return Number.isFinite(number) ? number + 0 : null;
}

/**
 * Reads what was reported by name. Of two values with the same name the first counts.
 *
 * @param told names without `v.`, each with a text or, from JSON, whatever was there
 */
export function readValues(told: Iterable<readonly [name: string, value: unknown]>): ReadValues {
  const values = new Map<string, number>();
  const dropped: string[] = [];
  for (const [name, given] of told) {
    if (values.has(name)) continue;
    const number = typeof given === 'string' ? numberIn(given) : finiteOrNull(given);
    const why = whyNot(name, number, values.size);
    if (why === null && number !== null) values.set(name, number);
    else if (dropped.length < MOST_DROPPED) dropped.push(`${shown(name, given)} ${why}`);
    else if (dropped.length === MOST_DROPPED) dropped.push('and others');
  }
  if (values.size === 0 && dropped.length === 0) return NO_VALUES;
  return { values: Object.fromEntries(values), dropped };
}

function finiteOrNull(given: unknown): number | null {
  return typeof given === 'number' && Number.isFinite(given) ? given + 0 : null;
}

function whyNot(name: string, number: number | null, count: number): string | null {
  if (!isValueName(name)) return `has no name of a value: ${VALUE_NAME_RULE}`;
  if (number === null) return 'is no number';
  return count >= MOST_VALUES ? `is one too many: ${MOST_VALUES} values are kept of a check-in` : null;
}

/** `v.bytes=12k`, without what would disturb a terminal or a log. */
function shown(name: string, given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
  return clean(`v.${name}=${text}`);
}

function clean(text: string): string {
  const printable = text.slice(0, 4 * SHOWN_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '');
  const characters = [...printable];
  return characters.length > SHOWN_LENGTH ? `${characters.slice(0, SHOWN_LENGTH).join('')}…` : printable;
}
