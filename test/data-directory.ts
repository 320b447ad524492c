/** A data directory for one test. In a file of its own, so that whoever needs only this does not wait for the built program. */
import { type DisposableTempDir, mkdtempDisposableSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'snitch-test-'));
}

/** One that goes with the block that made it: `using directory = ownDirectory()`. */
export function ownDirectory(): DisposableTempDir {
  return mkdtempDisposableSync(join(tmpdir(), 'snitch-test-'));
}

export function removeDataDir(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
}
