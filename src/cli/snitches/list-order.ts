/** The orders that `snitch list` knows. Each is total, so that two lists of the same snitches are alike. */
import { INTERVALS } from '../../api/intervals.ts';
import { compareUrgency, type Urgency, urgencyOf } from '../../api/urgency.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { lastReportOf, STATUSES } from '../output/snitch-view.ts';

export const SORT_KEYS = ['due', 'name', 'status', 'check-in', 'interval', 'created'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** The column that shows the order; none for `created`, which is descending. */
export const SORTED_COLUMN: Record<SortKey, string | null> = {
  due: 'DUE',
  name: 'NAME',
  status: 'STATUS',
  'check-in': 'LAST REPORT',
  interval: 'INTERVAL',
  created: null,
};

/** What comparing needs, worked out once for each snitch. */
interface Keyed {
  snitch: WireSnitch;
  name: readonly string[];
  urgency: Urgency;
  /** What is compared first; if it is the same, the name and then the token decide. */
  first: number;
}

export function inOrder(snitches: readonly WireSnitch[], key: SortKey): WireSnitch[] {
  const keyed = snitches.map(
    (snitch): Keyed => ({
      snitch,
      name: partsOf(snitch.name),
      urgency: urgencyOf(snitch),
      first: FIRST[key](snitch),
    }),
  );
  const compare = (one: Keyed, other: Keyed) =>
    one.first - other.first ||
    (key === 'due' ? compareUrgency(one.urgency, other.urgency) : 0) ||
    compareNames(one.name, other.name) ||
    (one.snitch.token < other.snitch.token ? -1 : 1);
  return keyed.sort(compare).map(({ snitch }) => snitch);
}

const FIRST: Record<SortKey, (snitch: WireSnitch) => number> = {
  due: () => 0,
  name: () => 0,
  status: ({ status }) => STATUSES.indexOf(status),
  'check-in': (snitch) => Date.parse(lastReportOf(snitch)?.at ?? new Date(0).toISOString()),
  interval: ({ interval }) => (INTERVALS as readonly string[]).indexOf(interval),
  created: ({ created_at }) => -Date.parse(created_at),
};

/** Numbers in names count as numbers. `Intl.Collator` would take a quarter of the command's time for the same. */
function compareNames(ours: readonly string[], theirs: readonly string[]): number {
  for (const [index, part] of ours.entries()) {
    const counterpart = theirs[index];
    if (counterpart === undefined) return 1;
    const difference = /^\d/.test(part) && /^\d/.test(counterpart) ? Number(part) - Number(counterpart) : 0;
    if (difference !== 0) return difference;
    if (part !== counterpart) return part < counterpart ? -1 : 1;
  }
  return ours.length - theirs.length;
}

function partsOf(name: string): string[] {
  return name.toLowerCase().match(/\d+|\D+/g) ?? [];
}
