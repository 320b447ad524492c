/** Whether a data directory once had a database: if one is missing, it is then lost or not mounted, rather than new. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Copies of the whole database, by the names that this program gives them. */
const COPY = /^\.(before-upgrade-from-\d+|before-restore-[\dTZ-]+|rescued-[\dTZ-]+)$/;

/** A database that is gone, in words: what is missing, and what can be done about it. */
export interface Loss {
  message: string;
  remedies: readonly string[];
}

/** Why no new database can be created at `path`, in words that say what to do; null if one can, or is there already. */
export function refusalToBegin(path: string, hasTables?: boolean): string | null {
  const loss = lossOf(path, hasTables);
  return loss && [loss.message, ...loss.remedies].join('. ');
}

/**
 * Null if there is a database at `path`, or if nothing shows that there ever was one. A first start that was interrupted leaves no such traces, because the keys are
 * written down only after the database has its tables.
 *
 * @param hasTables false if a file exists but has no tables; absent if that is not known yet
 */
export function lossOf(path: string, hasTables?: boolean): Loss | null {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (hasTables === undefined && size !== undefined && size > 0) return null;
  const copies = copiesBeside(path);
  const log = `${path}-wal`;
  // An open database has a log of its own.
  const hasLog = hasTables === undefined && sizeOf(log) > 0;
  const keys = join(dirname(path), 'credentials.yaml');
  const traces = [...(sizeOf(keys) > 0 ? [keys] : []), ...(hasLog ? [log] : []), ...copies];
  if (traces.length === 0) return null;
  const newest = copies[0];
  return {
    message: `the database ${path} is ${size === undefined ? 'missing' : 'empty'}, but there was one: ${named(traces)} beside it`,
    remedies: [
      `If the data is on a disk of its own, mount that`,
      `If the database is lost, put a backup in its place with \`snitch restore FILE\`${newest ? ` (the newest copy here is ${newest})` : ''}`,
      `To begin anew on purpose, move away what is named above`,
    ],
  };
}

function named(traces: readonly string[]): string {
  return `${traces.map((trace) => basename(trace)).join(', ')} ${traces.length === 1 ? 'is' : 'are'}`;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Newest first. */
function copiesBeside(path: string): string[] {
  const directory = dirname(path);
  return readdirSync(directory)
    .filter((name) => name.startsWith(basename(path)) && COPY.test(name.slice(basename(path).length)))
    .map((name) => join(directory, name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
}
