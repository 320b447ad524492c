/**
 * Keeps which cluster and timeline this node has written to, across its restarts. The database itself cannot: an old
 * primary has forgotten everything that would give it away.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replacePrivateFile } from '../../../system/private-file.ts';
import type { Seen } from './facts.ts';

/** In the node's data directory. */
export const SEEN_FILE = 'postgres-primary.json';

export interface SeenMemory {
  /** Null where nothing is kept. */
  readonly file: string | null;
  get(): Seen | null;
  /** It holds from now on; answers when it is on the disk. */
  keep(seen: Seen): Promise<void>;
}

/**
 * @param dataDir null for a memory that ends with the process
 * @param warn is told in words where the disk keeps it from being kept: the node goes on, because check-ins matter more
 * @throws Error where the file is there and says nothing that can be read
 */
export function seenMemory(dataDir: string | null, warn: (words: string) => void): SeenMemory {
  const file = dataDir === null ? null : join(dataDir, SEEN_FILE);
  let seen = file === null ? null : readSeen(file);
  let writing = Promise.resolve();
  return {
    file,
    get: () => seen,
    keep: (next) => {
      seen = next;
      // One after the other, so that the newest stays.
      writing = writing.then(async () => {
        if (file === null) return;
        try {
          await replacePrivateFile(file, `${JSON.stringify(next)}\n`);
        } catch (error) {
          warn(
            `${file} cannot be written (${String(error)}): an old primary would not be known after a restart`,
          );
        }
      });
      return writing;
    },
  };
}

/** What the node of this directory remembers, for one who only looks: nothing is written. Null also where it may not be read. */
export function seenBy(dataDir: string): SeenMemory {
  const file = join(dataDir, SEEN_FILE);
  let seen: Seen | null = null;
  try {
    seen = readSeen(file);
  } catch {
    // The daemon itself says what is wrong with its file.
  }
  return { file, get: () => seen, keep: async () => {} };
}

function readSeen(file: string): Seen | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const seen = parseSeen(text);
  if (seen) return seen;
  throw new Error(
    `${file} is damaged. It keeps an old primary from being taken for the current one: make sure that store.url leads to the current primary, remove the file and start again`,
  );
}

function parseSeen(text: string): Seen | null {
  try {
    const { cluster, timeline } = JSON.parse(text) as Record<string, unknown>;
    const isCluster = cluster === null || (typeof cluster === 'string' && /^\d+$/.test(cluster));
    if (isCluster && Number.isSafeInteger(timeline))
      return { cluster: cluster as string | null, timeline: Number(timeline) };
  } catch {
    // Half a file says nothing.
  }
  return null;
}
