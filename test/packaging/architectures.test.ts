/** Which executable `--arch` builds, on which host, and with which Node. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ARCHITECTURES,
  architectureOfHost,
  executableName,
  executablesWanted,
} from '../../build/architecture.ts';

const ROOT = join(import.meta.dirname, '../..');

const test = suite('the architecture of a build');

test('is that of the host unless another one is named', () => {
  for (const host of ['x64', 'arm64']) {
    assert.equal(executablesWanted(['--sea'], host), [host]);
    assert.equal(executablesWanted(['--sea', '--arch', 'arm64'], host), ['arm64']);
    assert.equal(executablesWanted(['--sea', '--arch', 'x64'], host), ['x64']);
    assert.is(architectureOfHost(host), host);
  }
  assert.equal(executablesWanted([], 'riscv64'), [], 'the bundle runs wherever Node does');
});

test('can be named as Debian and the kernel do', () => {
  for (const [name, wanted] of [
    ['amd64', 'x64'],
    ['x86_64', 'x64'],
    ['aarch64', 'arm64'],
  ] as const)
    assert.equal(executablesWanted(['--sea', `--arch=${name}`], 'x64'), [wanted]);
});

test('can be several, built one after the other from one bundle', () => {
  const both = ['--sea', '--arch', 'arm64', '--arch', 'x64'];
  assert.equal(executablesWanted(both, 'x64'), ['arm64', 'x64']);
});

test('an executable for another one does not replace that of the host', () => {
  const other = process.arch === 'arm64' ? 'x64' : 'arm64';
  assert.is(executableName(other), `snitch-${other}`);
  assert.is(executableName(architectureOfHost()), 'snitch');
});

test('an unknown one is refused with the list of known ones before anything is built', () => {
  const refused = (args: string[], host = 'x64') => {
    try {
      executablesWanted(args, host);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  assert.match(refused(['--sea', '--arch', 'riscv64']), '--arch riscv64: there is no executable');
  assert.match(refused(['--sea', '--arch', 'riscv64']), 'only for x64 or arm64');
  assert.match(refused(['--sea', '--arch', '']), 'only for x64 or arm64');
  assert.match(refused(['--sea'], 'riscv64'), 'of this host, riscv64; build one for another with --arch x64');
  assert.match(refused(['--arch', 'arm64']), 'npm run build:sea');
  assert.match(refused(['--sea', '--arch']), 'argument missing');
  assert.match(refused(['--sae']), 'Unknown option');
  for (const script of [
    ['build.mjs', '--sea', '--arch', 'mips'],
    ['--import', 'tsx', 'packaging/build-deb.ts', '--arch', 'mips'],
  ]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, script, { cwd: ROOT, encoding: 'utf8' });
    assert.is(status, 2, stderr);
    assert.is(stdout, '');
    assert.is(stderr, '--arch mips: there is no executable for that architecture, only for x64 or arm64\n');
  }
});

test('each has its Node pinned, in the version that the project runs on', () => {
  const { devDependencies } = read('package.json') as { devDependencies: Record<string, string> };
  for (const name of Object.keys(ARCHITECTURES)) {
    const directory = `build/node/${name}`;
    const { dependencies } = read(`${directory}/package.json`) as { dependencies: Record<string, string> };
    assert.equal(dependencies, { [`node-linux-${name}`]: devDependencies.node }, directory);
    const { packages } = read(`${directory}/package-lock.json`) as {
      packages: Record<string, { version?: string; integrity?: string }>;
    };
    const { version, integrity } = packages[`node_modules/node-linux-${name}`] ?? {};
    assert.is(version, devDependencies.node);
    assert.match(integrity ?? '', /^sha512-[\w+/]{86}==$/);
  }
});

function read(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

test.run();
