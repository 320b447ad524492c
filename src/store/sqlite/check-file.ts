/**
 * Checks a database from a process of its own while the daemon works on it. SQLite looks at one table at a time, which
 * takes minutes where the table is large and the disk is slow. A thread could not be ended meanwhile, nor could the
 * process that it belongs to.
 */
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFile } from './addon.ts';
import { damageIn, isDamaged, tablesToCheck } from './integrity.ts';

/** What the process says, a line of JSON each. */
export type CheckLine = { done: number; of: number } | { damage: string } | { well: true };

const LOWEST_PRIORITY = 19;

/** Read at once, and read between two rests, in bytes. */
const PIECE = 1 << 20;
const STRETCH = 16 * PIECE;

/**
 * Says how far it is, and ends with what it found.
 *
 * @throws Error where the file cannot be looked at
 */
export async function checkFile(path: string, say: (line: CheckLine) => void): Promise<void> {
  stayBehind();
  await readThrough(path);
  const db = openFile(path, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    const tables = tablesToCheck(db);
    for (const [index, table] of tables.entries()) {
      say({ done: index, of: tables.length });
      // Whoever wants this process to end is heard now.
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

/** Check-ins come first, and when memory is short this process goes before the daemon. */
function stayBehind(): void {
  for (const humble of [
    () => setPriority(LOWEST_PRIORITY),
    () => writeFileSync('/proc/self/oom_score_adj', '1000'),
  ]) {
    try {
      humble();
    } catch {
      // Where the system does not allow it, it goes without.
    }
  }
}

/**
 * Reads the file from its beginning to its end, so that SQLite, which jumps, finds it in memory: many times faster where
 * the disk is slow. It rests as long as it reads, so that the disk has time for others.
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
    // What cannot be read is found when SQLite looks at it.
  } finally {
    closeSync(fd);
  }
}
