/**
 * Who imports whom, and how long files and functions are. Not with --fast: it reads all of the sources with the compiler.
 */
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cyclesAmong, partsOf } from './cycles.ts';
import { allImports, type Import, importsOf, SRC, sourceFiles } from './imports.ts';
import { type Length, lengthsOf } from './lengths.ts';
import { writtenTwice } from './said-once.ts';

/** The files directly in `store/`, which are all that the rest of the program may import. */
const STORE_INTERFACE = /^store\/[^/]+\.ts$/;

/** Which layer may import which others. `the store's interface` is a part of the layer `store`. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  /** The lowest layer: durations, widths and words, for all others. */
  text: [],
  core: ['text'],
  api: [],
  system: [],
  log: ['core', 'text'],
  config: ['core', 'log', 'system', 'text'],
  store: ['core', 'system', 'text'],
  sweep: ['core', 'text', "the store's interface"],
  delivery: ['core', 'text', "the store's interface"],
  http: ['core', 'text', 'api', "the store's interface"],
  demo: ['core', 'text', 'store', 'config'],
  daemon: ['core', 'text', 'api', 'store', 'sweep', 'delivery', 'http', 'config', 'log', 'system'],
  cli: ['core', 'text', 'api', 'log/journal.ts', 'system'],
  tui: ['core', 'text', 'api'],
  /** The command that opens the dashboard, and loads it only then. */
  'the screen': ['cli', 'api', 'tui'],
  'commands on the host': [
    ...['cli', 'core', 'text', 'api', 'config', 'log', 'system', 'store', 'daemon', 'demo'],
    'delivery/smtp/mail-check.ts',
  ],
  main: ['cli', 'system'],
  /** Loads the others from inside the single file. */
  executable: [],
};

/** The files at the top of src/, and the commands that work without a server. */
const LAYER_OF_FILE: Record<string, string> = {
  'main.ts': 'main',
  'executable.ts': 'executable',
  'cli/dashboard.ts': 'the screen',
  'cli/daemon/serve.ts': 'commands on the host',
  'cli/daemon/config.ts': 'commands on the host',
  'cli/daemon/check-database.ts': 'commands on the host',
  'cli/doctor/doctor.ts': 'commands on the host',
  'cli/doctor/mail.ts': 'commands on the host',
  'cli/doctor/postgres.ts': 'commands on the host',
  'cli/setup/mail.ts': 'commands on the host',
  'cli/daemon/backup.ts': 'commands on the host',
  'cli/daemon/restore.ts': 'commands on the host',
  'cli/daemon/move.ts': 'commands on the host',
  'cli/daemon/move-progress.ts': 'commands on the host',
};

/** What a command that only talks to the daemon must not wait for. */
const HEAVY = ['better-sqlite3', 'fastify', 'nodemailer', 'pg', 'pino', 'undici', 'yaml', 'zod'];

/** A longer function does two things; a longer file has two subjects. */
const LONGEST_FUNCTION = 50;
const LONGEST_FILE = 300;

/** Imports that take effect when a file is loaded or compiled; a file that is loaded later may import its loader. */
function standingImports(): Import[] {
  return allImports().filter((one) => isOwn(one) && one.kind !== 'dynamic');
}

function isTooLong({ what, lines }: Length): boolean {
  return lines > (what.includes(':') ? LONGEST_FUNCTION : LONGEST_FILE);
}

function layerOf(file: string): string {
  return LAYER_OF_FILE[file] ?? file.slice(0, Math.max(0, file.indexOf('/')));
}

function isOwn({ to }: Import): boolean {
  return /\.tsx?$/.test(to);
}

function isAllowed({ from, to }: Import): boolean {
  const [importer, imported] = [layerOf(from), layerOf(to)];
  const allowed = MAY_IMPORT[importer] ?? [];
  const isCommand = importer === 'cli' && ['commands on the host', 'the screen'].includes(imported);
  const isInterface = STORE_INTERFACE.test(to) && allowed.includes("the store's interface");
  return (
    importer === imported || isCommand || isInterface || allowed.includes(imported) || allowed.includes(to)
  );
}

