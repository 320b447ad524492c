/**
 * Remembers, outside the database and its log, up to which commit the store has reported durability.
 *
 * SQLite reads its log up to the first frame that does not fit, and takes everything after it for never written:
 * whatever a damaged, cut or missing log held is gone without a word. Therefore:
 *
 * 1. Every commit writes its number and time into one row of the database, in the same transaction.
 * 2. When the commit is synced, and before anybody is told, the number is written into a small file next to the
 *    database.
 * 3. A database that ends before the number in the file has lost something.
 *
 * The file itself is synced only now and then, after everything else. A power cut leaves an older number in it, or none
 * that can be read: then less is noticed, but nothing is ever called lost that was not. A database that another process
 * has checkpointed, or whose log a copy or an upgrade has emptied, still has its number.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fdatasync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type Database from 'better-sqlite3';
import type { BlindWindow } from '../../core/blind-window.ts';

/** How far the file on the disk itself can lag behind, in milliseconds. */
const SYNC_EVERY = 1_000;

/** Identifies a commit: the database it belongs to (`lineage`), how many came before it, and when it was made. */
export interface Stamp {
  lineage: string;
  number: number;
  at: number;
}

/** What is missing from a database. */
export interface Loss {
  /** From the last commit that is left until now. */
  window: BlindWindow;
  /** When the last commit was made that was reported durable. */
  until: number;
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'snitch.acknowledged');
}

/** To be called before another database replaces the present one: the new one owes nothing that the old one held. */
export function forgetAcknowledged(dataDir: string): void {
  rmSync(pathIn(dataDir), { force: true });
}

/** Gives a database the row that counts the commits, if it has none yet. */
export function countCommits(db: Database.Database, now: number): void {
  db.prepare(`INSERT INTO settings (name, value) VALUES ('commit', ?) ON CONFLICT (name) DO NOTHING`).run(
    textOf({ lineage: randomBytes(8).toString('hex'), number: 0, at: now }),
  );
}

export class Acknowledged {
  /** What the database has lost, or null; found at each start until a commit was made after that. */
  readonly loss: Loss | null;
  readonly #write: Database.Statement<[string]>;
  readonly #fd: number | null;
  #last: Stamp;
  #timer: NodeJS.Timeout | null = null;

  /** @param report called if the file cannot be used; the store works without it */
  constructor(db: Database.Database, dataDir: string, now: number, report: (error: unknown) => void) {
    this.#write = db.prepare(`UPDATE settings SET value = ? WHERE name = 'commit'`);
    this.#last = lastCommit(db);
    const told = read(dataDir);
    this.loss = lossOf(this.#last, told, now);
    if (this.loss && told) this.#last = { ...this.#last, number: told.number };
    this.#fd = open(dataDir, report);
    if (!this.loss) this.#note(this.#last);
  }

  /** Counts the commit that is about to be made, in its own transaction. */
  stamp(now: number): Stamp {
    const commit = { ...this.#last, number: this.#last.number + 1, at: now };
    this.#write.run(textOf(commit));
    return commit;
  }

  committed(commit: Stamp): void {
    this.#last = commit;
  }

  /** Remembers a commit that is durable; to be called before anybody is told of it. */
  synced(commit: Stamp): void {
    this.#note(commit);
    if (this.#timer !== null || this.#fd === null) return;
    const fd = this.#fd;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // If this fails, the disk has an older number, which is just as true.
      fdatasync(fd, () => {});
    }, SYNC_EVERY);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#fd !== null) closeSync(this.#fd);
  }

  #note(commit: Stamp): void {
    if (this.#fd === null) return;
    try {
      writeSync(this.#fd, fileOf(commit), 0);
    } catch {
      // A disk that is full or read-only refuses the next commit itself.
    }
  }
}

function lossOf(last: Stamp, told: Stamp | null, now: number): Loss | null {
  if (!told || told.lineage !== last.lineage || told.number <= last.number) return null;
  return { window: { start: Math.min(last.at, now), end: now }, until: told.at };
}

function lastCommit(db: Database.Database): Stamp {
  const value = db.prepare(`SELECT value FROM settings WHERE name = 'commit'`).pluck().get();
  return parse(String(value)) ?? { lineage: '', number: 0, at: 0 };
}

/**
 * Not opened the way other private files are written, because it stays in use and is overwritten in place at each
 * commit: it may exist already, and after a power cut an older number in it is still true.
 */
function open(dataDir: string, report: (error: unknown) => void): number | null {
  try {
    return openSync(pathIn(dataDir), constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  } catch (error) {
    report(error);
    return null;
  }
}

function read(dataDir: string): Stamp | null {
  try {
    const [line = ''] = readFileSync(pathIn(dataDir), 'utf8').split('\n');
    const commit = parse(line);
    return commit && fileOf(commit).startsWith(`${line}\n`) ? commit : null;
  } catch {
    return null;
  }
}

function textOf({ lineage, number, at }: Stamp): string {
  return `${lineage} ${number} ${at}`;
}

function parse(text: string): Stamp | null {
  const [, lineage = '', number, at] = /^([0-9a-f]{16}) (\d{1,15}) (-?\d{1,16})\b/.exec(text) ?? [];
  return lineage === '' ? null : { lineage, number: Number(number), at: Number(at) };
}

/** Always of one length, within one sector, and with a checksum: half an old one and half a new one is neither. */
function fileOf(commit: Stamp): string {
  const text = textOf(commit);
  return `${text} ${crc32(text).toString(16).padStart(8, '0')}\n`.padEnd(127, ' ').concat('\n');
}
