/** The part of the store that shows whom alerts reach. */
import type { Channel } from '../core/routing.ts';

/** A target that refused the last delivery sent to it. */
export interface LastDeath {
  channel: Channel;
  /** The id of a webhook or of a channel, or an email address. */
  target: string;
  /** The error of the latest dead delivery. */
  error: string | null;
}

/** A snitch, as far as it decides whom its alerts go to. */
export interface RoutedSnitch {
  /** Ascending in a list: the next slice begins after the last one. */
  id: number;
  name: string;
  tags: readonly string[];
  alertEmail: readonly string[];
}

export interface ReachStore {
  listLastDeaths(caseId: string): Promise<LastDeath[]>;
  /** @param slice at most `limit` of those after the id `after`; 0 for the first */
  listRoutedSnitches(caseId: string, slice: { after: number; limit: number }): Promise<RoutedSnitch[]>;
}
