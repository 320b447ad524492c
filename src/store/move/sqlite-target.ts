/** Writes a new database file, under another name until all of it is complete, verified and on the disk. */
import { chownSync, existsSync, linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { createPrivateFileNow, syncNow } from '../../system/private-file.ts';
import { migrations } from '../migrations/index.ts';
import { openFile } from '../sqlite/addon.ts';
import { isForWantOfLinks } from '../sqlite/drafts.ts';
import { lockDataDir } from '../sqlite/lock.ts';
import { migrate } from '../sqlite/migrate.ts';
import type { Row } from './digest.ts';
import { MoveFailed } from './move.ts';
import { listOf, type Table } from './tables.ts';

/** Files that SQLite keeps next to a database: those of another one would damage this one. */
const BESIDE = ['-wal', '-shm', '-journal'];

/** How much of the file SQLite can keep in memory, in KiB. */
const CACHE = 64 << 10;

/** @throws MoveFailed if the file must not be created */
export function refuseToReplace(file: string): void {
  for (const suffix of ['', ...BESIDE]) {
    if (!lstatSync(`${file}${suffix}`, { throwIfNoEntry: false })) continue;
    throw new MoveFailed(
      suffix === ''
        ? `${file} exists already, and a move replaces nothing: name a file that does not exist`
        : `${file}${suffix} is there, the log of another database, which would damage the new one: name another file`,
    );
  }
  if (!existsSync(dirname(file)))
    throw new MoveFailed(`there is no directory ${dirname(file)}: create it first`);
}

/**
 * Locks a directory that a daemon uses, or might use: none can start there meanwhile. Where no daemon has its keys, the
 * lock is removed again, also one that a killed move has left: it would make a directory for backups look like the data
 * directory of another daemon, and later backups would be refused.
 */
export function lockPlaceOf(file: string): () => void {
  const place = dirname(file);
  const lock = join(place, 'snitch.lock');
  if (basename(file) !== 'snitch.db' && !existsSync(lock)) return () => undefined;
  const unlock = lockDataDir(place);
  return () => {
    if (!existsSync(join(place, 'credentials.yaml'))) rmSync(lock, { force: true });
    unlock();
  };
}

export class SqliteTarget {
  readonly #file: string;
  readonly #draft: string;
  #db: Database.Database;

  /** @throws the error of the file system, or SqliteError */
  constructor(file: string) {
    this.#file = file;
    this.#draft = `${file}.partial`;
    this.#discard();
    // Created first, so that it is private before anything is in it.
    createPrivateFileNow(this.#draft);
    this.#db = openFile(this.#draft);
    try {
      // An unfinished draft is worth nothing, so it needs neither a journal nor syncs.
      this.#db.pragma('journal_mode = OFF');
      this.#db.pragma('synchronous = OFF');
      this.#db.pragma(`cache_size = -${CACHE}`);
      this.#db.pragma('temp_store = FILE');
      migrate(this.#db, migrations);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  get db(): Database.Database {
    return this.#db;
  }

  begin(): void {
    this.#db.exec('BEGIN');
  }

  /** For one table; pass its rows in the order of its key. */
  writerOf({ name, columns }: Table): (rows: readonly Row[]) => void {
    const names = columns.map((column) => column.name);
    const insert = this.#db.prepare(
      `INSERT INTO "${name}" (${listOf(names)}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    return (rows) => {
      for (const row of rows) insert.run(...row);
    };
  }

  /** From now on, no row of the table gets a number up to `last`. */
  setLastNumber({ name }: Table, last: bigint): void {
    if (last === 0n) return;
    const { changes } = this.#db.prepare('UPDATE sqlite_sequence SET seq = ? WHERE name = ?').run(last, name);
    if (changes === 0 && this.#isCounted(name))
      this.#db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, last);
  }

  #isCounted(name: string): boolean {
    const sql = this.#db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(name);
    return /\bAUTOINCREMENT\b/.test(String(sql));
  }

  setLiveness(at: number): void {
    this.#db
      .prepare(
        `INSERT INTO settings (name, value) VALUES ('liveness', ?)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      )
      .run(String(at));
  }

  /** Ends the writing and reopens the file, to be verified. */
  reopen(): Database.Database {
    this.#db.exec('COMMIT');
    this.#db.close();
    this.#db = openFile(this.#draft, { fileMustExist: true });
    const answer = String(this.#db.pragma('integrity_check(1)', { simple: true }));
    if (answer !== 'ok')
      throw new MoveFailed(`the new database came out damaged (${answer}): try another disk`);
    return this.#db;
  }

  /**
   * Gives the file its name once all of it is on the disk.
   *
   * @throws the error of the file system; the name then does not exist
   */
  finish(): void {
    this.#db.close();
    const { uid, gid } = statSync(dirname(this.#file));
    // The move may run as root, but the daemon of that directory as another user.
    if (process.getuid?.() === 0) chownSync(this.#draft, uid, gid);
    syncNow(this.#draft);
    giveName(this.#draft, this.#file);
    syncNow(dirname(this.#file));
    this.#discard();
  }

  /** Removes everything that was not finished. */
  abandon(): void {
    if (this.#db.open) this.#db.close();
    this.#discard();
  }

  #discard(): void {
    for (const suffix of ['', ...BESIDE]) rmSync(`${this.#draft}${suffix}`, { force: true });
  }
}

/** Unlike a rename, a link never replaces a file that appeared in the meantime; not every file system has links. */
function giveName(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!isForWantOfLinks(error)) throw error;
    refuseToReplace(file);
    renameSync(draft, file);
  }
}
