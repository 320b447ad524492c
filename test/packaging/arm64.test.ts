/**
 * The executable and the package for arm64, built on a host of another architecture. The main job's end-to-end test runs it
 * in an empty root; here it runs among the files of the host.
 * Time limit: 240 s.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { misplacedParts } from '../../build/page-size.ts';
import { buildDeb } from '../../packaging/build-deb.ts';
import type { WireSnitch } from '../../src/api/wire.ts';
import { ownDirectory } from '../data-directory.ts';
import { ARM64_EXECUTABLE, isArm64, onThisHost, withoutArm64 } from '../end-to-end/arm64-root.ts';
import { startProcess } from '../end-to-end/daemon-process.ts';
import { runUnless, without, withoutRoot } from '../skipped.ts';
import { openNotifySocket } from '../system/raw-sockets.ts';
import { assertContent } from './deb-content.ts';
import { makeScratchRoot } from './scratch-root.ts';

const ROOT = join(import.meta.dirname, '../..');

const test = suite('the executable for arm64');

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { program, env: own } = onThisHost();
  const [command = '', ...rest] = program;
  return spawnSync(command, [...rest, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 27,
    env: { PATH: process.env.PATH, ...own, ...env },
  });
}

test('has the version of the package, and the licences of its parts', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  assert.is(run(['--version']).stdout, `snitch ${version}\n`);
  const { stdout } = run(['version', '--licenses']);
  assert.is(stdout, readFileSync(join(ROOT, 'dist/licenses.txt'), 'utf8'));
  assert.match(stdout, `Node.js ${process.versions.node} and its parts`);
});

test('runs on kernels with pages of 4, 16 and 64 KB', () => {
  assert.equal(misplacedParts(ARM64_EXECUTABLE), []);
  // The same again, as another program reads the file.
  const table = execFileSync('readelf', ['-lW', ARM64_EXECUTABLE], { encoding: 'utf8' });
  const parts = [...table.matchAll(/^ +LOAD +(0x\S+) +(0x\S+) +\S+ +\S+ +(0x\S+)/gm)].map(([, ...numbers]) =>
    numbers.map(Number),
  ) as [number, number, number][];
  assert.ok(parts.length >= 5, 'Node’s own parts, and what was added');
  for (const page of [4096, 16_384, 65_536]) {
    let end = 0;
    for (const [offset, address, length] of parts) {
      assert.is(offset % page, address % page);
      assert.ok(Math.floor(address / page) >= Math.ceil(end / page), `0x${address.toString(16)} at ${page}`);
      end = address + length;
    }
  }
});

test('reaches the C library, and reads the data of a host of another architecture', async () => {
  using directory = ownDirectory();
  const [dataDir, runtime] = [join(directory.path, 'data'), join(directory.path, 'runtime')];
  for (const path of [dataDir, runtime]) mkdirSync(path, { mode: 0o700 });
  {
    await using before = await startProcess({ dataDir });
    const answer = await before.call('POST', '/v1/snitches', { name: 'nightly', interval: 'daily' });
    assert.is(answer.status, 200);
    assert.is(await before.end(), 0);
  }
  using manager = openNotifySocket(join(directory.path, 'notify'));
  const { program, env } = onThisHost();
  await using daemon = await startProcess({
    program,
    dataDir,
    env: {
      ...env,
      RUNTIME_DIRECTORY: runtime,
      TMPDIR: runtime,
      NOTIFY_SOCKET: join(directory.path, 'notify'),
    },
  });
  await manager.until('READY=1');
  const snitches = (await (await daemon.call('GET', '/v1/snitches')).json()) as WireSnitch[];
  assert.equal(
    snitches.map(({ name }) => name),
    ['nightly'],
  );
  assert.is(await daemon.end(), 0);
  await manager.until('STOPPING=1');
  assert.equal(readdirSync(runtime), [], 'SQLite was loaded from memory');
});

/** On an arm64 host this is the package that deb.test.ts tests. */
const foreign = isArm64 ? () => undefined : test;

foreign('is in a package of its architecture, which is otherwise the same', () => {
  using directory = ownDirectory();
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const own = buildDeb(directory.path, version, 'none');
  const deb = buildDeb(directory.path, version, 'none', 'arm64');
  assertContent(deb, { executable: ARM64_EXECUTABLE, architecture: 'arm64' });
  const control = (of: string) => execFileSync('dpkg-deb', ['-f', of], { encoding: 'utf8' });
  const fields = (of: string) => control(of).replace(/^(?:Architecture|Installed-Size): .*\n/gm, '');
  assert.is(fields(deb), fields(own));
  const changed = digestsIn(own).filter((line) => !digestsIn(deb).includes(line));
  assert.equal(
    changed.map((line) => line.split('  ')[1]),
    ['usr/bin/snitch'],
  );
  const root = makeScratchRoot([]);
  try {
    assert.throws(() => root.dpkg('--install', deb), /package architecture \(arm64\) does not match system/);
  } finally {
    rmSync(root.path, { recursive: true, force: true });
  }
});

/** The lines of the package's own list of its files. */
function digestsIn(deb: string): string[] {
  return execFileSync('dpkg-deb', ['-I', deb, 'md5sums'], { encoding: 'utf8' }).trim().split('\n');
}

runUnless(withoutArm64() ?? without('dpkg-deb') ?? withoutRoot(), test, 'the executable for arm64');
