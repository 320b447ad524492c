/**
 * The executable by itself, away from the project and its Node.
 * Time limit: 120 s.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import { ownDirectory, removeDataDir } from '../data-directory.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { EXECUTABLE, inEmptyRoot, makeEmptyRoot } from '../end-to-end/empty-root.ts';
import { unless, without, withoutRoot } from '../skipped.ts';
import { mountTmpfs } from '../store/sqlite/mounts.ts';
import { openTerminal } from '../tui/tmux.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Context {
  /** A directory for the executable and what it writes; nothing else of the project is in it. */
  home: string;
  snitch: string;
  daemon: DaemonProcess;
}

const test = suite<Context>('the executable');

test.before(async (context) => {
  context.home = mkdtempSync(join(tmpdir(), 'snitch-executable-'));
  context.snitch = join(context.home, 'snitch');
  copyFileSync(EXECUTABLE, context.snitch);
  context.daemon = await startProcess({ program: [context.snitch] });
});

test.after(async ({ home, daemon }) => {
  await daemon.end();
  removeDataDir(daemon.dataDir);
  rmSync(home, { recursive: true });
});

/** A command, without anything in its environment that leads to the project. */
function run({ snitch, home, daemon }: Context, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(snitch, args, {
    cwd: home,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: home, SNITCH_DATA_DIR: daemon.dataDir, ...env },
  });
  return { status, stdout, stderr };
}

function succeed(context: Context, ...args: string[]): string {
  const { status, stdout, stderr } = run(context, args);
  assert.is(status, 0, `snitch ${args.join(' ')}: ${stderr}`);
  return stdout;
}

test('has the version of the package, and needs no Node', (context) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  assert.is(succeed(context, 'version'), `snitch ${version}\n`);
  assert.match(succeed(context, 'version', '--licenses'), 'better-sqlite3');
});

test('runs every kind of command', async (context) => {
  const token = succeed(context, 'create', 'nightly', '--interval', 'daily', '-q').trim();
  succeed(context, 'check-in', 'nightly', '-m', 'by hand');
  assert.is(succeed(context, 'exec', token, '--', 'echo', 'from the job'), 'from the job\n');
  assert.match(succeed(context, 'list'), 'nightly');
  assert.match(succeed(context, 'explain', 'nightly'), 'nightly');
  const history = JSON.parse(succeed(context, 'history', 'nightly', '--json')) as WireCheckIn[];
  assert.equal(
    history.map(({ outcome }) => outcome),
    ['healthy', 'start', 'healthy'],
  );
  assert.match(succeed(context, 'export'), 'nightly');
  assert.match(succeed(context, 'config', 'show'), `data_dir: ${context.daemon.dataDir}`);
  assert.match(succeed(context, 'completion', 'bash'), 'complete ');
  const { stdout } = run(context, ['doctor']);
  assert.match(stdout, /store +whole; 1 snitch/);
});

test('backs up while the daemon works, and restores', async (context) => {
  const backup = join(context.home, 'backup.db');
  succeed(context, 'backup', backup);
  using directory = ownDirectory();
  const elsewhere = directory.path;
  succeed(context, 'restore', backup, '--data-dir', elsewhere);
  assert.ok(existsSync(join(elsewhere, 'snitch.db')));
});

unless(without('tmux', '-V'), test)('draws the dashboard', async ({ snitch, daemon }) => {
  const terminal = openTerminal('executable', { SNITCH_URL: daemon.url, SNITCH_API_KEY: daemon.apiKey });
  try {
    terminal.type(`${snitch} dashboard`);
    terminal.press('Enter');
    await terminal.shows('live', 'nightly');
    terminal.type('q');
    await terminal.hides('live');
  } finally {
    terminal.close();
  }
});

test('ignores environment variables that are meant for other Node programs', (context) => {
  for (const env of [{ NODE_OPTIONS: '--require /nowhere.js' }, { NODE_OPTIONS: '--nonsense' }])
    assert.is(run(context, ['list', '-o', 'name'], env).stdout, 'nightly\n');
});

const withOpenssl = unless(without('openssl', 'version'), test);

