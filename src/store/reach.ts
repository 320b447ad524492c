/** The part of the store that tells whom alerts reach. */
import type { Channel } from '../core/routing.ts';

/** A target that took nothing when it was last sent something. */
export interface LastDeath {
  channel: Channel;
  /** The id of a webhook or of a channel, or an email address. */
  target: string;
  /** Of the delivery that died last. */
  error: string | null;
}

/** A snitch as far as it matters for whom its alerts go to. */
export interface RoutedSnitch {
  /** Ascending in a list: what the next slice begins behind. */
  id: number;
  name: string;
  tags: readonly string[];
  alertEmail: readonly string[];
}

export interface ReachStore {
  listLastDeaths(caseId: string): Promise<LastDeath[]>;
  /** @param slice at most `limit` of those behind the id `after`; 0 for the first */
  listRoutedSnitches(caseId: string, slice: { after: number; limit: number }): Promise<RoutedSnitch[]>;
}
