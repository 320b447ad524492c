/** The list of snitches, of which there may be a million. */
import { query } from './query.ts';
import type { Shape } from './shape.ts';
import { SNITCH } from './snitch-shapes.ts';
import type { WireSnitch } from './wire.ts';

/**
 * Reads a list while it arrives. `take` is given the items in order, some at a time, and returns whether it wants more:
 * the call ends otherwise.
 */
export type ReadList = <T>(
  item: Shape<T>,
  path: string,
  take: (items: readonly T[]) => boolean,
) => Promise<void>;

export interface Wanted {
  /** Those that are kept: the others take no memory. */
  keep?: (snitch: WireSnitch) => boolean;
  /** How many to read at most: there may be more. */
  most?: number;
}

export function snitchListCalls(read: ReadList) {
  return {
    /** @param name only those with this name, and the one with this token; an older server answers with all */
    listSnitches: async (
      tags: readonly string[] = [],
      name?: string,
      { keep = () => true, most = Number.POSITIVE_INFINITY }: Wanted = {},
    ): Promise<WireSnitch[]> => {
      const path = `/v1/snitches${query({ tags: tags.length > 0 ? tags.join(',') : undefined, name })}`;
      const kept: WireSnitch[] = [];
      let left = most;
      await read(SNITCH, path, (snitches) => {
        for (const snitch of snitches.slice(0, left)) if (keep(snitch)) kept.push(snitch);
        left -= snitches.length;
        return left > 0;
      });
      return kept;
    },

    /** Looks at each snitch in turn, and keeps none. @returns how many there are */
    eachSnitch: async (look: (snitch: WireSnitch) => void): Promise<number> => {
      let count = 0;
      await read(SNITCH, '/v1/snitches', (snitches) => {
        for (const snitch of snitches) look(snitch);
        count += snitches.length;
        return true;
      });
      return count;
    },
  };
}
