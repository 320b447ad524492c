/** A data directory with many snitches, filled in seconds by SQL on a file that the program's own migrations made. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { byNumber } from './by-number.ts';
import { byToken } from './by-token.ts';
import { type Jobs, jobsUntil, midnightBefore, type Scene, usualScene } from './scene.ts';
import type { Tables } from './tables.ts';

export interface JobsDatabase {
  dataDir: string;
  jobs: Jobs;
  /** The midnight that began the present day of the jobs. */
  midnight: number;
  /** In the order of creation. */
  tokens: readonly string[];
  /** The PostgreSQL database that holds them instead of the file. */
  url?: string;
}

/**
 * Fills a database that has one case and no snitches. The case must be in the time zone of `zoneAtNoon`.
 *
 * @param history check-ins of each, one a day
 */
export function fillDatabase(
  dataDir: string,
  { caseId, count, history, now }: { caseId: string; count: number; history: number; now: number },
): JobsDatabase {
  const planned = plan(dataDir, { count, history, now });
  const { jobs, midnight, tokens } = planned;
  change(dataDir, (db, tables) => {
    tables.fill(db, caseId, tokens, jobs);
    tables.arm(db, jobs, usualScene(midnight));
  });
  return planned;
}

/** What a database that is not filled yet will hold. */
export function plan(
  dataDir: string,
  { count, history, now }: { count: number; history: number; now: number },
): JobsDatabase {
  const midnight = midnightBefore(now);
  return { dataDir, jobs: jobsUntil(midnight, count, history), midnight, tokens: newTokens(count) };
}

const LETTERS = Buffer.from('abcdefghijklmnopqrstuvwxyz234567');
const LENGTH = 26;

/** Tokens like those that the program makes, but all at once. */
function newTokens(count: number): string[] {
  const letters = randomBytes(count * LENGTH).map((byte) => LETTERS[byte & 31] ?? 0);
  const text = Buffer.from(letters.buffer, letters.byteOffset, letters.length).toString('latin1');
  return Array.from({ length: count }, (_, index) => text.slice(index * LENGTH, (index + 1) * LENGTH));
}

/** Brings the snitches into the states of `scene`, while no daemon runs. No blind window remains. */
export function arm({ dataDir, jobs }: JobsDatabase, scene: Scene): void {
  change(dataDir, (db, tables) => tables.arm(db, jobs, scene));
}

/** The tokens of the last `count` jobs of the night, which never fail. */
export function steadyTokens({ tokens, jobs }: JobsDatabase, count: number): string[] {
  const from = jobs.count - Math.min(count, jobs.count);
  return Array.from({ length: jobs.count - from }, (_, index) => {
    const id = (BigInt(from + index) * BigInt(jobs.inverse)) % BigInt(jobs.count);
    return tokens[(id === 0n ? jobs.count : Number(id)) - 1] ?? '';
  });
}

/** All in one transaction without a log: nobody needs the file if this fails. */
function change(dataDir: string, work: (db: Database.Database, tables: Tables) => void): void {
  const db = new Database(databaseIn(dataDir), { fileMustExist: true });
  try {
    db.pragma('cache_size = -1000000');
    db.pragma('temp_store = MEMORY');
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    db.transaction(() => work(db, tablesOf(db)))();
    db.pragma('journal_mode = WAL');
  } finally {
    db.close();
  }
  flush(dataDir);
}

/**
 * Waits until all files of a directory are on the disk: writes still pending would slow the syncs that are measured.
 */
export function flush(directory: string): void {
  for (const name of readdirSync(directory)) {
    const fd = openSync(join(directory, name), 'r');
    fsyncSync(fd);
    closeSync(fd);
  }
}

export function databaseIn(dataDir: string): string {
  return join(dataDir, 'snitch.db');
}

/** Reads the database of a running daemon, which is not disturbed by readers. */
export function observe<T>(dataDir: string, look: (db: Database.Database, tables: Tables) => T): T {
  const db = new Database(databaseIn(dataDir), { readonly: true, fileMustExist: true });
  try {
    return look(db, tablesOf(db));
  } finally {
    db.close();
  }
}

/** The first version of the schema in which check-ins and states are keyed by the number of the snitch. */
const NUMBERED = 6;

/** The form that a database has, by the version of its schema. A version unknown here is assumed to have the latest. */
function tablesOf(db: Database.Database): Tables {
  return Number(db.pragma('user_version', { simple: true })) < NUMBERED ? byToken : byNumber;
}
