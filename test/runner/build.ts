/** Builds what the chosen tests need, once, while those that need nothing are already running. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Needs, TEST } from './test-files.ts';

type Built = Exclude<Needs, 'nothing'>;

/** The order in which they are built. */
const ALL: readonly Built[] = ['bundle', 'executable', 'foreign executable'];

/** What the build prints when the file is there. */
const SAID: Record<Built, RegExp> = {
  bundle: /^dist\/snitch\.mjs$/,
  executable: /^dist\/snitch: /,
  'foreign executable': /^dist\/snitch-arm64: /,
};

/**
 * Each promise resolves when the file is there, or will never be. What nothing needs is not built.
 *
 * @param failed called if the build fails: whatever is running then has to be ended
 */
export function build(needs: ReadonlySet<Needs>, failed: () => void): Record<Built, Promise<void>> {
  const most = ALL.findLastIndex((one) => needs.has(one));
  // On a host of that architecture, it is the host's own executable.
  const isForeign = needs.has('foreign executable') && process.arch !== 'arm64';
  const wanted = ALL.slice(0, most + 1).filter((one) => one !== 'foreign executable' || isForeign);
  const resolvers = ALL.map((one) => [one, Promise.withResolvers<void>()] as const);
  if (wanted.length > 0) {
    const options = wanted.includes('executable') ? ['--sea', '--arch', process.arch] : [];
    if (isForeign) options.push('--arch', 'arm64');
    void run(options, (line) => {
      for (const [one, { resolve }] of resolvers) if (SAID[one].test(line)) resolve();
    }).then((isGood) => {
      if (!isGood) failed();
      for (const [, { resolve }] of resolvers) resolve();
    });
  } else for (const [, { resolve }] of resolvers) resolve();
  return Object.fromEntries(resolvers.map(([one, { promise }]) => [one, promise])) as Record<
    Built,
    Promise<void>
  >;
}

/** All in one process, so that the bundle is made once and goes into each executable. */
async function run(options: readonly string[], onLine: (line: string) => void): Promise<boolean> {
  const child = spawn(process.execPath, ['build.mjs', ...options], {
    cwd: join(TEST, '..'),
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  createInterface({ input: child.stdout }).on('line', onLine);
  const [code] = await once(child, 'exit');
  if (code !== 0) console.error('the build failed: no test that needs the program can run');
  return code === 0;
}
