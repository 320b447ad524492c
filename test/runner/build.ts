/** Builds what the chosen tests need, once, while those that need nothing run already. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Needs, TEST } from './test-files.ts';

/** Each resolves when the file is there; where nothing needs it, it is not built. */
export function build(needs: ReadonlySet<Needs>): Record<'bundle' | 'executable', Promise<void>> {
  const bundle = needs.has('bundle') || needs.has('executable') ? run() : Promise.resolve();
  const executable = needs.has('executable') ? bundle.then(() => run('--sea')) : bundle;
  return { bundle, executable };
}

async function run(...options: string[]): Promise<void> {
  const child = spawn(process.execPath, ['build.mjs', ...options], {
    cwd: join(TEST, '..'),
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code === 0) return;
  console.error('the build failed: no test that needs the program can run');
  process.exit(1);
}
