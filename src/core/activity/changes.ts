/** What an entry records of a change. It never holds a secret, and never grows beyond a few kilobytes. */

import { shorten } from '../../text/printable.ts';

/** A value that an entry can hold. */
export type Kept = string | number | boolean | null | readonly Kept[] | { readonly [name: string]: Kept };

/**
 * How one field changed; empty if only the fact of the change may be recorded, because the value is secret or too long.
 */
export interface FieldChange {
  from?: Kept;
  to?: Kept;
  /** Only for a list. */
  added?: readonly string[];
  removed?: readonly string[];
  /** How many more were added and removed than these lists name. */
  more?: number;
}

export interface Details {
  /** Keyed by the names of the fields in the API. */
  changes?: Readonly<Record<string, FieldChange>>;
  /** What ends a pause: `healthy`, `unpaused`, or milliseconds since the epoch. */
  until?: string | number;
  /** How many things were changed, if more than one. */
  count?: number;
  /** Some of their names. */
  names?: readonly string[];
  /** The file that the snitches are managed in; null if they were released from it. */
  owner?: string | null;
  /** The scope of a key. */
  scope?: string;
  /** The kind of a channel. */
  channel?: string;
  /** What somebody said about it, in words. */
  note?: string;
}

/** The longest value that is recorded, in characters of JSON. */
const LONGEST_VALUE = 300;

/** How many items of a list are named. */
const MOST_NAMED = 10;

/** The longest details, in characters of JSON; anything longer keeps only the names of the fields. */
const LONGEST_DETAILS = 4_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields that differ, by their names in the API.
 *
 * @param names the fields to compare, and their names in the API
 * @param untold the fields of which only the name may be recorded
 */
export function changesBetween(
  before: Fields,
  after: Fields,
  names: Readonly<Record<string, string>>,
  untold: ReadonlySet<string> = new Set(),
): Record<string, FieldChange> {
  const changed: Record<string, FieldChange> = {};
  for (const [field, name] of Object.entries(names)) {
    const [from, to] = [before[field] ?? null, after[field] ?? null];
    if (isAlike(from, to)) continue;
    changed[name] = untold.has(field) ? {} : changeOf(from, to);
  }
  return changed;
}

/** JSON writes the fields of an object in insertion order, which does not matter here. */
export function isAlike(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

function changeOf(from: unknown, to: unknown): FieldChange {
  if (isTexts(from) && isTexts(to)) return listChange(from, to);
  const told = { from, to } as { from: Kept; to: Kept };
  return lengthOf(from) + lengthOf(to) > 2 * LONGEST_VALUE ? {} : told;
}

function listChange(from: readonly string[], to: readonly string[]): FieldChange {
  const added = to.filter((item) => !from.includes(item));
  const removed = from.filter((item) => !to.includes(item));
  const named = { added: added.slice(0, MOST_NAMED), removed: removed.slice(0, MOST_NAMED) };
  const more = added.length + removed.length - named.added.length - named.removed.length;
  return {
    ...(named.added.length > 0 ? { added: named.added } : {}),
    ...(named.removed.length > 0 ? { removed: named.removed } : {}),
    ...(more > 0 ? { more } : {}),
  };
}

/** How many there are, with the names of the first. */
export function severalOf(names: readonly string[]): Pick<Details, 'count' | 'names'> {
  return { count: names.length, names: names.slice(0, MOST_NAMED) };
}

/** The details as they are kept. */
export function keptDetails(details: Details): string {
  const { note: said } = details;
  const whole = JSON.stringify(
    said === undefined ? details : { ...details, note: shorten(said, LONGEST_VALUE) },
  );
  if (whole.length <= LONGEST_DETAILS) return whole;
  const { names: _, note: __, changes = {}, ...others } = details;
  const fields = Object.fromEntries(Object.keys(changes).map((name) => [name, {}]));
  return JSON.stringify(details.changes ? { ...others, changes: fields } : others);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value).length;
}