/** All files that are loaded with this one, without those that are imported dynamically. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  for (const { to, kind } of importsOf(file)) {
    if (kind !== 'static' || seen.has(to)) continue;
    seen.add(to);
    if (/\.tsx?$/.test(to)) loadedWith(to, seen);
  }
  return seen;
}

const architecture = suite('architecture');

architecture('every file belongs to a layer', () => {
  assert.equal(
    sourceFiles().filter((file) => !(layerOf(file) in MAY_IMPORT)),
    [],
  );
});

architecture('a layer imports only what the table of layers allows', () => {
  const forbidden = allImports().filter((one) => isOwn(one) && !isAllowed(one));
  assert.equal(
    forbidden.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

architecture('imports name files that exist', () => {
  const files = new Set(sourceFiles());
  const lost = allImports().filter((one) => isOwn(one) && !files.has(one.to));
  assert.equal(
    lost.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

architecture('the core and the texts do no I/O: they import nothing of Node', () => {
  const impure = allImports().filter(
    ({ from, to }) => ['core', 'text'].includes(layerOf(from)) && isBuiltin(to),
  );
  assert.equal(
    impure.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

architecture('what is loaded later is a file of our own, named in the source', () => {
  // In the bundle, a CommonJS package has no named exports if it is imported dynamically.
  // The loader of the single file loads all of them.
  const unclear = allImports().filter(
    (one) => one.kind === 'dynamic' && !isOwn(one) && one.from !== 'executable.ts',
  );
  assert.equal(
    unclear.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

architecture('the command line starts without the libraries of the daemon', () => {
  const loaded = loadedWith('main.ts');
  assert.ok(loaded.has('cli/program.ts'));
  assert.equal(
    HEAVY.filter((name) => loaded.has(name)),
    [],
  );
  assert.not(loaded.has('daemon/daemon.ts'));
});

architecture('no file imports itself by way of others', () => {
  assert.equal(cyclesAmong(standingImports().map(({ from, to }) => [from, to])), []);
});

architecture('no folder imports itself by way of others, at any depth', () => {
  const own = allImports().filter(isOwn);
  assert.equal(cyclesAmong(own.map(({ from, to }) => partsOf(from, to))), []);
});

architecture('files part ways where their folders do', () => {
  assert.equal(partsOf('cli/exec/job.ts', 'core/alert.ts'), ['cli', 'core']);
  assert.equal(partsOf('cli/exec/job.ts', 'cli/spool/spool.ts'), ['cli/exec', 'cli/spool']);
  assert.equal(partsOf('cli/a/b/one.ts', 'cli/a/two.ts'), ['cli/a/b', 'cli/a/.']);
  assert.equal(partsOf('cli/program.ts', 'cli/a/b/one.ts'), ['cli/.', 'cli/a']);
  assert.equal(partsOf('cli/one.ts', 'cli/two.ts'), ['cli/.', 'cli/.']);
  assert.equal(partsOf('main.ts', 'cli/program.ts'), ['.', 'cli']);
});

architecture('a circle of imports is found, and a path is none', () => {
  const path = [
    ['a', 'b'],
    ['b', 'c'],
    ['a', 'c'],
    ['c', 'c'],
  ] as const;
  assert.equal(cyclesAmong(path), []);
  assert.equal(cyclesAmong([...path, ['c', 'a'], ['d', 'a'], ['e', 'f'], ['f', 'e']]), [
    ['a', 'b', 'c'],
    ['e', 'f'],
  ]);
});

architecture('no function and no file is too long to be read in one sitting', () => {
  const scripts = ['bench', 'build', 'docs', 'packaging'].map((folder) => [
    ...globSync(`../${folder}/**/*.{ts,tsx,mjs}`, { cwd: SRC }),
  ]);
  const files = [...sourceFiles(), ...scripts.flat(), '../build.mjs'];
  const lengths = files.flatMap((file) => lengthsOf(file, join(SRC, file)));
  assert.ok(scripts.every((found) => found.length > 0) && lengths.length > files.length);
  assert.equal(
    lengths.filter(isTooLong).map(({ what, lines }) => `${what}: ${lines} lines`),
    [],
  );
});

architecture('no function is written twice', () => {
  assert.equal(writtenTwice(new Map(sourceFiles().map((file) => [file, join(SRC, file)]))), []);
});

architecture('a transaction remembers different things under different keys', () => {
  const texts = sourceFiles().map((file) => readFileSync(join(SRC, file), 'utf8'));
  const calls = texts.flatMap((text) => [...text.matchAll(/\btx\.remember\((?:`([\w ]+) \$|(\w+Key)\()?/g)]);
  const keys = calls.map(([call, word, key]) => word ?? key ?? call).toSorted();
  assert.ok(keys.length > 5);
  assert.equal(keys, [...new Set(keys)]);
  assert.not.ok(
    keys.includes('tx.remember('),
    'begin a key with a word of its own, or make it by a function …Key',
  );
});

architecture('an hour and a day have a name, and are not written out in milliseconds', () => {
  const written = sourceFiles().filter((file) =>
    /\b(?:3_?600_?000|86_?400_?000)\b/.test(readFileSync(join(SRC, file), 'utf8')),
  );
  assert.equal(written, []);
});

architecture.run();
