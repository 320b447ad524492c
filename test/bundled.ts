/** Bundles programs of tests that are started dozens of times. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** From here, packages are found as from the sources. */
const PLACE = join(import.meta.dirname, '../node_modules/.cache');

export interface Bundled extends Disposable {
  /** The path of the bundle. */
  path: string;
}

/**
 * A program of the tests in one file with all that it loads of the sources. Finding and reading those one by one is most
 * of what such a process does, and under strace each of these calls stops it twice. It goes with the block that made it.
 */
export function bundled(program: string): Bundled {
  mkdirSync(PLACE, { recursive: true });
  const directory = mkdtempSync(join(PLACE, 'snitch-test-'));
  const path = join(directory, 'program.mjs');
  const options = { bundle: true, packages: 'external', platform: 'node', format: 'esm' } as const;
  buildSync({ entryPoints: [program], outfile: path, logLevel: 'error', ...options });
  return { path, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}
