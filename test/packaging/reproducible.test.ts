/**
 * The same source makes the same files, byte for byte, wherever and by whomever it is built.
 * Time limit: 180 s.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceDate } from '../../packaging/source-date.ts';
import { ARM64_EXECUTABLE, isArm64 } from '../end-to-end/arm64-root.ts';
import { unless, without } from '../skipped.ts';

const ROOT = join(import.meta.dirname, '../..');

const DIST = join(ROOT, 'dist');

const hasDpkg = !spawnSync('dpkg-deb', ['--version']).error;

const ARCHITECTURES = [...new Set([process.arch, 'arm64'])];

/** The line of a shell that puts the package for each architecture into `directory`. */
function packagesInto(directory: string): string[] {
  if (!hasDpkg) return [];
  const calls = ARCHITECTURES.map((architecture) => {
    const options = [directory, '1.2.3', 'none', architecture].map((option) => JSON.stringify(option));
    return `buildDeb(${options.join(', ')})`;
  });
  return [
    `node --import tsx -e 'import("./packaging/build-deb.ts").then(({ buildDeb }) => { ${calls.join('; ')} })'`,
  ];
}

const test = suite('a build');

test('is the same in two directories, with the settings of two users', () => {
  const work = mkdtempSync(join(tmpdir(), 'snitch-build-'));
  try {
    const other = build(join(work, 'deeper/another'), { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' }, '077');
    const expected = [
      'snitch',
      'snitch.mjs',
      'daemon.mjs',
      'better_sqlite3.node',
      basename(ARM64_EXECUTABLE),
    ];
    assert.ok(expected.every((name) => name in other));
    assert.equal(other, builtForTests(join(work, 'one'), { TZ: 'UTC', LC_ALL: 'C' }, '022'));
    const packages = Object.keys(other).filter((name) => name.endsWith('.deb'));
    assert.is(packages.length, hasDpkg ? (isArm64 ? 1 : 2) : 0);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});

/** @returns the digest of each file that the build made */
function build(directory: string, env: NodeJS.ProcessEnv, umask: string): Record<string, string> {
  const isSource = (path: string) => !/^(?:node_modules|dist|\.git)$/.test(relative(ROOT, path));
  cpSync(ROOT, directory, { recursive: true, filter: isSource });
  // Links cost nothing if both are on one disk.
  if (spawnSync('cp', ['-al', join(ROOT, 'node_modules'), directory], { stdio: 'ignore' }).status !== 0) {
    rmSync(join(directory, 'node_modules'), { recursive: true, force: true });
    assert.is(spawnSync('cp', ['-a', join(ROOT, 'node_modules'), directory]).status, 0);
  }
  const built = `node build.mjs --sea ${ARCHITECTURES.map((architecture) => `--arch ${architecture}`).join(' ')}`;
  shell(directory, [`umask ${umask}`, built, ...packagesInto('dist')], { HOME: directory, ...env });
  return digestsIn(join(directory, 'dist'));
}

/** The digests of what was built before the tests began (at another time, with the settings of whoever runs them), and of packages made from it. */
function builtForTests(directory: string, env: NodeJS.ProcessEnv, umask: string): Record<string, string> {
  mkdirSync(directory);
  shell(ROOT, [`umask ${umask}`, ...packagesInto(directory)], { HOME: directory, ...env });
  // Packages and images that somebody else has built there have nothing to do with it.
  const isOfBuild = (name: string) => !/\.deb$|^container$/.test(name);
  return sorted({ ...digestsIn(DIST, isOfBuild), ...digestsIn(directory) });
}

function shell(directory: string, steps: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, stderr } = spawnSync('sh', ['-c', steps.join(' && ')], {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, SOURCE_DATE_EPOCH: '1700000000', ...env },
  });
  assert.is(status, 0, stderr);
}

function digestsIn(
  directory: string,
  isMeant: (name: string) => boolean = () => true,
): Record<string, string> {
  const names = readdirSync(directory).filter(isMeant);
  return sorted(Object.fromEntries(names.map((name) => [name, digestOf(join(directory, name))])));
}

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function sorted(digests: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(digests).sort());
}

unless(without('git'), test)(
  'takes its time from the variable, else from the last commit, else it is a fixed one',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'snitch-date-'));
    const inside = join(directory, 'inside');
    const git = (...args: string[]) => {
      const { status, stderr } = spawnSync(
        'git',
        ['-C', directory, '-c', 'user.name=x', '-c', 'user.email=x', ...args],
        {
          encoding: 'utf8',
          env: { PATH: process.env.PATH, HOME: directory, GIT_COMMITTER_DATE: '1600000000 +0000' },
        },
      );
      assert.is(status, 0, stderr);
    };
    try {
      const { PATH } = process.env;
      const fixed = sourceDate(directory, { PATH });
      assert.is(sourceDate(directory, { PATH }), fixed);
      assert.is(sourceDate(directory, { PATH, SOURCE_DATE_EPOCH: '12' }), 12);
      assert.throws(() => sourceDate(directory, { PATH, SOURCE_DATE_EPOCH: 'now' }), /whole seconds/);
      git('init', '-q');
      mkdirSync(inside);
      writeFileSync(join(inside, 'file'), '');
      git('add', '.');
      git('commit', '-q', '-m', 'x');
      assert.is(sourceDate(directory, { PATH }), 1_600_000_000);
      assert.is(sourceDate(inside, { PATH }), fixed, 'the repository around it is another project');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

test.run();
