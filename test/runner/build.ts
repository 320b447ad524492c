/** Builds what the chosen tests need, once, while those that need nothing run already. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Needs, TEST } from './test-files.ts';

/** Each resolves when the file is there; where nothing needs it, it is not built. */
export function build(needs: ReadonlySet<Needs>): Record<Exclude<Needs, 'nothing'>, Promise<void>> {
  const needsForeign = needs.has('foreign executable');
  const needsExecutable = needsForeign || needs.has('executable');
  const bundle = needsExecutable || needs.has('bundle') ? run() : Promise.resolve();
  const executable = needsExecutable ? bundle.then(() => run('--sea')) : bundle;
  // A host of that architecture has it already: it is its own.
  const isForeign = needsForeign && process.arch !== 'arm64';
  const foreign = isForeign ? executable.then(() => run('--sea', '--arch', 'arm64')) : executable;
  return { bundle, executable, 'foreign executable': foreign };
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