withOpenssl(
  'checks in elsewhere, and trusts the authorities that the system trusts',
  async ({ home, snitch }) => {
    const [key, certificate] = [join(home, 'key.pem'), join(home, 'certificate.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
    spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject],
      ...['-keyout', key, '-out', certificate],
    ]);
    const requests: string[] = [];
    await using server = createServer(
      { key: readFileSync(key), cert: readFileSync(certificate) },
      (request, response) => {
        requests.push(`${request.method} ${request.url}`);
        response.writeHead(202).end();
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const env = {
      SNITCH_WATCHDOG_URL: `https://localhost:${(server.address() as AddressInfo).port}/c/s3cret`,
    };
    for (const [authorities, expected] of [
      ['/nowhere', []],
      [certificate, ['GET /c/s3cret']],
    ] as const) {
      using directory = ownDirectory();
      const options = { program: [snitch], dataDir: directory.path };
      await using daemon = await startProcess({ ...options, env: { ...env, SSL_CERT_FILE: authorities } });
      const isOver = () => requests.length > 0 || daemon.log.some((line) => line.includes('no sign of life'));
      while (!isOver()) await sleep(20);
      await daemon.end();
      assert.equal(requests, expected);
      assert.not.match(daemon.log.join('\n'), 's3cret');
    }
  },
);

test('leaves nothing of SQLite behind, killed or not', async (context) => {
  const runtime = join(context.home, 'runtime');
  mkdirSync(runtime);
  const env = { TMPDIR: runtime, XDG_RUNTIME_DIR: runtime, RUNTIME_DIRECTORY: runtime };
  using directory = ownDirectory();
  const dataDir = directory.path;
  await using daemon = await startProcess({ program: [context.snitch], dataDir, env });
  assert.equal(readdirSync(runtime), []);
  await daemon.end('SIGKILL');
  assert.equal(readdirSync(runtime), []);
  assert.equal(
    readdirSync(daemon.dataDir).filter((name) => !/^(snitch\.(db|lock|acknowledged)|credentials)/.test(name)),
    [],
  );
});

test('two versions work side by side', async (context) => {
  const other = join(context.home, 'snitch-other');
  // A different file, like another version; what they load must not collide.
  copyFileSync(EXECUTABLE, other);
  using directory = ownDirectory();
  await using second = await startProcess({ program: [other], dataDir: directory.path });
  assert.is((await second.call('GET', '/v1/snitches')).status, 200);
  assert.is((await context.daemon.call('GET', '/v1/snitches')).status, 200);
});

const withMounts = unless(withoutRoot(), test);

withMounts(
  'where the kernel gives no file in memory, it takes a directory that may hold programs',
  async () => {
    const root = makeEmptyRoot();
    // Without /proc the file in memory cannot be opened; a mount that may not run programs refuses the one on the disk.
    const mount = mountTmpfs('size=64m,noexec');
    assert.ok(mount, 'a tmpfs can be mounted');
    try {
      mkdirSync(join(root, 'noexec'));
      execFileSync('mount', ['--bind', mount.path, join(root, 'noexec')]);
      const options = { ...inEmptyRoot(root), dataDir: join(root, 'noexec') };
      const refused = await startProcess(options).catch((error: Error) => error.message);
      assert.match(String(refused), 'give a directory that may hold programs (no noexec) in TMPDIR');
      assert.equal(readdirSync(mount.path), ['snitch.lock']);
      mkdirSync(join(root, 'elsewhere'));
      await using daemon = await startProcess({ ...options, env: { TMPDIR: '/elsewhere' } });
      assert.is((await daemon.call('GET', '/v1/snitches')).status, 200);
      assert.equal(readdirSync(join(root, 'elsewhere')), []);
      assert.is(await daemon.end(), 0);
    } finally {
      spawnSync('umount', [join(root, 'noexec')]);
      mount.remove();
      rmSync(root, { recursive: true, force: true });
    }
  },
);

test('prints nothing about certificate authorities on a host without any, and passes its environment to jobs', async () => {
  const root = makeEmptyRoot();
  const daemon = await startProcess(inEmptyRoot(root));
  let stderr = '';
  daemon.child.stderr?.on('data', (text) => {
    stderr += text;
  });
  try {
    assert.is((await daemon.call('GET', '/v1/snitches')).status, 200);
    copyFileSync('/usr/bin/env', join(root, 'env'));
    const { program = [] } = inEmptyRoot(root);
    const [command = '', ...args] = program;
    const job = spawnSync(command, [...args, 'exec', 'x'.repeat(26), '--', '/env'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/', SNITCH_CHECK_IN_BASE: 'https://127.0.0.1:9/c' },
    });
    assert.match(job.stdout, 'HOME=/');
    assert.not.match(job.stdout, 'SSL_CERT_DIR');
    assert.not.match(job.stderr, 'OpenSSL');
  } finally {
    assert.is(await daemon.end(), 0);
    rmSync(root, { recursive: true, force: true });
  }
  assert.is(stderr, '');
});

test.run();
