/** Directories are made for their owner alone, and never waited for. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makePrivateDirectory } from '../../src/system/directory.ts';

const test = suite('directories');

test('all that is missing is made, for the owner alone; what is there is left', () => {
  const root = mkdtempSync(join(tmpdir(), 'snitch-directory-'));
  try {
    const path = join(root, 'a/b/c');
    makePrivateDirectory(path);
    makePrivateDirectory(path);
    for (const made of ['a', 'a/b', 'a/b/c']) assert.is(statSync(join(root, made)).mode & 0o777, 0o700);
    writeFileSync(join(root, 'file'), '');
    assert.throws(() => makePrivateDirectory(join(root, 'file')), /EEXIST/);
    assert.throws(() => makePrivateDirectory(join(root, 'file/below')), /ENOTDIR.*below'/);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('a file system that takes no directory is an error, and not waited for', () => {
  assert.throws(() => makePrivateDirectory('/proc/snitch/data'), /ENOENT|EACCES|EPERM/);
});

test.run();
