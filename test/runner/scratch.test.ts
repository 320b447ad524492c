import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runUnless } from '../skipped.ts';
import { type Mount, mountTmpfs, withoutMounts } from '../store/sqlite/mounts.ts';
import { scratchIn } from './scratch.ts';

const test = suite('a directory in memory');

const MUCH = 2 ** 40;

/** A file system in memory, which is removed at the end of the block. */
function memory(size: string): Mount & Disposable {
  const mount = mountTmpfs(`size=${size}`);
  assert.ok(mount, 'a tmpfs can be mounted');
  return Object.assign(mount, { [Symbol.dispose]: () => mount.remove() });
}

test('what tests write goes with the directory, and other users may write there too', () => {
  using place = memory('4g');
  {
    using scratch = scratchIn(place.path, MUCH);
    assert.ok(scratch);
    assert.is(statSync(scratch.path).mode & 0o7777, 0o1777);
    mkdirSync(join(scratch.path, 'left'));
    writeFileSync(join(scratch.path, 'left', 'file'), 'x');
  }
  assert.equal(readdirSync(place.path), []);
});

test('without room, and on a disk, there is none', () => {
  using small = memory('64m');
  assert.is(scratchIn(small.path, MUCH), null);
  using large = memory('4g');
  assert.is(scratchIn(large.path, 1 << 30), null);
  assert.is(scratchIn('/proc', MUCH), null);
  assert.is(scratchIn('/nonexistent', MUCH), null);
});

test('where nothing may be written there is none', () => {
  using place = memory('4g');
  place.remount('ro');
  assert.is(scratchIn(place.path, MUCH), null);
});

test('where no program may be run there is none, and nothing is left', () => {
  using place = memory('4g,noexec');
  assert.is(scratchIn(place.path, MUCH), null);
  assert.equal(readdirSync(place.path), []);
});

test('what a killed run has left is removed, but nothing of a run that goes on, or of anyone else', () => {
  using place = memory('4g');
  const { pid } = spawnSync('true');
  const [dead, living, other] = [`snitch-${pid}-abcdef`, `snitch-${process.pid}-abcdef`, 'snitch-data'];
  for (const name of [dead, living, other]) mkdirSync(join(place.path, name));
  using scratch = scratchIn(place.path, MUCH);
  assert.ok(scratch);
  assert.is(existsSync(join(place.path, dead)), false);
  assert.ok(existsSync(join(place.path, living)) && existsSync(join(place.path, other)));
});

test('what cannot be removed is said, and ends nothing', () => {
  using place = memory('4g');
  const scratch = scratchIn(place.path, MUCH);
  assert.ok(scratch);
  const busy = join(scratch.path, 'busy');
  mkdirSync(busy);
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', busy]);
  try {
    scratch[Symbol.dispose]();
    assert.ok(existsSync(busy));
  } finally {
    execFileSync('umount', [busy]);
  }
});

runUnless(withoutMounts(), test, 'a directory in memory');
