/** A disk that a test can fill and free again. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../fixture.ts';
import { mountTmpfs } from './mounts.ts';

export interface SmallDisk {
  /** Where the data directory may be. */
  dataDir: string;
  /** From now on nothing more can be written, or about so many bytes. */
  fill(left?: number): void;
  free(): void;
  remove(): void;
}

/**
 * A small file system; where this process may not mount one, its own limit on the size of files. Once freed, it has room
 * for everything that a test writes, also for a log that is copied late because the host is busy.
 */
export function openSmallDisk(): SmallDisk {
  const mount = mountTmpfs('size=16m');
  if (!mount) return limitFiles();
  const ballast = join(mount.path, 'ballast');
  return {
    dataDir: join(mount.path, 'data'),
    fill: (left = 0) => {
      writeUntilFull(ballast);
      if (left > 0) truncateSync(ballast, statSync(ballast).size - left);
    },
    free: () => rmSync(ballast, { force: true }),
    remove: mount.remove,
  };
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const size of [65_536, 4_096, 1]) {
      const chunk = Buffer.alloc(size);
      try {
        while (writeSync(file, chunk) > 0);
      } catch {
        // Full for chunks of this size: smaller ones find the rest.
      }
    }
  } finally {
    closeSync(file);
  }
}

function limitFiles(): SmallDisk {
  const dataDir = temporaryDirectory();
  const ignore = () => {};
  const limit = (bytes: number | 'unlimited') => {
    const options = ['--pid', String(process.pid), `--fsize=${bytes}:`];
    if (spawnSync('prlimit', options).status !== 0) throw new Error('prlimit is needed for this test');
  };
  // The kernel's signal for a file that would grow too large ends a process that does not expect it.
  process.on('SIGXFSZ', ignore);
  return {
    dataDir,
    fill: (left = 0) => limit(Math.max(4_096, left)),
    free: () => limit('unlimited'),
    remove: () => {
      limit('unlimited');
      process.off('SIGXFSZ', ignore);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
