/** In which order snitches need somebody: what is failing, the longest first, then what is due next. */
import type { WireSnitch, WireStatus } from './wire.ts';

export interface Urgency {
  rank: number;
  /** Within a rank, the earlier the more urgent; milliseconds since the epoch. */
  at: number;
}

type Timed = Pick<WireSnitch, 'status' | 'deadline' | 'missing_since' | 'checked_in_at' | 'created_at'>;

const RANKS: Record<WireStatus, number> = { failed: 0, errored: 1, healthy: 2, pending: 3, paused: 4 };

/** A snitch that is pending or paused is not due: all of them are equally urgent. */
export function urgencyOf(snitch: Timed): Urgency {
  const rank = RANKS[snitch.status] ?? RANKS.pending;
  switch (snitch.status) {
    case 'failed':
      return { rank, at: Date.parse(snitch.missing_since ?? lastWell(snitch)) };
    case 'errored':
      return { rank, at: Date.parse(lastWell(snitch)) };
    case 'healthy':
      return { rank, at: snitch.deadline ? Date.parse(snitch.deadline) : Number.POSITIVE_INFINITY };
    default:
      return { rank, at: 0 };
  }
}

function lastWell({ checked_in_at, created_at }: Timed): string {
  return checked_in_at ?? created_at;
}

export function compareUrgency(one: Urgency, other: Urgency): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  // Infinity minus infinity is not a number.
  return one.at === other.at ? 0 : one.at - other.at;
}
