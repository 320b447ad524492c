/** All snitches of the case, sorted, filtered and counted, and updated with each change. */
import type { WireSnitch, WireStatus } from '../../api/wire.ts';
import { type Entry, entryOf } from './entry.ts';
import { parseFilter } from './filter.ts';
import { comparison, mergeSorted, type SortKey } from './order.ts';

export interface Arrangement {
  filter: string;
  sort: SortKey;
  reverse: boolean;
}

export interface Collection {
  entries: ReadonlyMap<string, Entry>;
  /** Every snitch in the order of the table. */
  sorted: readonly Entry[];
  /** Those that pass the filter. */
  shown: readonly Entry[];
  totals: Readonly<Record<WireStatus, number>>;
  arrangement: Arrangement;
}

export const EMPTY: Collection = {
  entries: new Map(),
  sorted: [],
  shown: [],
  totals: { failed: 0, errored: 0, paused: 0, pending: 0, healthy: 0 },
  arrangement: { filter: '', sort: 'due', reverse: false },
};

export function replaceAll({ arrangement }: Collection, snitches: readonly WireSnitch[]): Collection {
  const entries = new Map(snitches.map((snitch) => [snitch.token, entryOf(snitch)]));
  const totals = { ...EMPTY.totals };
  for (const { status } of snitches) totals[status] += 1;
  const sorted = [...entries.values()].sort(comparison(arrangement.sort, arrangement.reverse));
  return { entries, sorted, shown: filtered(sorted, arrangement.filter), totals, arrangement };
}

/** Applies changes with one pass over the list, instead of sorting it again. */
export function applyChanges(
  collection: Collection,
  changed: readonly WireSnitch[],
  deleted: readonly string[],
): Collection {
  const { arrangement } = collection;
  const entries = new Map(collection.entries);
  const totals = { ...collection.totals };
  const touched = new Set<string>();
  const remove = (token: string) => {
    touched.add(token);
    const before = entries.get(token);
    if (before) totals[before.snitch.status] -= 1;
    entries.delete(token);
  };
  for (const token of deleted) remove(token);
  for (const snitch of changed) {
    remove(snitch.token);
    entries.set(snitch.token, entryOf(snitch));
    totals[snitch.status] += 1;
  }
  const compare = comparison(arrangement.sort, arrangement.reverse);
  const added = [...touched].map((token) => entries.get(token)).filter((entry) => entry !== undefined);
  const kept = collection.sorted.filter(({ token }) => !touched.has(token));
  const sorted = mergeSorted(kept, added.sort(compare), compare);
  return { entries, sorted, shown: filtered(sorted, arrangement.filter), totals, arrangement };
}

export function arrange(collection: Collection, change: Partial<Arrangement>): Collection {
  const arrangement = { ...collection.arrangement, ...change };
  const { sort, reverse } = collection.arrangement;
  const isSameOrder = arrangement.sort === sort && arrangement.reverse === reverse;
  const sorted = isSameOrder
    ? collection.sorted
    : [...collection.sorted].sort(comparison(arrangement.sort, arrangement.reverse));
  return { ...collection, sorted, shown: filtered(sorted, arrangement.filter), arrangement };
}

function filtered(sorted: readonly Entry[], filter: string): readonly Entry[] {
  const matches = parseFilter(filter);
  return matches ? sorted.filter(matches) : sorted;
}
