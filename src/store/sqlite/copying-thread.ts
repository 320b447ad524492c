/**
 * A thread that copies the log into the database on request, on a connection of its own, while the store goes on
 * writing.
 *
 * With `synchronous=NORMAL` SQLite syncs the log before it copies any of it, so that the database is never ahead of the
 * log on the disk. Once it has copied all of the log it also syncs the database, and only then tells the other
 * connections that the log can be restarted. Both happen here, where nobody waits for the disk.
 */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/** What the thread needs to know. */
export interface CopyingWork {
  /** The path of the database. */
  path: string;
  /** The file that this process loaded SQLite's addon from; null if the library finds it on its own. */
  addon: string | null;
}

/** The thread's answers: that it is open, the result of a copy, or why it cannot work. */
export type CopyingAnswer =
  | { kind: 'ready' }
  /** Frames in the log, and how many of them are in the database; both are meaningless if it was `busy`. */
  | { kind: 'copied'; busy: boolean; log: number; checkpointed: number }
  | { kind: 'failed'; message: string; code: string | undefined };

export type CopyingOrder = 'copy' | 'end';

const { path, addon } = workerData as CopyingWork;
const port = parentPort;

function answer(message: CopyingAnswer): void {
  port?.postMessage(message);
}

/** The native addons that this process has loaded, by device and inode. */
function loadedAddons(): Set<string> {
  const addons = new Set<string>();
  for (const line of readFileSync('/proc/self/maps', 'latin1').split('\n')) {
    const [, file] = /^\S+ \S+ \S+ (\S+ \d+) +\S.*\.node(?: \(deleted\))?$/.exec(line) ?? [];
    if (file) addons.add(file);
  }
  return addons;
}

/**
 * Uses the SQLite that the process has already loaded. A second copy of it, from another file, would not know the locks
 * that the first one holds for this process, and the kernel drops all of them as soon as either closes the database. So
 * a second copy is refused before it opens anything.
 */
function loadSqlite(): Database.Options {
  const known = loadedAddons();
  const options: Database.Options = {};
  if (addon !== null) {
    const module = { exports: {} };
    process.dlopen(module, addon);
    options.nativeBinding = module.exports as unknown as string;
  }
  new Database(':memory:', options).close();
  for (const file of loadedAddons()) {
    if (!known.has(file)) throw new Error('the file of the SQLite in use was replaced by another one');
  }
  return options;
}

function open(): Database.Database {
  const db = new Database(path, { ...loadSqlite(), fileMustExist: true, timeout: 250 });
  db.pragma('synchronous = NORMAL');
  db.pragma('wal_autocheckpoint = 0');
  db.pragma('cache_size = -64');
  // This opens the log as well.
  if (db.pragma('journal_mode', { simple: true }) !== 'wal') throw new Error(`${path} has no log`);
  return db;
}

function copy(db: Database.Database): CopyingAnswer {
  const [row] = db.pragma('wal_checkpoint(PASSIVE)') as { busy: number; log: number; checkpointed: number }[];
  const { busy, log, checkpointed } = row ?? { busy: 1, log: 0, checkpointed: 0 };
  return { kind: 'copied', busy: busy !== 0, log, checkpointed };
}

function failed(error: unknown): CopyingAnswer {
  const { message, code } = error as NodeJS.ErrnoException;
  return { kind: 'failed', message, code };
}

function tried(work: () => CopyingAnswer): CopyingAnswer {
  try {
    return work();
  } catch (error) {
    return failed(error);
  }
}

try {
  const db = open();
  port?.on('message', (order: CopyingOrder) => {
    if (order === 'copy') {
      answer(tried(() => copy(db)));
      return;
    }
    db.close();
    port.close();
  });
  answer({ kind: 'ready' });
} catch (error) {
  answer(failed(error));
}
