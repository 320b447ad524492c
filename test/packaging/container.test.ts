/**
 * The container image: built once, and run as process 1 with the rights that packaging/compose.yaml gives it.
 * Time limit: 300 s.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { endedChildrenOf } from '../../src/system/process-one.ts';
import { ownDirectory } from '../data-directory.ts';
import { readPage } from '../docs/pages.ts';
import { EXECUTABLE } from '../end-to-end/empty-root.ts';
import { runUnless, withoutRoot } from '../skipped.ts';
import { until } from '../until.ts';
import { composeService } from './compose-service.ts';
import { type Container, type Containers, type Ended, makeContainers } from './container-engine.ts';

/** In bytes. */
const LARGEST = 140e6;

const USER = 65_534;

const BUILD = join(import.meta.dirname, '../../packaging/container/build-rootfs.ts');

interface Context {
  containers: Containers;
  /** Runs during all tests. */
  daemon: Container;
}

const test = suite<Context>('the container');

test.before(async (context) => {
  assert.ok(existsSync(EXECUTABLE));
  context.containers = makeContainers();
  console.log(`NOTE: containers are run by ${context.containers.engine.name}`);
  context.daemon = await context.containers.start({ volume: 'beside' });
});

test.after(async ({ containers, daemon }) => {
  await daemon?.end('SIGKILL');
  containers?.remove();
});

function succeed({ status, stdout, stderr }: Ended): string {
  assert.is(status, 0, stderr);
  return stdout;
}

/** The daemon's answer to a check-in from the host. */
async function checkIn({ url }: Container, token: string): Promise<number> {
  return (await fetch(`${url}/c/${token}`)).status;
}

/** Calls the API from the host, with a key that a person would make for that. */
async function call(container: Container, method: string, path: string): Promise<Response> {
  const key = succeed(container.snitch('key', 'create', 'laptop', '-q')).trim();
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
  return fetch(`${container.url}${path}`, { method, headers: { authorization } });
}

function entryOf({ log }: Container, message: string): Record<string, unknown> {
  const line = log.find((one) => one.includes(`"msg":"${message}"`));
  assert.ok(line, `${message}: ${log.join('\n')}`);
  return JSON.parse(line!) as Record<string, unknown>;
}

test('the image is small enough, and the same whoever builds it', ({ containers }) => {
  assert.ok(statSync(containers.archive).size < LARGEST);
  using elsewhere = ownDirectory();
  const script = `import { buildRootfs } from ${JSON.stringify(BUILD)}; console.log(buildRootfs(process.argv[1]));`;
  const again = spawnSync(
    'sh',
    [
      '-c',
      'umask 077; exec "$@"',
      'sh',
      process.execPath,
      '--input-type=module',
      '-e',
      script,
      elsewhere.path,
    ],
    { encoding: 'utf8', env: { PATH: process.env.PATH, TZ: 'Asia/Tokyo' } },
  );
  assert.is(again.status, 0, again.stderr);
  const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  assert.is(digest(again.stdout.trim()), digest(containers.archive));
});

