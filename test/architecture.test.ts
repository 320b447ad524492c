import { isBuiltin } from 'node:module';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { allImports, type Import, importsOf, sourceFiles } from './imports.ts';

/** Which layer may import which other layer, or which single file of it. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  text: [],
  api: [],
  libc: [],
  system: [],
  systemd: ['libc'],
  watchdog: [],
  store: ['core', 'libc'],
  sweep: ['core', 'store/store.ts'],
  delivery: ['core', 'store/store.ts'],
  http: ['core', 'api', 'store/store.ts', 'store/ownership.ts'],
  signs: ['api'],
  cli: ['api', 'journal', 'signs', 'system', 'text'],
  tui: ['api', 'signs', 'text'],
  /** The command that opens the dashboard, and loads it only then. */
  'the screen': ['cli', 'api', 'tui'],
  'commands on the host': [
    'cli',
    'api',
    'text',
    'journal',
    'config',
    'logger',
    'daemon',
    'store',
    'demo',
    'systemd',
    'system',
    'signs',
  ],
  demo: ['core', 'store', 'config'],
  journal: [],
  logger: ['core', 'journal'],
  config: ['core', 'logger', 'system'],
  daemon: [
    'core',
    'api',
    'store',
    'sweep',
    'delivery',
    'http',
    'config',
    'logger',
    'systemd',
    'system',
    'watchdog',
  ],
  main: ['cli', 'system'],
  /** Loads the others from inside the single file. */
  executable: [],
};

/** The files at the top of src/, and the commands that work without a server. */
const LAYER_OF_FILE: Record<string, string> = {
  'main.ts': 'main',
  'executable.ts': 'executable',
  'libc.ts': 'libc',
  'daemon.ts': 'daemon',
  'first-start.ts': 'daemon',
  'data-directory.ts': 'daemon',
  'listen.ts': 'daemon',
  'signs-of-life.ts': 'daemon',
  'config.ts': 'config',
  'config-file.ts': 'config',
  'settings.ts': 'config',
  'secrets.ts': 'config',
  'default-directory.ts': 'config',
  'exposed-secrets.ts': 'config',
  'logger.ts': 'logger',
  'journal.ts': 'journal',
  'signs.ts': 'signs',
  'cli/dashboard.ts': 'the screen',
  'cli/serve.ts': 'commands on the host',
  'cli/config.ts': 'commands on the host',
  'cli/doctor.ts': 'commands on the host',
  'cli/doctor-mail.ts': 'commands on the host',
  'cli/backup.ts': 'commands on the host',
  'cli/restore.ts': 'commands on the host',
};

/** What a command that only talks to the daemon must not wait for. */
const HEAVY = ['better-sqlite3', 'fastify', 'nodemailer', 'pino', 'undici', 'yaml', 'zod'];

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
  return importer === imported || isCommand || allowed.includes(imported) || allowed.includes(to);
}

/** All that is loaded when this file is, without what it asks for later. */
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
  // The bundle gives a CommonJS package that is imported dynamically no named exports.
  // The single file's loader is what all of them are loaded by.
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
  assert.not(loaded.has('daemon.ts'));
});

architecture.run();
