/**
 * What the executables need of the host's libraries, for each architecture: no more than the package depends on and the
 * documents say.
 * Time limit: 120 s.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ARCHITECTURES, type Architecture } from '../../build/architecture.ts';
import { DEPENDS } from '../../packaging/build-deb.ts';
import { ARM64_EXECUTABLE } from '../end-to-end/arm64-root.ts';
import { EXECUTABLE } from '../end-to-end/empty-root.ts';
import { unless, without } from '../skipped.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The packages of Debian that bring each library. */
const PACKAGES: Record<string, RegExp> = {
  'libc6 ': /^(?:ld-linux-(?:x86-64|aarch64)|libc|libm|libdl|libpthread)\.so\.\d$/,
  'libstdc++6 ': /^libstdc\+\+\.so\.6$/,
  'libgcc-s1': /^libgcc_s\.so\.1$/,
  libatomic1: /^libatomic\.so\.1$/,
};

/** The versions in the first release of that GCC: the libstdc++ of Debian 12 and Ubuntu 24.04 is newer. */
const OF_GCC: Record<string, { GLIBCXX: string; CXXABI: string }> = {
  11: { GLIBCXX: '3.4.29', CXXABI: '1.3.13' },
};

const MACHINES: Record<Architecture, string> = { x64: 'Advanced Micro Devices X86-64', arm64: 'AArch64' };

const test = suite('the libraries of the executable');

function readelf(option: string, file: string): string {
  const { PATH } = process.env;
  return execFileSync('readelf', ['-W', option, file], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { PATH, LC_ALL: 'C' },
  });
}

/** The executable and the addon inside it. */
function programsFor(architecture: Architecture): string[] {
  const executables: Partial<Record<string, string>> = {
    arm64: ARM64_EXECUTABLE,
    [process.arch]: EXECUTABLE,
  };
  const executable = executables[architecture];
  const addon = join(ROOT, 'node_modules/better-sqlite3/prebuilds', `linux-${architecture}.node`);
  return executable === undefined ? [addon] : [executable, addon];
}

/** The highest version of the symbols of a library: `GLIBC_2.34`. */
function highest(files: readonly string[], library: string): string {
  const versions = files.flatMap((file) => [
    ...readelf('--version-info', file).matchAll(new RegExp(`Name: ${library}_([\\d.]+)`, 'g')),
  ]);
  return versions
    .map(([, version = '']) => version)
    .reduce((one, other) => (isAbove(one, other) ? one : other), '0');
}

function isAbove(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) > 0;
}

function neededVersion(name: string): string {
  return (
    DEPENDS.split(', ')
      .find((one) => one.startsWith(name))
      ?.match(/>= ([\d.]+)/)?.[1] ?? ''
  );
}

const withTool = unless(without('readelf'), test);

for (const architecture of Object.keys(ARCHITECTURES) as Architecture[]) {
  withTool(`are those that the package depends on: ${architecture}`, () => {
    for (const file of programsFor(architecture)) {
      assert.match(readelf('--file-header', file), MACHINES[architecture], file);
      const needed = [...readelf('--dynamic', file).matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(
        ([, name = '']) => name,
      );
      assert.ok(needed.length > 0, file);
      for (const library of needed) {
        const from = Object.keys(PACKAGES).find((name) => PACKAGES[name]?.test(library));
        assert.ok(from && DEPENDS.includes(from), `${file} wants ${library}`);
      }
    }
  });

  withTool(`are old enough: ${architecture}`, () => {
    const files = programsFor(architecture);
    assert.is(
      highest(files, 'GLIBC'),
      neededVersion('libc6'),
      'the package asks for what is needed, and no more',
    );
    const { GLIBCXX = '', CXXABI = '' } = OF_GCC[neededVersion('libstdc++6')] ?? {};
    assert.not(isAbove(highest(files, 'GLIBCXX'), GLIBCXX), highest(files, 'GLIBCXX'));
    assert.not(isAbove(highest(files, 'CXXABI'), CXXABI), highest(files, 'CXXABI'));
  });
}

test('are told in the documents, and where SQLite cannot be loaded', () => {
  for (const page of ['README.md', 'docs/install.md', 'src/store/sqlite/addon.ts'])
    assert.match(readFileSync(join(ROOT, page), 'utf8'), `glibc ${neededVersion('libc6')}`, page);
});

test.run();
