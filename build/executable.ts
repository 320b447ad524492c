/** Puts Node, the code and the addon into one file that needs no Node where it runs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

/**
 * @param options of esbuild, as for the other bundles
 * @param dist where the parts are, and where the executable goes
 * @param parts names of the files in `dist` that it carries
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
      // The executable remembers this name, so that it must not be that of a directory.
      main: basename(main),
      mainFormat: 'module',
      executable: strippedNode(work),
      output: join(work, 'snitch'),
      // A cache of compiled code is another one in every build, and would be of the few lines of this file alone.
      useCodeCache: false,
      disableExperimentalSEAWarning: true,
      execArgv: ['--disable-warning=ExperimentalWarning', '--use-system-ca'],
      // NODE_OPTIONS are meant for other programs: a library that they preload is none of ours.
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

/** Names of Node's own functions are a fifth of its size, and of use only to a debugger. */
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
