/** What a run was measured on. */
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { median } from '../quantile.ts';

export interface Machine {
  cores: number;
  processor: string;
  /** Bytes. */
  memory: number;
  kernel: string;
  fileSystem: string;
  /** How long a sync takes after a page was appended to a file, in milliseconds, while nothing else writes. */
  sync: number;
  node: string;
  wrk: string;
}

const SYNCS = 200;
const PAGE = Buffer.alloc(4096, 1);

/** @param directory where the data of the benches lies */
export function describeMachine(directory: string, wrk: string): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memory: totalmem(),
    kernel: `Linux ${release()}`,
    fileSystem: fileSystemOf(directory, readFileSync('/proc/self/mounts', 'utf8')),
    sync: quietSync(directory),
    node: process.version,
    wrk,
  };
}

/** The type of the file system that a directory is on, according to the lines of /proc/self/mounts. */
export function fileSystemOf(directory: string, mounts: string): string {
  let [longest, found] = [-1, 'unknown'];
  for (const line of mounts.trimEnd().split('\n')) {
    const [, place = '', type = ''] = line.split(' ');
    const isAbove = place === '/' || directory === place || directory.startsWith(`${place}/`);
    // The last mount at a place hides earlier ones.
    if (isAbove && place.length >= longest) [longest, found] = [place.length, type];
  }
  return found;
}

function quietSync(directory: string): number {
  const path = join(directory, 'sync');
  const fd = openSync(path, 'w');
  const times = Array.from({ length: SYNCS }, () => {
    writeSync(fd, PAGE);
    const before = performance.now();
    fdatasyncSync(fd);
    return performance.now() - before;
  });
  closeSync(fd);
  rmSync(path);
  return median(times);
}
