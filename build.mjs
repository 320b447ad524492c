/**
 * Builds dist/: snitch.mjs, the chunks that it loads when a command needs them, and SQLite's native addon. dist/ needs
 * nothing else but Node. With `--sea` it also builds dist/snitch, a single file that does not even need Node, and with
 * `--sea --arch arm64` dist/snitch-arm64, such a file for another architecture than that of this host. With several of
 * `--arch` it builds one for each.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { executablesWanted, isOwn, WrongOptions } from './build/architecture.ts';
import { buildExecutable } from './build/executable.ts';
import { leanPackages } from './build/lean-packages.ts';
import { collectLicenses } from './build/licenses.ts';
import { leanBuiltins, loadedWhenCalled } from './build/plugins.ts';

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, 'dist');
const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const ADDON = 'better_sqlite3.node';
const LICENSES = 'licenses.txt';

/** Packages written for CommonJS load Node's own modules with `require`, which does not exist in an ES module. */
const BANNER =
  "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";

/**
 * better-sqlite3 looks for its addon in its own package, but in dist/ the addon is beside the code.
 * @type {import('esbuild').Plugin}
 */
const addonBesideTheCode = {
  name: 'addon-beside-the-code',
  setup(builder) {
    builder.onLoad({ filter: /better-sqlite3[\\/]lib[\\/]binding\.js$/ }, () => ({
      contents: `exports.getBinding = (given) => given && typeof given === 'object' ? given : require(given ?? './${ADDON}');`,
    }));
  },
};

/**
 * Ink can talk to a debugger of React, which is a package that nobody has installed.
 * @type {import('esbuild').Plugin}
 */
const withoutDevtools = {
  name: 'without-devtools',
  setup(builder) {
    builder.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: 'empty' }));
    builder.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {};' }));
  },
};

/** They are read before anything is built. */
function architecturesWanted() {
  try {
    return executablesWanted(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof WrongOptions)) throw error;
    console.error(error.message);
    return process.exit(2);
  }
}

/** What the package of the library brings for an architecture. */
function prebuiltAddon(/** @type {import('./build/architecture.ts').Architecture} */ architecture) {
  const library = dirname(require.resolve('better-sqlite3/package.json'));
  return join(library, 'prebuilds', `linux-${architecture}.node`);
}

/**
 * Replaces a file instead of writing into it, and only if it changes: what runs from dist/ meanwhile must find each file
 * whole, whenever it loads it.
 */
function replaceFile(/** @type {string} */ path, /** @type {Uint8Array} */ content) {
  if (existsSync(path) && readFileSync(path).equals(content)) return;
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

/** A daemon that runs has mapped the addon. */
function copyAddon() {
  const { getPrebuildPath } = require(
    join(dirname(require.resolve('better-sqlite3/package.json')), 'lib/binding.js'),
  );
  const source = getPrebuildPath();
  if (!source) throw new Error(`better-sqlite3 has no addon for ${process.platform} on ${process.arch}`);
  replaceFile(join(dist, ADDON), readFileSync(source));
}

/** The name of a chunk has a digest of its content, so every build would leave the chunks of the last one behind. */
function removeOldChunks(/** @type {ReadonlySet<string>} */ written) {
  for (const name of readdirSync(dist)) {
    if (name.endsWith('.mjs') && !written.has(name)) rmSync(join(dist, name));
  }
}

/** esbuild has already printed what is wrong. */
const fail = () => process.exit(1);

const architectures = architecturesWanted();

/** @satisfies {import('esbuild').BuildOptions} */
const options = {
  absWorkingDir: root,
  outdir: dist,
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node26',
  define: { SNITCH_VERSION: JSON.stringify(version), 'process.env.NODE_ENV': '"production"' },
  external: ['*.node'],
  metafile: true,
  write: false,
  logLevel: 'warning',
};

/**
 * The bundles to build separately. The main bundle is one file, and every command pays for every byte of it.
 * @type {Record<string, string>}
 */
const entries = {};
const main = await build({
  ...options,
  entryPoints: { snitch: 'src/main.ts' },
  minify: true,
  plugins: [leanBuiltins, loadedWhenCalled(entries)],
}).catch(fail);

/**
 * The thread that copies the database's log is started from its code, which is a part of the bundle that needs it: the
 * executable has no files, and a file could be of another version by the time that the thread is started.
 */
const thread = await build({
  ...options,
  entryPoints: ['src/store/sqlite/copying-thread.ts'],
  format: 'cjs',
  minify: true,
  plugins: [addonBesideTheCode],
}).catch(fail);
const copyingThread = thread.outputFiles.map(({ text }) => text).join('');

/** What the main bundle loads when it is needed: the daemon, the dashboard, and their parts. */
const parts = await build({
  ...options,
  // They were found in no certain order. Sorting them makes the names and contents of chunks reproducible.
  entryPoints: Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1))),
  splitting: true,
  // The daemon keeps its source in memory. Names stay, so that the log can tell where a defect is.
  minifyWhitespace: true,
  minifySyntax: true,
  define: { ...options.define, SNITCH_COPYING_THREAD: JSON.stringify(copyingThread) },
  banner: { js: BANNER },
  plugins: [addonBesideTheCode, withoutDevtools, leanPackages, leanBuiltins],
}).catch(fail);
mkdirSync(dist, { recursive: true });
for (const { path, contents } of [...parts.outputFiles, ...main.outputFiles]) replaceFile(path, contents);
copyAddon();
const written = Object.keys({ ...main.metafile.outputs, ...parts.metafile.outputs }).map((path) =>
  basename(path),
);
removeOldChunks(new Set(written));
const inputs = Object.keys({ ...main.metafile.inputs, ...parts.metafile.inputs });
replaceFile(join(dist, LICENSES), Buffer.from(collectLicenses(root, inputs)));
console.log('dist/snitch.mjs');
for (const architecture of architectures) {
  const beside = Object.fromEntries([...written, ADDON, LICENSES].map((name) => [name, join(dist, name)]));
  const assets = isOwn(architecture) ? beside : { ...beside, [ADDON]: prebuiltAddon(architecture) };
  await buildExecutable({ ...options, write: true }, dist, architecture, assets);
}
