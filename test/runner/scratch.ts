/**
 * A directory in memory for what the tests write. They make thousands of databases, and sync each to the disk again and
 * again, which takes half of the time of a run. Proving that the syncs are made needs no disk.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const TMPFS = 0x0102_1994;

/** If fewer bytes than these are free, in the file system or in memory, the tests write to the disk. */
const FREE = 2 * 2 ** 30;
const AVAILABLE = 6 * 2 ** 30;

/** The name contains the id of the process that made it, so that directories of killed runs are recognised. */
const NAME = /^snitch-(\d+)-\w{6}$/;

export interface Scratch extends Disposable {
  path: string;
}

/**
 * Makes such a directory in `place`, which is removed when it is disposed of. Those that killed runs left are removed.
 *
 * @param available bytes of memory
 * @returns null if `place` is not in memory, has no room, or does not let this process write or run programs
 */
export function scratchIn(place: string, available: number): Scratch | null {
  if (!isInMemory(place) || !mayWriteTo(place)) return null;
  for (const name of readdirSync(place)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid && !existsSync(`/proc/${pid}`)) remove(join(place, name));
  }
  const { bavail, bsize } = statfsSync(place);
  if (bavail * bsize < FREE || available < AVAILABLE) return null;
  const path = mkdtempSync(join(place, `snitch-${process.pid}-`));
  // Like `/tmp`: some tests start programs as other users.
  chmodSync(path, 0o1777);
  if (!mayRunIn(path)) {
    remove(path);
    return null;
  }
  return { path, [Symbol.dispose]: () => remove(path) };
}

function mayWriteTo(place: string): boolean {
  return isAllowed(place, constants.R_OK | constants.W_OK | constants.X_OK);
}

/** Tests write programs and run them, which containers usually forbid there. */
function mayRunIn(directory: string): boolean {
  const program = join(directory, 'program');
  writeFileSync(program, '', { mode: 0o700 });
  const may = isAllowed(program, constants.X_OK);
  rmSync(program);
  return may;
}

function isAllowed(path: string, how: number): boolean {
  try {
    accessSync(path, how);
    return true;
  } catch {
    return false;
  }
}

function isInMemory(place: string): boolean {
  try {
    return statfsSync(place).type === TMPFS;
  } catch {
    return false;
  }
}

/** Something in it may still be mounted, or belong to someone else: it then stays, and this is reported. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    console.error(`${path} could not be removed: ${error instanceof Error ? error.message : error}`);
  }
}
