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

const hasDpkg = !spawnSync('dpkg-deb', ['--version']).error;

/** A line of a shell that puts the package into `directory`. */
function packageInto(directory: string, ...architecture: string[]): string {
  const options = [directory, '1.2.3', 'none', ...architecture].map((option) => JSON.stringify(option));
  const call = `import("./packaging/build-deb.ts").then(({ buildDeb }) => buildDeb(${options.join(', ')}))`;
  return `node --import tsx -e '${call}'`;
}

const test = suite('a build');

test('is the same in two directories, under two users’ habits', () => {
  const work = mkdtempSync(join(tmpdir(), 'snitch-build-'));
  try {
    const one = build(join(work, 'one'), { TZ: 'UTC', LC_ALL: 'C' }, '022');
    const foreign = isArm64 ? {} : builtForArm64(work);
    const otherHabits = { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' };
    const other = build(join(work, 'deeper/another'), otherHabits, '077', Object.keys(foreign).length > 0);
    assert.ok(['snitch', 'snitch.mjs', 'daemon.mjs', 'better_sqlite3.node'].every((name) => name in one));
    assert.equal(other, sorted({ ...one, ...foreign }));
    const packages = Object.keys(other).filter((name) => name.endsWith('.deb'));
    assert.is(packages.length, hasDpkg ? (isArm64 ? 1 : 2) : 0);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});

/** @returns the digest of each file that the build made */
function build(
  directory: string,
  env: NodeJS.ProcessEnv,
  umask: string,
  isForArm64 = false,
): Record<string, string> {
  const isSource = (path: string) => !/^(?:node_modules|dist|\.git)$/.test(relative(ROOT, path));
  cpSync(ROOT, directory, { recursive: true, filter: isSource });
  // Links cost nothing, where both are on one disk.
  if (spawnSync('cp', ['-al', join(ROOT, 'node_modules'), directory], { stdio: 'ignore' }).status !== 0) {
    rmSync(join(directory, 'node_modules'), { recursive: true, force: true });
    assert.is(spawnSync('cp', ['-a', join(ROOT, 'node_modules'), directory]).status, 0);
  }
  const steps = [`umask ${umask}`, 'node build.mjs --sea', ...(hasDpkg ? [packageInto('dist')] : [])];
  if (isForArm64) {
    steps.push('node build.mjs --sea --arch arm64', ...(hasDpkg ? [packageInto('dist', 'arm64')] : []));
  }
  shell(directory, steps, { HOME: directory, ...env });
  return digestsIn(join(directory, 'dist'));
}

/** The digests of the executable that was built for the tests, and of a package with it. */
function builtForArm64(work: string): Record<string, string> {
  const directory = join(work, 'arm64');
  mkdirSync(directory);
  if (hasDpkg) shell(ROOT, [packageInto(directory, 'arm64')], { HOME: directory });
  return { ...digestsIn(directory), [basename(ARM64_EXECUTABLE)]: digestOf(ARM64_EXECUTABLE) };
}

function shell(directory: string, steps: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, stderr } = spawnSync('sh', ['-c', steps.join(' && ')], {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, SOURCE_DATE_EPOCH: '1700000000', ...env },
  });
  assert.is(status, 0, stderr);
}

function digestsIn(directory: string): Record<string, string> {
  return sorted(
    Object.fromEntries(readdirSync(directory).map((name) => [name, digestOf(join(directory, name))])),
  );
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
