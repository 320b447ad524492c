/**
 * The Debian package: installed, upgraded, removed and purged by dpkg.
 * Time limit: 240 s.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildDeb } from '../../packaging/build-deb.ts';
import type { WireSnitch } from '../../src/api/wire.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { EXECUTABLE, librariesOf } from '../end-to-end/empty-root.ts';
import { runUnless, unless } from '../skipped.ts';
import { withoutMounts } from '../store/sqlite/mounts.ts';
import { assertContent, ownArchitecture } from './deb-content.ts';
import { fieldOf, makeScratchRoot, type ScratchRoot } from './scratch-root.ts';

const ROOT = join(import.meta.dirname, '../..');
const CONFIG = 'etc/snitch/config.yaml';
const NEXT = '99.0.0';

interface Context {
  directory: string;
  deb: string;
  next: string;
  root: ScratchRoot;
}

const test = suite<Context>('the Debian package');

const missing =
  spawnSync('dpkg-deb', ['--version']).error || process.getuid?.() !== 0
    ? 'dpkg-deb or root is missing'
    : null;

if (missing === null) {
  test.before((context) => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    context.directory = mkdtempSync(join(tmpdir(), 'snitch-deb-'));
    context.deb = buildDeb(context.directory, version, 'none');
    context.next = buildDeb(context.directory, NEXT, 'none');
    context.root = makeScratchRoot(librariesOf(EXECUTABLE));
  });

  test.after(({ directory, root }) => {
    rmSync(directory, { recursive: true, force: true });
    rmSync(root.path, { recursive: true, force: true });
  });

  test('names its dependencies, and contains what a package of a service should', ({ deb }) => {
    assertContent(deb, { executable: EXECUTABLE, architecture: ownArchitecture() });
  });

  test('installs, upgrades with its data and its configuration, is removed, and is purged', async (context) => {
    const { root, deb, next } = context;
    root.dpkg('--install', deb);
    assert.match(root.dpkg('--status', 'snitch'), `/${CONFIG} `);
    const token = await withDaemon(root, async (daemon) => {
      const answer = await daemon.call('POST', '/v1/snitches', { name: 'nightly', interval: 'daily' });
      return ((await answer.json()) as WireSnitch).token;
    });
    appendFileSync(join(root.path, CONFIG), '\nlog:\n  level: debug\n');

    root.dpkg('--install', next);
    assert.match(root.dpkg('--status', 'snitch'), `Version: ${NEXT}`);
    assert.match(readFileSync(join(root.path, CONFIG), 'utf8'), 'level: debug');
    await withDaemon(root, async (daemon) => {
      assert.is((await daemon.call('GET', `/v1/snitches/${token}`)).status, 200);
    });

    root.dpkg('--remove', 'snitch');
    assert.not(existsSync(join(root.path, 'usr/bin/snitch')));
    assert.not(existsSync(join(root.path, 'usr/lib/systemd/system/snitch.service')));
    assert.ok(existsSync(join(root.path, CONFIG)));
    assert.ok(existsSync(join(root.path, 'var/lib/snitch/snitch.db')));

    root.dpkg('--purge', 'snitch');
    for (const path of ['etc/snitch', 'var/lib/snitch', 'var/lib/private/snitch'])
      assert.not(existsSync(join(root.path, path)), path);
  });

  test('after it was removed it installs again, and finds the data', async ({ root, deb }) => {
    root.dpkg('--install', deb);
    const key = await withDaemon(root, async (daemon) => daemon.apiKey);
    root.dpkg('--remove', 'snitch');
    root.dpkg('--install', deb);
    assert.is(await withDaemon(root, async (daemon) => daemon.apiKey), key);
    root.dpkg('--purge', 'snitch');
  });

  test('its removal names the jobs that will not run without it', async ({ root, deb }) => {
    const crontab = join(root.path, 'etc/crontab');
    const lines = ['# 0 3 * * * root snitch exec T -- x', '0 4 * * * root curl http://127.0.0.1:7676/c/T'];
    for (const wrapped of [false, true]) {
      root.dpkg('--install', deb);
      if (wrapped) lines.push('0 3 * * * root /usr/bin/snitch exec T -- /usr/local/bin/backup');
      writeFileSync(crontab, `${lines.join('\n')}\n`);
      assert.not.match(root.dpkg('--install', deb), 'snitch exec');
      const said = root.dpkg('--remove', 'snitch');
      if (wrapped)
        assert.match(
          said,
          'snitch: jobs in /etc/crontab begin with `snitch exec`, and will not run any more',
        );
      else assert.not.match(said, 'snitch exec');
    }
    rmSync(crontab);
    root.dpkg('--purge', 'snitch');
  });

  test('has a changelog in Debian’s form, and checksums of its files', ({ root, deb }) => {
    root.dpkg('--install', deb);
    try {
      const changes = gunzipSync(
        readFileSync(join(root.path, 'usr/share/doc/snitch/changelog.gz')),
      ).toString();
      assert.match(changes, /^snitch \(\d+\.\d+\.\d+\) unstable; urgency=medium\n\n {2}\* \S/);
      assert.match(changes, /\n\n -- the Snitch authors <\S+> {2}\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000\n$/);
      for (const line of changes.split('\n')) assert.ok(line.length <= 80, line);
      const told = spawnSync('dpkg-parsechangelog', ['-l', '-', '-S', 'Version'], { input: changes });
      if (!told.error) assert.match(told.stdout.toString(), fieldOf(deb, 'Version'));
      assert.is(root.dpkg('--verify', 'snitch'), '');
      appendFileSync(join(root.path, 'usr/share/doc/snitch/copyright'), 'x');
      assert.match(root.dpkg('--verify', 'snitch'), /^\?\?5.* \/usr\/share\/doc\/snitch\/copyright$/m);
    } finally {
      root.dpkg('--purge', 'snitch');
    }
  });

  test('the credentials directory does not belong to the package: it is created, and never removed', (context) => {
    const { root, deb, directory } = context;
    const credstore = join(root.path, 'etc/credstore');
    const before = join(directory, 'before');
    mkdirSync(join(before, 'etc/credstore'), { recursive: true });
    mkdirSync(join(before, 'DEBIAN'));
    const fields = [
      'Package: snitch',
      'Version: 0.0.1',
      'Architecture: all',
      'Maintainer: x <x@example.com>',
    ];
    writeFileSync(join(before, 'DEBIAN/control'), `${fields.join('\n')}\nDescription: x\n`);
    execFileSync('dpkg-deb', ['--build', before, join(directory, 'before.deb')], { stdio: 'ignore' });
    rmSync(credstore, { recursive: true, force: true });
    root.dpkg('--install', join(directory, 'before.deb'));
    root.dpkg('--install', deb);
    assert.is(statSync(credstore).mode & 0o777, 0o700, 'also after a version that had it in the package');
    writeFileSync(join(credstore, 'snitch.smtp-password'), 'secret');
    root.dpkg('--purge', 'snitch');
    assert.equal(readdirSync(credstore), []);
    chmodSync(credstore, 0o750);
    root.dpkg('--install', deb);
    root.dpkg('--purge', 'snitch');
    assert.is(statSync(credstore).mode & 0o777, 0o750, 'and is left as an administrator made it');
  });

  const withMounts = unless(withoutMounts(), test);
  for (const place of ['var/lib/private/snitch', 'var/lib/snitch']) {
    withMounts(`a purge comes to its end where a disk is mounted at /${place}`, ({ root, deb }) => {
      const path = join(root.path, place);
      root.dpkg('--install', deb);
      mkdirSync(path, { recursive: true });
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]);
        for (const name of ['lost+found', 'spool', '.hidden', 'backups']) mkdirSync(join(path, name));
        for (const name of ['snitch.db', 'spool/one', '..odd']) writeFileSync(join(path, name), '');
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', join(path, 'backups')]);
        writeFileSync(join(path, 'backups/one'), '');
        root.dpkg('--purge', 'snitch');
        assert.equal(readdirSync(path).sort(), ['backups', 'lost+found']);
        assert.equal(readdirSync(join(path, 'backups')), ['one'], 'another disk is not touched');
        assert.not(existsSync(join(root.path, 'etc/snitch')));
        assert.throws(() => root.dpkg('--status', 'snitch'), /is not installed/);
      } finally {
        spawnSync('umount', [join(path, 'backups')]);
        spawnSync('umount', [path]);
        rmSync(path, { recursive: true, force: true });
      }
    });
  }
}

/** Runs the installed program as its unit does, on the installed configuration. */
async function withDaemon<T>(root: ScratchRoot, use: (daemon: DaemonProcess) => Promise<T>): Promise<T> {
  const dataDir = join(root.path, 'var/lib/snitch');
  mkdirSync(dataDir, { recursive: true });
  const daemon = await startProcess({
    root: root.path,
    dataDir,
    program: ['chroot', root.path, '/usr/bin/snitch'],
    env: { SNITCH_DATA_DIR: '', CONFIGURATION_DIRECTORY: '/etc/snitch' },
  });
  try {
    return await use(daemon);
  } finally {
    assert.is(await daemon.end(), 0);
  }
}

runUnless(missing, test, 'the Debian package');