test('runs without rights, on a root that cannot be written', async ({ daemon: container }) => {
  assert.not.match(container.log.join('\n'), 'in the container itself', 'the data are on a volume');
  const status = readFileSync(`/proc/${container.pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]?.trim();
  assert.equal(field('Uid')?.split('\t'), Array(4).fill(String(USER)));
  assert.equal(field('Gid')?.split('\t'), Array(4).fill(String(USER)));
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) assert.match(field(set) ?? '', /^0+$/, set);
  assert.is(field('NoNewPrivs'), '1');
  assert.is(field('NSpid')?.split('\t').at(-1), '1', 'it is process 1');
  for (const place of ['/x.db', '/tmp/x.db']) {
    const { status: code, stderr } = container.snitch('backup', place);
    assert.is(code, 1, place);
    assert.match(stderr, /EROFS|read-only/i, place);
  }
});

test('commands inside need no settings, and the health check is one of them', async ({
  daemon: container,
}) => {
  const { healthcheck } = composeService();
  const [kind, program, ...words] = healthcheck.test;
  assert.equal([kind, program], ['CMD', 'snitch'], 'there is no shell in the image');
  assert.is(succeed(container.snitch(...words)), 'ready\n');
  const token = succeed(container.snitch('create', 'nightly', '--interval', 'daily', '-q')).trim();
  assert.is(await checkIn(container, token), 202, 'it listens where the host can reach it');
  assert.match(succeed(container.snitch('list')), /nightly .*healthy|healthy .*nightly/);
  const answer = await call(container, 'GET', '/v1/snitches');
  assert.equal(
    ((await answer.json()) as WireSnitch[]).map(({ name }) => name),
    ['nightly'],
  );
  const { stdout } = container.snitch('doctor');
  assert.match(stdout, /ok +data directory +\/var\/lib\/snitch/);
  assert.match(stdout, /ok +store +whole; 1 snitch/);
});

test('the first start says where the keys are, and how to use them without a shell', async ({
  containers,
}) => {
  await using container = await containers.start({ volume: 'first' });
  const { file, how } = entryOf(container, 'first start: the API keys are in this file');
  assert.is(file, '/var/lib/snitch/credentials.yaml');
  assert.match(String(how), 'podman exec CONTAINER snitch list');
  assert.match(String(how), 'snitch key create NAME');
  assert.not.match(container.log.join('\n'), /snk_/);
});

test('stops at a SIGTERM in order, and a new container goes on with the volume', async ({ containers }) => {
  const volume = 'kept';
  await using first = await containers.start({ volume });
  const token = succeed(first.snitch('create', 'nightly', '--interval', 'daily', '-q')).trim();
  assert.is(await checkIn(first, token), 202);
  const asked = performance.now();
  const ending = first.end('SIGTERM');
  await until(() => !existsSync(`/proc/${first.pid}`), 'process 1 has ended');
  console.log(`NOTE: process 1 stopped ${Math.round(performance.now() - asked)} ms after SIGTERM`);
  assert.is(await ending, 0, first.log.join('\n'));
  await using second = await containers.start({ volume });
  assert.match(succeed(second.snitch('history', token)), 'healthy');
  entryOf(second, 'credentials');
});

test('what was acknowledged survives a container that is killed', async ({ containers }) => {
  const volume = 'killed';
  await using first = await containers.start({ volume });
  const token = succeed(first.snitch('create', 'nightly', '--interval', 'daily', '-q')).trim();
  for (let count = 0; count < 20; count++) assert.is(await checkIn(first, token), 202);
  await first.end('SIGKILL');
  await using second = await containers.start({ volume });
  const history = JSON.parse(
    succeed(second.snitch('history', token, '--limit', '50', '--json')),
  ) as unknown[];
  assert.is(history.length, 20);
  assert.is(succeed(second.snitch('health')), 'ready\n');
});

test('a second container on the same volume is refused, and does no harm', ({
  containers,
  daemon: container,
}) => {
  const { status, stdout, stderr } = containers.run({ volume: 'beside' });
  assert.is(status, 75);
  assert.match(stdout + stderr, 'another snitch daemon is using /var/lib/snitch');
  assert.is(succeed(container.snitch('health')), 'ready\n');
});

test('a volume that cannot be written is reported in words, with the owner that it needs', ({
  containers,
}) => {
  using directory = ownDirectory();
  const { status, stdout, stderr } = containers.run({ volume: directory.path });
  assert.is(status, 1);
  const said = stdout + stderr;
  assert.match(said, 'cannot write /var/lib/snitch/');
  assert.match(said, `the daemon is user ${USER} (group ${USER}), and /var/lib/snitch belongs to user 0`);
  assert.match(said, `\`chown -R ${USER}:${USER}\``);
  assert.not.match(said, / at .*\.mjs/);
});

test('takes secrets from files', async ({ containers }) => {
  using directory = ownDirectory();
  const secret = join(directory.path, 'watchdog');
  writeFileSync(secret, 'https://other.example.com/c/s3cret\n', { mode: 0o444 });
  const { stdout } = containers.run({
    volume: 'secrets',
    args: ['config', 'show'],
    env: { SNITCH_WATCHDOG_URL_FILE: '/run/secrets/watchdog-url' },
    mounts: { '/run/secrets/watchdog-url': secret },
  });
  assert.match(stdout, 'url: https://other.example.com/***');
  assert.match(stdout, 'url_file: /run/secrets/watchdog-url');
  assert.not.match(stdout, 's3cret');
});

