/**
 * Remembers across restarts which cluster and timeline this node has written to. The database itself cannot: an old
 * primary has lost everything that would give it away.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Owner, replacePrivateFile } from '../../../system/private-file.ts';
import type { Seen } from './facts.ts';

/** In the node's data directory. */
export const SEEN_FILE = 'postgres-primary.json';

export interface SeenMemory {
  /** Null if nothing is kept on disk. */
  readonly file: string | null;
  get(): Seen | null;
  /** Takes effect at once; resolves when it is on the disk. */
  keep(seen: Seen): Promise<void>;
}

/**
 * @param dataDir null for a memory that ends with the process
 * @param warn called if the file cannot be written: the node goes on, because check-ins matter more
 * @throws Error if the file exists but cannot be read or understood
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
      // One write after another, so that the newest stays.
      writing = writing.then(async () => {
        if (file === null) return;
        try {
          await replacePrivateFile(file, `${JSON.stringify(next)}\n`, ownerBeside(file));
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

/** If root starts the daemon by hand, its own user must still be able to read the file afterwards. */
function ownerBeside(file: string): Owner | undefined {
  const { uid, gid } = statSync(dirname(file));
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

/** What this directory's node remembers, without ever writing. Holds null also if the file cannot be read. */
export function seenBy(dataDir: string): SeenMemory {
  const file = join(dataDir, SEEN_FILE);
  let seen: Seen | null = null;
  try {
    seen = readSeen(file);
  } catch {
    // The daemon itself reports what is wrong with its file.
  }
  return { file, get: () => seen, keep: async () => {} };
}

function readSeen(file: string): Seen | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new Error(
      `${file} cannot be read (${code}). It keeps an old primary from being taken for the current one: let the user of the daemon own it (chown), and start again`,
    );
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
    // A file cut in half says nothing.
  }
  return null;
}
