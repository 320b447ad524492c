/**
 * Checks a database in a separate process while the daemon works on it. SQLite examines one table at a time, which
 * takes minutes if the table is large and the disk is slow. A thread could not be stopped meanwhile, nor could its
 * process.
 */
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFile } from './addon.ts';
import { damageIn, isDamaged, tablesToCheck } from './integrity.ts';

/** What the process prints, one line of JSON each. */
export type CheckLine = { done: number; of: number } | { damage: string } | { well: true };

const LOWEST_PRIORITY = 19;

/** How much is read at once, and how much between two pauses, in bytes. */
const PIECE = 1 << 20;
const STRETCH = 16 * PIECE;

/**
 * Reports progress, and finally what it found.
 *
 * @throws Error if the file cannot be examined
 */
export async function checkFile(path: string, say: (line: CheckLine) => void): Promise<void> {
  stayBehind();
  await readThrough(path);
  const db = openFile(path, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    const tables = tablesToCheck(db);
    for (const [index, table] of tables.entries()) {
      say({ done: index, of: tables.length });
      // A request to end this process is noticed here.
      await new Promise(setImmediate);
      const damage = damageIn(db, table);
      if (damage !== null) return say({ damage: `${damage}, in ${table}` });
    }
    say({ well: true });
  } catch (error) {
    if (!isDamaged(error)) throw error;
    say({ damage: error.message });
  } finally {
    db.close();
  }
}

/** Check-ins come first, and if memory is short, this process is killed before the daemon. */
function stayBehind(): void {
  for (const humble of [
    () => setPriority(LOWEST_PRIORITY),
    () => writeFileSync('/proc/self/oom_score_adj', '1000'),
  ]) {
    try {
      humble();
    } catch {
      // If the system does not allow it, the check runs anyway.
    }
  }
}

/**
 * Reads the file from beginning to end, so that SQLite, which jumps, finds it in memory: many times faster on a slow
 * disk. It pauses for as long as it read, so that the disk has time for others.
 */
async function readThrough(path: string): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    if (fstatSync(fd).size > process.availableMemory() / 2) return;
    const buffer = Buffer.allocUnsafe(PIECE);
    let began = performance.now();
    for (let position = 0, read = PIECE; read > 0; position += read) {
      read = readSync(fd, buffer, 0, PIECE, position);
      if (position % STRETCH !== 0) continue;
      await sleep(performance.now() - began);
      began = performance.now();
    }
  } catch {
    // What cannot be read is found when SQLite examines it.
  } finally {
    closeSync(fd);
  }
}
