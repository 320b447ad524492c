/** What a person reads who gave the daemon a place that it cannot write to. */
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { adviceForOwner, adviceForWriting } from '../../src/system/writing.ts';
import { ownDirectory } from '../data-directory.ts';
import { unless, withoutRoot } from '../skipped.ts';
import { mountTmpfs, withoutMounts } from '../store/sqlite/mounts.ts';

const test = suite('a place that cannot be written to');

const HERE = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

test('the numbers of both users are named, and the command that makes them agree', () => {
  using directory = ownDirectory();
  chmodSync(directory.path, 0o755);
  const other = { uid: HERE.uid + 1, gid: HERE.gid + 1 };
  const owner = `${other.uid}:${other.gid}`;
  const onHost = adviceForOwner(directory.path, { ...other, inContainer: false });
  assert.match(onHost, `the daemon is user ${other.uid} (group ${other.gid})`);
  assert.match(onHost, `belongs to user ${HERE.uid} (group ${HERE.gid}) with the mode 0755`);
  assert.match(onHost, `\`chown -R ${owner} ${directory.path}\` as root`);
  const inContainer = adviceForOwner(directory.path, { ...other, inContainer: true });
  assert.match(inContainer, `on the host, \`chown -R ${owner}\` the directory that is mounted there`);
  assert.match(inContainer, `podman unshare chown -R ${owner}`);
  assert.match(inContainer, `fsGroup: ${other.gid}`);
});

unless(withoutRoot(), test)('a container can as well run as the owner, unless that is root', () => {
  using directory = ownDirectory();
  const container = { uid: 65_534, gid: 65_534, inContainer: true };
  assert.not.match(adviceForOwner(directory.path, container), '--user');
  chownSync(directory.path, 1000, 1001);
  assert.match(adviceForOwner(directory.path, container), 'or run the container with --user 1000:1001');
});

test('its owner is told of a mode that forbids it, and otherwise of what else may', () => {
  using directory = ownDirectory();
  const container = { ...HERE, inContainer: true };
  chmodSync(directory.path, 0o500);
  assert.match(adviceForOwner(directory.path, container), 'mode 0500: let its owner write');
  chmodSync(directory.path, 0o700);
  assert.match(adviceForOwner(directory.path, container), 'with SELinux mount it with :Z');
  assert.not.match(adviceForOwner(directory.path, { ...HERE, inContainer: false }), ':Z');
});

unless(withoutMounts(), test)('what can only be read is called that, in a container and outside', () => {
  const mount = mountTmpfs('size=1m');
  assert.ok(mount, 'a tmpfs can be mounted');
  try {
    const place = join(mount.path, 'data');
    mkdirSync(place);
    mount.remount('ro');
    for (const path of [join(place, 'snitch.lock'), join(place, 'not/there/yet')]) {
      const inContainer = adviceForWriting(path, { ...HERE, inContainer: true });
      assert.is(inContainer, `${place} can only be read: mount a volume there, and without :ro`);
      assert.match(adviceForWriting(path, { ...HERE, inContainer: false }), 'ReadWritePaths=');
    }
  } finally {
    mount.remove();
  }
});

unless(withoutMounts(), test)(
  'a file system without room is called that, also if it has room for no more files',
  () => {
    const mount = mountTmpfs('size=1m,nr_inodes=4');
    assert.ok(mount, 'a tmpfs can be mounted');
    try {
      const path = join(mount.path, 'data/snitch.db');
      mkdirSync(join(mount.path, 'data'));
      for (const name of ['one', 'two']) writeFileSync(join(mount.path, name), '');
      assert.match(adviceForWriting(path), 'has room for no more files: look at `df -i`');
      rmSync(join(mount.path, 'one'));
      assert.not.match(adviceForWriting(path), 'df -i');
      writeFileSync(join(mount.path, 'two'), Buffer.alloc(2 ** 20));
      assert.match(adviceForWriting(path), 'is full: make room on it');
    } finally {
      mount.remove();
    }
  },
);

test('where nothing forbids it, nothing is made up', () => {
  using directory = ownDirectory();
  const advice = adviceForWriting(join(directory.path, 'file'), { ...HERE, inContainer: false });
  assert.is(advice, 'check the owner, the mode and the free space of its directory');
});

test.run();