test('backs up to a second volume, and a new volume is made from that', async ({ containers }) => {
  const mounts = { '/backup': 'backups' };
  await using container = await containers.start({ volume: 'before', mounts });
  succeed(container.snitch('create', 'nightly', '--interval', 'daily', '-q'));
  assert.match(succeed(container.snitch('backup', '/backup/snitch.db')), '');
  await container.end('SIGTERM');
  const restored = containers.run({ volume: 'after', mounts, args: ['restore', '/backup/snitch.db'] });
  assert.is(restored.status, 0, restored.stderr);
  await using again = await containers.start({ volume: 'after' });
  assert.is(succeed(again.snitch('list', '-o', 'name')), 'nightly\n');
});

test('the commands of the page can be pasted line by line', async ({ containers }) => {
  const { blocks } = readPage('docs/container.md');
  const lines = blocks.flatMap(({ language, text }) =>
    language === 'podman' ? text.trim().split('\n') : [],
  );
  assert.ok(lines.length >= 12);
  const { paste } = containers.engine;
  const list = paste ? await pasteAll(paste, lines) : await callAll(containers, lines);
  assert.is(list, 'nightly-backup\n');
});

/** @returns the snitches at the end */
async function pasteAll(paste: (line: string) => Ended, lines: readonly string[]): Promise<string> {
  for (const line of lines) {
    const { status, stderr } = paste(line);
    assert.is(status, 0, `${line}\n${stderr}`);
    if (/^podman (?:run -d|start) /.test(line))
      await until(() => paste('podman exec snitch snitch health -q').status === 0, 'the daemon is well');
  }
  return succeed(paste('podman exec snitch snitch list -o name'));
}

/** The same without podman: those commands that are called in the container. */
async function callAll(containers: Containers, lines: readonly string[]): Promise<string> {
  await using container = await containers.start({ volume: 'page', mounts: { '/backup': 'page-backup' } });
  for (const line of lines) {
    const [, words] = /^podman exec snitch snitch (.+)$/.exec(line) ?? [];
    if (words !== undefined) succeed(container.snitch(...words.split(' ')));
  }
  return succeed(container.snitch('list', '-o', 'name'));
}

test('reaps processes that a command left behind, as process 1 must', async ({ containers }) => {
  using directory = ownDirectory();
  // The shell is dynamic, and finds its C library in the image.
  mkdirSync(join(directory.path, 'bin'), { mode: 0o755 });
  copyFileSync('/bin/dash', join(directory.path, 'bin/sh'));
  const orphan = ['/opt/sh', '-c', 'while :; do :; done & exit 0'];
  await using container = await containers.start({
    volume: 'orphans',
    env: { SNITCH_COMMANDS: JSON.stringify({ orphan }) },
    mounts: { '/opt': join(directory.path, 'bin') },
  });
  const adding = ['channel', 'add', 'command', '--name', 'orphan', '--set', 'command=orphan', '-q'];
  const id = succeed(container.snitch(...adding)).trim();
  assert.is((await call(container, 'POST', `/v1/channels/${id}/test`)).status, 200);
  await until(() => endedChildrenOf(container.pid).size > 0, 'an orphan has ended');
  await until(() => endedChildrenOf(container.pid).size === 0, 'nothing is left of it');
  assert.is(succeed(container.snitch('health')), 'ready\n');
});

test('process 1 ends on a signal even if nothing handles it', async ({ containers }) => {
  using directory = ownDirectory();
  const place = join(directory.path, 'place');
  mkdirSync(place);
  let isAsked = false;
  await using server: Server = createServer(() => {
    isAsked = true;
  });
  await new Promise<void>((resolve) => server.listen(join(place, 'socket'), resolve));
  chmodSync(join(place, 'socket'), 0o666);
  const run = {
    volume: 'signals',
    args: ['health', '--url', 'unix:/opt/socket', '--timeout', '40s'],
    mounts: { '/opt': place },
  };
  await using container = await containers.start(run, () => isAsked);
  const code = await container.end('SIGTERM');
  server.closeAllConnections();
  assert.is(code, 143);
});

runUnless(withoutRoot(), test, 'the container');
