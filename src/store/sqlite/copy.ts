/** Copies of the database: taken while the daemon works, proved whole, and put in place of another. */
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { isInContainer } from '../../system/container.ts';
import { copyToPrivateFileNow, createPrivateFileNow, syncNow } from '../../system/private-file.ts';
import { migrations } from '../migrations/index.ts';
import { forgetAcknowledged } from './acknowledged.ts';
import { openFile } from './addon.ts';
import { databasePath, prepareDataDir } from './connection.ts';
import { isSameFile, refusalOfTarget } from './copy-target.ts';
import { BESIDE, discard, isForWantOfLinks, newDraft, restoreDraft } from './drafts.ts';
import { inOneLine } from './integrity.ts';
import { DataDirLocked, lockDataDir } from './lock.ts';
import { type Loss, lossOf } from './traces.ts';

/** A copy cannot be made, or is not fit to be put in place; the message says why. */
export class CopyFailed extends Error {
  override readonly name = 'CopyFailed';
}

/** Thrown by the caller to end a copy in the middle. */
export class CopyStopped extends Error {
  override readonly name = 'CopyStopped';
}

export interface Content {
  snitches: number;
  cases: number;
  schema: number;
}

/** Why nothing can be copied from there, in words; null if a database can be seen. */
export function refusalOfSource(dataDir: string): string | null {
  try {
    statSync(databasePath(dataDir));
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return `there is no database in ${dataDir}: name another with --data-dir`;
    const asWhom = 'run this with sudo, or as the user whom it belongs to';
    return code === 'EACCES' ? `${dataDir} may not be looked into: ${asWhom}` : message;
  }
}

/**
 * One consistent state of the database, in one file that only its owner can read. A snapshot is held meanwhile: what
 * the daemon writes while the copy is made neither gets into it nor restarts it.
 *
 * @param onStep called between two steps of the copy; what it throws ends the copy, which is then removed
 * @throws CopyFailed
 */
export async function takeBackup(dataDir: string, file: string, onStep = () => {}): Promise<Content> {
  const source = databasePath(dataDir);
  const refusal = refusalOfSource(dataDir) ?? refusalOfTarget(dataDir, file);
  if (refusal) throw new CopyFailed(refusal);
  let draft: string | null = null;
  try {
    draft = newDraft(file);
    // Created first, so that it is private before anything is in it.
    createPrivateFileNow(draft);
    await copySnapshot(source, draft, onStep);
    const content = makeStandalone(draft, source);
    syncNow(draft);
    // The log of a replaced file would be taken for the log of the copy, and damage it.
    for (const suffix of BESIDE) rmSync(`${file}${suffix}`, { force: true });
    renameSync(draft, file);
    syncNow(dirname(file));
    return content;
  } catch (error) {
    if (draft !== null) discard(draft);
    throw inWords(error, `cannot copy ${source} to ${file}`);
  }
}

/**
 * Saves an open database whose file has lost its name, next to where it was.
 *
 * @returns the file with everything that was in it
 */
export async function rescueDatabase(db: Database.Database, dataDir: string, stamp: string): Promise<string> {
  // The directory may be gone as well.
  prepareDataDir(dataDir);
  const file = rescuePath(dataDir, stamp);
  const draft = `${file}.partial`;
  createPrivateFileNow(draft);
  await db.backup(draft, { progress: () => 1_000 });
  const copy = openFile(draft, { fileMustExist: true });
  copy.pragma('journal_mode = DELETE');
  copy.close();
  syncNow(draft);
  renameSync(draft, file);
  syncNow(dirname(file));
  return file;
}

export function rescuePath(dataDir: string, stamp: string): string {
  return `${databasePath(dataDir)}.rescued-${stamp}`;
}

async function copySnapshot(source: string, draft: string, onStep: () => void): Promise<void> {
  const db = openFile(source, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM sqlite_master').get();
    await db.backup(draft, {
      progress: () => {
        onStep();
        return 1_000;
      },
    });
  } finally {
    db.close();
  }
}

/**
 * A copy is a single file without a log, and is proved whole.
 *
 * @param original what it was copied from, and so what is at fault if it is not whole
 */
function makeStandalone(path: string, original: string): Content {
  const db = openFile(path, { fileMustExist: true });
  try {
    db.pragma('journal_mode = DELETE');
    return verify(db, original);
  } finally {
    db.close();
  }
}

/**
 * What is in the database of a data directory, whether or not a daemon uses it; null if there is none.
 *
 * @throws CopyFailed if it is damaged
 */
export function inspectDatabase(dataDir: string): Content | null {
  const path = databasePath(dataDir);
  if (!existsSync(path)) return null;
  const db = openFile(path, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    return verify(db, path);
  } catch (error) {
    throw inWords(error, `cannot read ${path}`);
  } finally {
    db.close();
  }
}

