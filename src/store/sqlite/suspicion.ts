/**
 * Remembers that a database was found damaged while it was in use, so that the next start checks it before anybody is
 * told that something is stored, however long that takes. A start that finds it whole, because a backup was restored,
 * forgets this.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function pathIn(dataDir: string): string {
  return join(dataDir, 'snitch.suspect');
}

export function suspect(dataDir: string, details: string): void {
  try {
    writeFileSync(pathIn(dataDir), `${details}\n`, { mode: 0o600 });
  } catch {
    // The next start then serves first, and finds the damage again.
  }
}

export function isSuspect(dataDir: string): boolean {
  return existsSync(pathIn(dataDir));
}

export function trustAgain(dataDir: string): void {
  rmSync(pathIn(dataDir), { force: true });
}
