/** Two discovers at the same moment, one that is killed, and many jobs at once. Time limit: 180 s. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readClock } from '../../../src/cli/discover/host/clock.ts';
import { lockHost } from '../../../src/cli/discover/host/lock.ts';
import { unless, withoutRoot } from '../../skipped.ts';
import { until } from '../../until.ts';
import { SNITCH } from '../exec/exec-process.ts';
import { SnitchProcess, temporaryDirectory } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

interface Context extends Commands {
  root: string;
  put(path: string, text: string, mode?: number): void;
  read(path: string): string;
  applying: readonly string[];
}

const test = suite<Context>('discover, twice');

test.before.each(async (context) => {
  const commands = await withCase();
  // In a directory that everybody can enter, for tests as another user.
  const root = mkdtempSync(join(tmpdir(), 'snitch-root-'));
  chmodSync(root, 0o755);
  Object.assign(context, commands, {
    root,
    put: (path: string, text: string, mode = 0o644) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      chmodSync(join(root, path), mode);
    },
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    applying: ['discover', '--root', root, '--host', 'web1', '--apply', '--yes', '--write-crontabs'],
  });
});
test.after.each(async ({ end, root }) => {
  await end();
  rmSync(root, { recursive: true });
});

/** Each line checks in to its own snitch. */
async function assertEachOnce({ listed, read }: Context, lines: number): Promise<void> {
  const snitches = await listed();
  assert.is(new Set(snitches.map(({ name }) => name)).size, lines);
  assert.is(snitches.length, lines, 'no job has two snitches');
  const tokens = read('/etc/crontab').match(/(?<=\/c\/)[a-z2-7]{26}/g) ?? [];
  assert.equal([...tokens].sort(), snitches.map(({ token }) => token).sort());
}

test('two at the same moment make each snitch once', async (context) => {
  const { put, env, applying, run } = context;
  put('/etc/crontab', '1 3 * * * root /opt/a\n2 3 * * * root /opt/b\n');
  const both = [new SnitchProcess(applying, env), new SnitchProcess(applying, env)];
  const ended = await Promise.all(both.map((one) => one.ended()));
  for (const { code, stderr } of ended) {
    if (code !== 0) assert.match(stderr, 'another `snitch discover --apply` is running');
  }
  assert.ok(ended.some(({ code }) => code === 0));
  assert.is((await run(...applying)).code, 0);
  await assertEachOnce(context, 2);
});

test('one that was killed after it made the snitches is completed by the next', async (context) => {
  const { put, env, applying, run, listed, root } = context;
  const lines = Array.from(
    { length: 40 },
    (_, index) => `${index} 3 * * * root /opt/${index % 2}/run.sh ${index}\n`,
  );
  put('/etc/crontab', lines.join(''));
  const first = new SnitchProcess(applying, env);
  try {
    await until(async () => (await listed()).length > 0, 'it made the snitches');
  } finally {
    first.kill('SIGKILL');
    await first.ended();
  }
  const next = await run(...applying);
  assert.is(next.code, 0, next.stderr);
  await assertEachOnce(context, lines.length);
  assert.equal(readdirSync(join(root, 'etc')), ['crontab']);
});

test('what was written in part is completed, also where jobs have the same name', async (context) => {
  const { put, read, applying, run } = context;
  put('/etc/crontab', '1 3 * * * root /opt/a/run.sh\n2 3 * * * root /opt/b/run.sh\n');
  await run(...applying);
  const [wrapped = ''] = read('/etc/crontab').split('\n');
  put('/etc/crontab', `${wrapped}\n2 3 * * * root /opt/b/run.sh\n`);
  // A draft left by a run that a power cut ended.
  put('/etc/.crontab.snitch-1', 'half a file', 0o600);
  await run(...applying);
  await assertEachOnce(context, 2);
  assert.equal(readdirSync(join(context.root, 'etc')), ['crontab']);
});

test('a new job does not check in to the snitch of another one of its name', async (context) => {
  const { put, read, applying, run } = context;
  put('/etc/crontab', '1 3 * * * root /opt/a/run.sh\n');
  await run(...applying);
  put('/etc/crontab', `${read('/etc/crontab')}2 3 * * * root /opt/b/run.sh\n`);
  await run(...applying);
  await assertEachOnce(context, 2);
});

test('lines that are the same in everything are jobs of their own, also when one was written already', async (context) => {
  const { put, read, applying, run } = context;
  const line = '1 3 * * * root /opt/run.sh\n';
  put('/etc/crontab', line + line + line);
  await run(...applying.filter((flag) => flag !== '--write-crontabs'));
  await run(...applying);
  await assertEachOnce(context, 3);
  const [first = '', second = ''] = read('/etc/crontab').split('\n');
  put('/etc/crontab', `${first}\n${second}\n${line}${line}`);
  await run(...applying);
  await assertEachOnce(context, 4);
});

