/** A data directory for one test. In a separate file, so that tests that need only this do not wait for the built program. */
import { type DisposableTempDir, mkdtempDisposableSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'snitch-test-'));
}

/** One that is removed at the end of the block: `using directory = ownDirectory()`. */
export function ownDirectory(): DisposableTempDir {
  return mkdtempDisposableSync(join(tmpdir(), 'snitch-test-'));
}

export function removeDataDir(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
}