/** Null if there is a database, or if there never was one. */
export function lossIn(dataDir: string): Loss | null {
  return lossOf(databasePath(dataDir));
}

/** @throws CopyFailed that says why the file cannot replace a database */
function verify(db: Database.Database, path: string): Content {
  const answer = String(db.pragma('integrity_check(1)', { simple: true }));
  if (answer !== 'ok') throw new CopyFailed(`${path} is damaged: ${inOneLine(answer)}`);
  const schema = Number(db.pragma('user_version', { simple: true }));
  const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all();
  if (schema === 0 || !['cases', 'snitches', 'settings'].every((name) => tables.includes(name))) {
    throw new CopyFailed(`${path} is no database of snitch`);
  }
  if (schema > migrations.length) {
    throw new CopyFailed(
      `${path} was written by a newer snitch (schema ${schema}; this one knows ${migrations.length})`,
    );
  }
  const count = (table: string) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  return { schema, snitches: count('snitches'), cases: count('cases') };
}

export interface Restored {
  content: Content;
  /** Where the previous database is now; null if there was none. */
  kept: string | null;
}

/**
 * Puts a copy of `file` in place of the database. The old one stays in place until the last step, a rename.
 *
 * @param stamp goes into the new name of the old one
 * @throws CopyFailed if `file` is not whole, or a daemon uses the data directory
 */
export function restoreBackup(file: string, dataDir: string, stamp: string): Restored {
  const about = statSync(file, { throwIfNoEntry: false });
  if (!about) throw new CopyFailed(`${file} does not exist`);
  // A device such as /dev/zero would fill the disk.
  if (!about.isFile() && !about.isFIFO()) throw new CopyFailed(`${file} is no file with a backup`);
  prepareDataDir(dataDir);
  const target = databasePath(dataDir);
  if (isSameFile(file, target)) {
    throw new CopyFailed(
      `${file} is the database of ${dataDir} itself: there is nothing to be restored from it`,
    );
  }
  const unlock = lock(dataDir);
  const draft = restoreDraft(target);
  try {
    discard(draft);
    copyWithLog(file, draft);
    const content = makeStandalone(draft, file);
    syncNow(draft);
    const kept = keepOld(target, `${target}.before-restore-${stamp}`);
    forgetAcknowledged(dataDir);
    renameSync(draft, target);
    syncNow(dirname(target));
    return { content, kept };
  } catch (error) {
    throw inWords(error, `cannot restore ${file}`);
  } finally {
    discard(draft);
    unlock();
  }
}

/** A database that was moved here with its log is whole only with the log; a backup has none. */
function copyWithLog(file: string, draft: string): void {
  for (const suffix of existsSync(`${file}-wal`) ? ['', '-wal'] : ['']) {
    copyToPrivateFileNow(`${file}${suffix}`, `${draft}${suffix}`);
  }
}

function lock(dataDir: string): () => void {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (!(error instanceof DataDirLocked)) throw error;
    throw new CopyFailed(
      `a daemon is using ${dataDir}: stop it first (${isInContainer() ? 'its container, from outside' : 'systemctl stop snitch.socket snitch'}), restore, and start it again`,
    );
  }
}

/**
 * The log of the old database goes with it, even if only the log is left: next to the new one it would be taken for the
 * new one's.
 *
 * @returns the old one's new name, or null if there was none
 */
function keepOld(path: string, kept: string): string | null {
  // SQLite would delete the log of an empty file.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) emptyLog(path);
  const isThere = existsSync(path);
  // Before the log is moved: if this fails, the old one must still be whole.
  if (isThere) linkOrCopy(path, kept);
  for (const suffix of BESIDE) {
    if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix);
  }
  return isThere ? kept : null;
}

function linkOrCopy(path: string, kept: string): void {
  try {
    linkSync(path, kept);
  } catch (error) {
    if (!isForWantOfLinks(error)) throw error;
    copyToPrivateFileNow(path, kept);
    syncNow(kept);
  }
}

/** Brings what is in the log into the file. A database too damaged for that is kept as it is, log and all. */
function emptyLog(path: string): void {
  try {
    const db = openFile(path, { fileMustExist: true });
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.close();
  } catch {
    return;
  }
}

function inWords(error: unknown, what: string): unknown {
  if (error instanceof CopyFailed || error instanceof CopyStopped) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'SQLITE_NOTADB') return new CopyFailed(`${what}: it is no database`);
  if (code?.startsWith('SQLITE_CORRUPT')) return new CopyFailed(`${what}: it is damaged`);
  return new CopyFailed(`${what}: ${message}`);
}
