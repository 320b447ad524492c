/** Puts Node, the code and the addon into one file, so that the host does not need Node. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { ARCHITECTURES, type Architecture, executableName, isOwn } from './architecture.ts';
import { foreignNode } from './foreign-node.ts';
import { fillLastPage, misplacedParts } from './page-size.ts';

/**
 * @param options the options of esbuild for the other bundles
 * @param dist where the executable goes
 * @param architecture what it runs on
 * @param assets the paths of the files that it contains, by their names in it
 */
export async function buildExecutable(
  options: BuildOptions,
  dist: string,
  architecture: Architecture,
  assets: Record<string, string>,
): Promise<void> {
  const name = executableName(architecture);
  const work = mkdtempSync(join(dist, '.executable-'));
  try {
    const main = join(work, 'executable.mjs');
    const { outdir: _, outExtension: __, ...others } = options;
    await build({ ...others, entryPoints: ['src/executable.ts'], outfile: main });
    const settings = {
      // The executable remembers this name, so it must not contain a temporary directory.
      main: basename(main),
      mainFormat: 'module',
      executable: preparedNode(work, dirname(dist), architecture),
      output: join(work, name),
      // A code cache would be different in every build, would be useless on any other architecture than that which made
      // it, and would cover only the few lines of this module.
      useCodeCache: false,
      disableExperimentalSEAWarning: true,
      execArgv: ['--disable-warning=ExperimentalWarning', '--use-system-ca'],
      // NODE_OPTIONS is meant for other programs, and could preload a foreign library.
      execArgvExtension: 'none',
      assets,
    };
    const file = join(work, 'sea.json');
    writeFileSync(file, JSON.stringify(settings));
    execFileSync(process.execPath, ['--build-sea', file], {
      cwd: work,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const misplaced = misplacedParts(settings.output);
    if (misplaced.length > 0)
      throw new Error(`dist/${name} would not run everywhere: ${misplaced.join('; ')}`);
    // A new file takes the old one's name, because the old one may be running.
    renameSync(settings.output, join(dist, name));
    console.log(`dist/${name}: ${(statSync(join(dist, name)).size / 1e6).toFixed(0)} MB`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A copy of the Node that the executable contains, without what only a debugger needs. */
function preparedNode(work: string, root: string, architecture: Architecture): string {
  const copy = join(work, 'node');
  copyFileSync(isOwn(architecture) ? process.execPath : foreignNode(root, architecture), copy);
  strip(copy, architecture);
  fillLastPage(copy);
  return copy;
}

/** Removes the names of Node's own functions, which are a fifth of its size. */
function strip(program: string, architecture: Architecture): void {
  const { gnu, binutils } = ARCHITECTURES[architecture];
  const [tool, from] = isOwn(architecture) ? ['strip', 'binutils'] : [`${gnu}-strip`, binutils];
  const { error, status } = spawnSync(tool, [program], { stdio: 'inherit' });
  if (error) {
    const name = executableName(architecture);
    console.warn(
      `dist/${name} keeps the debugging names of Node: \`${tool}\` (package ${from}) is not installed`,
    );
  } else if (status !== 0) throw new Error(`${tool} failed on the Node for ${architecture}`);
}
