/** The order of the table. */
import { compareUrgency } from '../../api/urgency.ts';
import type { WireStatus } from '../../api/wire.ts';
import type { Entry } from './entry.ts';

export const SORT_KEYS = ['due', 'status', 'name', 'check-in', 'interval', 'created'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** The statuses, beginning with what needs attention most. */
export const URGENCY: readonly WireStatus[] = ['failed', 'errored', 'paused', 'pending', 'healthy'];

const RANK = Object.fromEntries(URGENCY.map((status, rank) => [status, rank])) as Record<WireStatus, number>;

export type Comparison = (a: Entry, b: Entry) => number;

/** Every order is total, with the token deciding last, so that rows never change places without a reason. */
export function comparison(key: SortKey, reverse: boolean): Comparison {
  const first = FIRST[key];
  const sign = reverse ? -1 : 1;
  return (a, b) => sign * first(a, b) || byText(a.nameKey, b.nameKey) || byText(a.token, b.token);
}

const FIRST: Record<SortKey, Comparison> = {
  due: (a, b) => compareUrgency(a.urgency, b.urgency),
  status: (a, b) => RANK[a.snitch.status] - RANK[b.snitch.status],
  name: (a, b) => byText(a.nameKey, b.nameKey),
  'check-in': (a, b) => (a.reportedAt ?? 0) - (b.reportedAt ?? 0),
  interval: (a, b) => a.length - b.length,
  created: (a, b) => b.createdAt - a.createdAt,
};

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Merges sorted `added` into sorted `base`. */
export function mergeSorted(base: readonly Entry[], added: readonly Entry[], compare: Comparison): Entry[] {
  const merged: Entry[] = [];
  let next = 0;
  for (const entry of base) {
    for (let other = added[next]; other && compare(other, entry) < 0; other = added[next]) {
      merged.push(other);
      next += 1;
    }
    merged.push(entry);
  }
  for (; next < added.length; next += 1) merged.push(added[next] as Entry);
  return merged;
}