test('200 lines at once, under the PATH of cron and nothing else', async (context) => {
  const { put, env, listed, root } = context;
  const lines = Array.from(
    { length: 200 },
    (_, index) => `${index % 60} ${index % 24} * * * root /opt/job-${index}\n`,
  );
  put('/etc/crontab', `${lines.join('')}rubbish\r\n\r\n5 * * * * root /opt/last`);
  const { SNITCH_DATA_DIR = '' } = env;
  const call = (...flags: string[]) =>
    spawnSync(SNITCH, ['discover', '--root', root, '--host', 'web1', ...flags], {
      env: { PATH: '/usr/bin:/bin', SNITCH_DATA_DIR },
      encoding: 'utf8',
    });
  const applied = call('--apply', '--yes', '--write-crontabs');
  assert.is(applied.status, 0, applied.stderr);
  assert.match(applied.stderr, '201 made');
  await assertEachOnce(context, 201);
  const text = context.read('/etc/crontab');
  assert.is(text.split('\n').length, 203);
  assert.match(text, /rubbish\r\n\r\n5 \* \* \* \* root \S+ exec \S+ -- \/opt\/last$/);
  const snitches = await listed();
  assert.ok(snitches.every(({ schedule, grace }) => schedule && (grace ?? 0) >= 60));
  const checked = call('--check');
  assert.is(checked.status, 1, checked.stderr);
  assert.match(checked.stdout, '/etc/crontab:201: it is neither a job nor a variable');
  assert.match(checked.stderr, '201 watched, 1 not watched');
});

test('on narrow terminals every word is there, in lines that fit', async (context) => {
  const { put, env, root } = context;
  put(
    '/etc/crontab',
    'CRON_TZ=America/Argentina/Buenos_Aires\n1 3 * * 1-5 root /opt/a-job-with-a-very-long-name\nbroken\n',
  );
  for (const columns of [40, 80]) {
    const { stdout } = spawnSync(SNITCH, ['discover', '--root', root, '--host', 'web1', '--check'], {
      env: { ...process.env, ...env, COLUMNS: String(columns) },
      encoding: 'utf8',
    });
    const lines = stdout.trimEnd().split('\n');
    assert.ok(
      lines.every(({ length }) => length <= columns),
      stdout,
    );
    const text = stdout.replace(/\s+/g, '');
    for (const word of ['a-job-with-a-very-long-name@web1', '13**1-5', 'Buenos_Aires', 'neitherajob']) {
      assert.match(text, word);
    }
  }
});

test('only one at a time changes a host, and the lock goes with its process', async () => {
  using directory = temporaryDirectory();
  const root = directory.path;
  {
    using first = lockHost(root);
    assert.ok(first);
    assert.throws(() => lockHost(root), /another `snitch discover --apply` is running/);
  }
  using again = lockHost(root);
  assert.ok(again);
  mkdirSync(join(root, 'run'));
  const script = `import { lockHost } from ${JSON.stringify(new URL('../../../src/cli/discover/host/lock.ts', import.meta.url).href)};
    globalThis.lock = lockHost(${JSON.stringify(root)}); console.log('locked'); setInterval(() => {}, 1000);`;
  const other = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    await once(other.stdout, 'data');
    if (process.getuid?.() === 0) assert.throws(() => lockHost(root), /is running/);
  } finally {
    other.kill('SIGKILL');
    await once(other, 'close');
  }
  // The lock is gone with the process that had it.
  lockHost(root)[Symbol.dispose]();
});

unless(withoutRoot(), test)(
  'an ordinary user is told what only root can read',
  async ({ put, root, daemon, env }) => {
    put('/etc/crontab', '1 3 * * * root /opt/a # snitch: ignore\n');
    put('/var/spool/cron/crontabs/ann', '1 4 * * * /opt/b\n', 0o600);
    chmodSync(join(root, 'var/spool/cron/crontabs'), 0o700);
    const key = readFileSync(join(env.SNITCH_DATA_DIR ?? '', 'credentials.yaml'), 'utf8').match(
      /api_key: (\S+)/,
    )?.[1];
    const call = (...flags: string[]) =>
      spawnSync(
        process.execPath,
        [join(dirname(SNITCH), '../dist/snitch.mjs'), 'discover', '--root', root, ...flags],
        {
          env: { PATH: '/usr/bin:/bin', SNITCH_URL: daemon.url, SNITCH_API_KEY: key },
          uid: 65_534,
          gid: 65_534,
          encoding: 'utf8',
        },
      );
    const { status, stdout, stderr } = call('--check');
    assert.is(status, 1, stderr);
    assert.match(stdout, '/var/spool/cron/crontabs: it cannot be read (EACCES): run this as root');
    assert.is(readClock(root, null).timezone, 'UTC');
    assert.match(call().stdout, 'Not proposed:\n  /var/spool/cron/crontabs');
  },
);

test.run();
