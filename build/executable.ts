/** Puts Node, the code and the addon into one file, so that the host needs no Node. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

/**
 * @param options the options of esbuild for the other bundles
 * @param dist where the parts are, and where the executable goes
 * @param parts the names of the files in `dist` that the executable contains
 */
export async function buildExecutable(
  options: BuildOptions,
  dist: string,
  parts: readonly string[],
): Promise<void> {
  const work = mkdtempSync(join(dist, '.executable-'));
  try {
    const main = join(work, 'executable.mjs');
    const { outdir: _, outExtension: __, ...others } = options;
    await build({ ...others, entryPoints: ['src/executable.ts'], outfile: main });
    const settings = {
      // The executable remembers this name, so it must not contain a temporary directory.
      main: basename(main),
      mainFormat: 'module',
      executable: strippedNode(work),
      output: join(work, 'snitch'),
      // A code cache would be different in every build, and would cover only the few lines of this module.
      useCodeCache: false,
      disableExperimentalSEAWarning: true,
      execArgv: ['--disable-warning=ExperimentalWarning', '--use-system-ca'],
      // NODE_OPTIONS is meant for other programs, and could preload a library that is none of ours.
      execArgvExtension: 'none',
      assets: Object.fromEntries(parts.map((name) => [name, join(dist, name)])),
    };
    const file = join(work, 'sea.json');
    writeFileSync(file, JSON.stringify(settings));
    execFileSync(process.execPath, ['--build-sea', file], {
      cwd: work,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    // A new file takes the old one's name, because the old one may be running.
    renameSync(settings.output, join(dist, 'snitch'));
    console.log(`dist/snitch: ${(statSync(join(dist, 'snitch')).size / 1e6).toFixed(0)} MB`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Removes the names of Node's own functions, which are a fifth of its size and help only a debugger. */
function strippedNode(work: string): string {
  const copy = join(work, 'node');
  copyFileSync(process.execPath, copy);
  const { error } = spawnSync('strip', [copy], { stdio: 'inherit' });
  if (error)
    console.warn(
      'dist/snitch keeps the debugging names of Node: `strip` (package binutils) is not installed',
    );
  return copy;
}
