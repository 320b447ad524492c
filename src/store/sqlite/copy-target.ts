/** Where a copy of a database must not be written. It is put in place by a rename, which asks no running daemon. */
import { existsSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { databasePath } from './connection.ts';

const ELSEWHERE = 'name a file elsewhere, on another disk if you can';

/**
 * Why `file` must not be replaced by a copy of the database of `dataDir`, or null. Links are followed, and files and
 * directories are compared by device and inode, because one of them can have many names.
 */
export function refusalOfTarget(dataDir: string, file: string): string | null {
  const target = followed(file);
  for (const own of filesOf(dataDir)) {
    if (isSame(fileAt(file), fileAt(own)) || isSame(fileAt(target), fileAt(own))) {
      return `${file} is ${own} itself, which the daemon works with: ${ELSEWHERE}`;
    }
  }
  for (const place of [dirname(resolve(file)), dirname(target)]) {
    if (ancestors(place).some((directory) => isSame(fileAt(directory), fileAt(dataDir)))) {
      return `${file} is in the data directory ${dataDir}, where a copy is lost with what it is a copy of: ${ELSEWHERE}`;
    }
    if (existsSync(join(place, 'snitch.lock'))) {
      return `${file} is in ${place}, the data directory of another snitch: ${ELSEWHERE}; a backup is put there with \`snitch restore\``;
    }
  }
  return null;
}

/** Where `file` leads if it is a link, which a copy replaces, so that none comes there; null if it is none. */
export function linkedFrom(file: string): string | null {
  const target = followed(file);
  return target === resolve(file) ? null : target;
}

/** Whether both are names of one file. */
export function isSameFile(one: string, other: string): boolean {
  return isSame(fileAt(one), fileAt(other));
}

function filesOf(dataDir: string): string[] {
  const path = databasePath(dataDir);
  return [path, `${path}-wal`, `${path}-shm`];
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

function fileAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Where a chain of links ends, even if nothing exists there yet. */
function followed(file: string): string {
  let path = resolve(file);
  for (let links = 0; links < 40; links += 1) {
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      return path;
    }
  }
  return path;
}

/** The directory with all links resolved, and all directories above it; empty if it does not exist. */
function ancestors(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const found = [realpathSync(directory)];
  for (let at = found[0] as string; at !== dirname(at); at = dirname(at)) found.push(dirname(at));
  return found;
}
