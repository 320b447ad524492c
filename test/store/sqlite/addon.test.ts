/** SQLite's addon is loaded from any place that this host allows, and leaves nothing behind. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AddonUnusable, loadAddon, openFile } from '../../../src/store/sqlite/addon.ts';
import { temporaryDirectory } from '../fixture.ts';

const test = suite<{ dir: string }>("SQLite's addon");

test.before.each((context) => {
  context.dir = temporaryDirectory();
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

/** The path of the package's addon for this platform; empty if there is none. */
function packagedAddon(): string {
  const require = createRequire(import.meta.url);
  const lib = join(dirname(require.resolve('better-sqlite3/package.json')), 'lib/binding.js');
  const { getPrebuildPath } = require(lib) as { getPrebuildPath: () => string | null };
  return getPrebuildPath() ?? '';
}

test('if it can be loaded from nowhere, the error names each place with its fault, and each is left empty', ({
  dir,
}) => {
  const place = (name: string) => {
    mkdirSync(join(dir, name));
    return join(dir, name);
  };
  const places = ['runtime', 'state', 'user', 'data', 'home'].map(place);
  const [runtime, state, user, data, home] = places;
  const second = place('second');
  const environment = {
    RUNTIME_DIRECTORY: `${runtime}:${second}`,
    STATE_DIRECTORY: `${state}:${second}`,
    XDG_RUNTIME_DIR: user,
    SNITCH_DATA_DIR: data,
    HOME: home,
  };
  const refusalOf = (env: NodeJS.ProcessEnv): string => {
    try {
      loadAddon(Buffer.from('no addon at all'), env);
    } catch (error) {
      assert.instance(error, AddonUnusable);
      return (error as Error).message;
    }
    throw new Error('it was loaded');
  };
  const message = refusalOf(environment);
  assert.match(message, 'give a directory that may hold programs (no noexec) in TMPDIR');
  const [, tried = ''] = message.split('Tried: ');
  assert.match(tried, /^\/proc\/self\/fd\/\d+: /, 'memory first');
  const found = places.map((one) => tried.indexOf(`${one}/snitch-`));
  assert.ok(
    found.every((at) => at > 0),
    tried,
  );
  assert.equal(
    found,
    [...found].sort((a, b) => a - b),
  );
  assert.not.match(tried, second);
  for (const one of [...places, second]) assert.equal(readdirSync(one), []);
  const least = refusalOf({ HOME: '' }).split('; ');
  assert.is(least.length, 2, 'memory, and the directory for everybody');
});

// Last, because the loader knows by the name of a file whether it has loaded it.
test('on a host whose libraries are too old, it says so, and gives no advice on directories', () => {
  const addon = readFileSync(packagedAddon()).toString('latin1');
  for (const [needed, future, library] of [
    ['GLIBC_2.34\0', 'GLIBC_9.99\0', 'glibc 2.34'],
    ['GLIBCXX_3.4.29\0', 'GLIBCXX_9.9.99\0', 'the libstdc++ of GCC 11'],
  ] as const) {
    const newer = addon.replace(needed, future);
    assert.is.not(newer, addon);
    const message = refusal(Buffer.from(newer, 'latin1'));
    assert.match(message, `too old: Snitch needs ${library}`);
    assert.match(message, `version \`${future.slice(0, -1)}' not found`);
    assert.not.match(message, 'TMPDIR');
  }
});

function refusal(content: Uint8Array): string {
  try {
    loadAddon(content, {});
  } catch (error) {
    assert.instance(error, AddonUnusable);
    return (error as Error).message;
  }
  return '';
}

test('the addon as a program has it in itself opens databases', () => {
  const { addon } = loadAddon(readFileSync(packagedAddon()), {});
  const db = new Database(':memory:', { nativeBinding: addon as unknown as string });
  try {
    assert.is(db.prepare('SELECT 1 + 1').pluck().get(), 2);
  } finally {
    db.close();
  }
});

test('outside of the executable the library finds its own addon', ({ dir }) => {
  const db = openFile(join(dir, 'some.db'));
  try {
    assert.is(db.prepare('SELECT 3').pluck().get(), 3);
  } finally {
    db.close();
  }
  assert.throws(() => openFile(join(dir, 'none.db'), { fileMustExist: true }), /unable to open/);
});

test.run();
