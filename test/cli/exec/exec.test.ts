/**
 * Jobs under `snitch exec`: their work, output and exit status are as without it, and the server knows of them.
 * Time limit: 120 s.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unless, without } from '../../skipped.ts';
import { until } from '../../until.ts';
import { checkIns, type Jobs, outcomes, SNITCH, withJobs } from './exec-process.ts';

const test = suite<Jobs>('snitch exec: jobs');

withJobs(test);

test('a job that succeeds: not a word of our own, a start and an end', async ({ daemon, host, token }) => {
  const { code, stdout, stderr } = await host.exec(token, 'echo out; echo err >&2');
  assert.equal([code, stdout, stderr], [0, 'out\n', 'err\n']);
  assert.equal(await outcomes(daemon, token), [
    ['start', null, null],
    ['healthy', 0, null],
  ]);
  const [start, end] = await checkIns(daemon, token);
  assert.is(end!.duration_ms, Date.parse(end!.at) - Date.parse(start!.at));
  assert.equal(host.kept(), []);
});

test('a job that fails', async ({ daemon, host, token }) => {
  assert.is((await host.exec(token, 'exit 3')).code, 3);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 3, null]);
});

test('a job that is killed', async ({ daemon, host, token }) => {
  const { code, signal, stderr } = await host.exec(token, 'kill -KILL $$');
  assert.equal([code, signal, stderr], [137, null, '']);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 137, 'killed by SIGKILL']);
});

test('a script with a missing interpreter is not reported as a missing command', async ({
  daemon,
  host,
  token,
}) => {
  const script = join(host.spool, '..', 'saved-on-windows');
  writeFileSync(script, '#!/bin/sh\r\necho hi\r\n', { mode: 0o755 });
  const windows = await host.run(['exec', token, '--', script]);
  const told = 'its first line has a Windows line ending, and /bin/sh\\r does not exist';
  assert.equal([windows.code, windows.stderr], [127, `snitch: ${script}: ${told}\n`]);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 127, told]);
  writeFileSync(script, '#! /opt/no/python -u\n');
  const { code, stderr } = await host.run(['exec', token, '--', script]);
  assert.equal([code, stderr], [127, `snitch: ${script}: its interpreter /opt/no/python does not exist\n`]);
  const empty = await host.run(['exec', token, '--', '']);
  assert.equal([empty.code, empty.stderr], [127, 'snitch: : command not found\n']);
});

test('a command that is missing or not executable', async ({ daemon, host, token }) => {
  const missing = await host.run(['exec', token, '--', 'no-such-command']);
  assert.equal([missing.code, missing.stderr], [127, 'snitch: no-such-command: command not found\n']);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 127, 'command not found']);
  const plain = await host.run(['exec', token, '--', '/etc/passwd']);
  assert.equal([plain.code, plain.stderr], [126, 'snitch: /etc/passwd: permission denied\n']);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 126, 'permission denied']);
});

test('arguments reach the job as they are, options and -- included', async ({ host, token }) => {
  const args = ['--tail', '1', '--', '-x', '', 'a b', '$HOME', '*'];
  const { stdout } = await host.run(['exec', token, '--', 'printf', '[%s]', ...args]);
  assert.is(stdout, '[--tail][1][--][-x][][a b][$HOME][*]');
});

test('without -- before the job, a -- among its own arguments reaches it', async ({
  daemon,
  host,
  token,
}) => {
  const file = join(host.spool, '..', 'token');
  writeFileSync(file, token, { mode: 0o600 });
  for (const [whom, ours] of [
    [[token], []],
    [[token], ['--']],
    [['--token-file', file], []],
    [['--token-file', file, token], ['--']],
  ] as const) {
    for (const own of [['checkout', '--', 'file'], ['--'], ['a', '--', '--', '-x']]) {
      const { stdout, stderr } = await host.run(['exec', ...whom, ...ours, 'printf', '[%s]', ...own]);
      assert.equal([stdout, stderr], [own.map((word) => `[${word}]`).join(''), ''], `${whom} ${ours} ${own}`);
    }
  }
  assert.is((await outcomes(daemon, token)).filter(([kind]) => kind === 'healthy').length, 12);
});

test('the job reads its standard input', async ({ host, token }) => {
  const input = 'line\n'.repeat(50_000);
  const { code, stdout } = await host.run(['exec', token, '--', 'cat'], { input });
  assert.is(code, 0);
  assert.ok(stdout === input);
});

test('the token may come as the whole check-in address', async ({ daemon, host, token }) => {
  host.url = 'http://127.0.0.1:1';
  assert.is((await host.exec(`${daemon.url}/c/${token}/`, 'exit 4')).code, 4);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 4, null]);
});

test('stdout and stderr that are one file keep their order', async ({ daemon, host, token }) => {
  const path = join(host.path, 'log');
  await using file = await open(path, 'a');
  const lines = 'for i in $(seq 500); do echo out $i; echo err $i >&2; done';
  const running = host.start(['exec', token, '--output', 'always', '--', 'sh', '-c', lines], {
    stdio: ['ignore', file.fd, file.fd],
  });
  assert.is((await running.ended()).code, 0);
  const expected = Array.from({ length: 500 }, (_, i) => `out ${i + 1}\nerr ${i + 1}\n`).join('');
  assert.is(readFileSync(path, 'utf8'), expected);
  assert.is((await checkIns(daemon, token)).at(-1)!.output, expected.slice(-10_240));
});

test('the job can open /dev/stdout and /dev/stderr', async ({ host, token }) => {
  const { stdout, stderr } = await host.exec(token, 'echo out > /dev/stdout; echo err | tee /dev/stderr');
  assert.equal([stdout, stderr], ['out\nerr\n', 'err\n']);
});

test('if no pipe can be made, the output passes through all the same', async ({ host, token }) => {
  const env = { TMPDIR: join(host.path, 'missing') };
  const { code, stdout, stderr } = await host.exec(token, 'echo out; echo err >&2; exit 3', { env });
  assert.equal([code, stdout, stderr], [3, 'out\n', 'err\n']);
  const missing = await host.run(['exec', token, '--', 'no-such-command'], { env });
  assert.equal([missing.code, missing.stdout], [127, '']);
});

test('the end of the output is kept, cut between characters', async ({ daemon, host, token }) => {
  await host.run(['exec', token, '--output', 'always', '--tail', '10', '--', 'printf', 'aä€😀€bc']);
  assert.is((await checkIns(daemon, token)).at(-1)!.output, '😀€bc');
  await host.run(['exec', token, '--output', 'always', '--tail', '2k', '--', 'seq', '10000']);
  const { output } = (await checkIns(daemon, token)).at(-1)!;
  assert.is(output?.length, 2048);
  assert.ok(output?.endsWith('\n9999\n10000\n'));
});

test('without a tail nothing is kept, and the job has our own streams', async ({ daemon, host, token }) => {
  const { stdout } = await host.run(['exec', token, '--tail', '0', '--', 'echo', 'secret']);
  assert.is(stdout, 'secret\n');
  assert.is((await checkIns(daemon, token)).at(-1)!.output, null);
});

test('output that looks like parameters of a check-in is output', async ({ daemon, host, token }) => {
  for (const text of ['s=1&m=no', 'status&s=9', '{"s": 1, "m": "no"}', `x&m=${'y'.repeat(20_000)}`]) {
    const { code, stdout } = await host.run([
      'exec',
      token,
      '--output',
      'always',
      '--',
      'printf',
      '%s',
      text,
    ]);
    assert.equal([code, stdout], [0, text]);
    const last = (await checkIns(daemon, token)).at(-1)!;
    assert.equal([last.outcome, last.exit_status, last.message], ['healthy', 0, null], text);
    assert.ok(last.duration_ms !== null);
    assert.ok(last.output?.endsWith(text.slice(-10_000)), text);
  }
});

test('100 MB of output: every byte, in bounded memory', async ({ daemon, host, token }) => {
  const job =
    'const b = Buffer.alloc(1e6, "0123456789\\n"); for (let i = 0; i < 100; i++) fs.writeSync(1, b);';
  const running = spawn(SNITCH, ['exec', token, '--', process.execPath, '-e', job], {
    env: { PATH: process.env.PATH, HOME: host.path, SNITCH_URL: host.url, SNITCH_SPOOL_DIR: host.spool },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const hash = createHash('sha256');
  let size = 0;
  let peak = 0;
  running.stdout.on('data', (chunk: Buffer) => {
    if (Math.floor(size / 5e6) !== Math.floor((size + chunk.length) / 5e6)) {
      peak = Math.max(peak, peakMemory(running.pid!));
    }
    size += chunk.length;
    hash.update(chunk);
  });
  const [code] = await once(running, 'close');
  assert.equal([code, size], [0, 1e8]);
  const expected = createHash('sha256');
  for (let i = 0; i < 100; i += 1) expected.update(Buffer.alloc(1e6, '0123456789\n'));
  assert.is(hash.digest('hex'), expected.digest('hex'));
  assert.ok(peak > 0 && peak < 250e6, `${peak} bytes`);
  assert.equal((await outcomes(daemon, token)).at(-1), ['healthy', 0, null]);
});

/** In bytes: too little for any considerable part of 100 MB. */
function peakMemory(pid: number): number {
  const [, kilobytes = '0'] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

test('a reader that stops reading ends the job as it would without us', async ({ host, token }) => {
  const running = host.start(['exec', token, '--', 'yes']);
  await running.printed('y\n');
  running.child.stdout!.destroy();
  assert.equal([(await running.ended()).code, running.stderr], [141, '']);
});

test('a reader that stalls does not keep the end from being reported', async ({ daemon, host, token }) => {
  const running = spawn(SNITCH, ['exec', token, '--', 'sh', '-c', 'yes | head -c 700000 & sleep 0.2'], {
    env: { PATH: process.env.PATH, HOME: host.path, SNITCH_URL: host.url, SNITCH_SPOOL_DIR: host.spool },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(running, 'close');
  await until(async () => (await checkIns(daemon, token)).length === 2);
  let size = 0;
  running.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  assert.equal([(await closed)[0], size], [0, 700_000]);
  assert.equal((await outcomes(daemon, token)).at(-1), ['healthy', 0, null]);
});

test('a process that the job leaves behind does not hold us up', async ({ daemon, host, token }) => {
  const { code, stdout } = await host.exec(token, 'sleep 600 & echo $!; exit 7');
  process.kill(Number(stdout), 'SIGKILL');
  assert.is(code, 7);
  assert.is((await checkIns(daemon, token)).at(-1)!.output, stdout);
});

unless(without('script'), test)('a terminal stays a terminal', async ({ host, token }) => {
  const { stdout } = spawnSync(
    'script',
    [
      '-qec',
      `${SNITCH} exec ${token} -- sh -c 'tty; test -t 0 && test -t 1 && test -t 2; echo $?'`,
      '/dev/null',
    ],
    {
      env: { ...process.env, HOME: host.path, SNITCH_URL: host.url, SNITCH_SPOOL_DIR: host.spool },
      encoding: 'utf8',
    },
  );
  assert.match(stdout, /^\/dev\/\S+\r\n0\r\n$/);
});

test('a mistyped option is reported before anything runs', async ({ host, token }) => {
  const wrong: [string[], RegExp][] = [
    [['exec', token], /missing required argument 'command'/],
    [['exec', token, '--timeout', 'soon', '--', 'echo', 'ran'], /--timeout: "soon"/],
    [
      ['exec', token, '--timeout', '30d', '--', 'echo', 'ran'],
      /--timeout: "30d" is too long: 24d is the most/,
    ],
    [['exec', token, '--kill-after', '0s', '--', 'echo', 'ran'], /--kill-after: "0s" is no time at all/],
    [['exec', token, '--tail', '1M', '--', 'echo', 'ran'], /--tail: "1M"/],
    [['exec', token, '--tail', '11k', '--', 'echo', 'ran'], /at most 10k/],
    [['exec', token, '--output', 'sometimes', '--', 'echo', 'ran'], /Allowed choices are failure/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await host.run(args);
    assert.equal([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, message);
  }
});

test('the output goes along when the job fails, and when else is asked for', async ({
  daemon,
  host,
  token,
}) => {
  const cases: [flags: string[], code: number, output: string | null][] = [
    [[], 0, null],
    [[], 3, 'secret\n'],
    [['--output', 'failure'], 0, null],
    [['--output', 'always'], 0, 'secret\n'],
    [['--output', 'never'], 3, null],
  ];
  for (const [flags, exit, output] of cases) {
    const command = ['sh', '-c', `echo secret; exit ${exit}`];
    const { code, stdout } = await host.run(['exec', token, ...flags, '--', ...command]);
    assert.equal([code, stdout], [exit, 'secret\n']);
    assert.is((await checkIns(daemon, token)).at(-1)!.output, output, `${flags} ${exit}`);
  }
  const late = [
    'exec',
    token,
    '--timeout',
    '200ms',
    '--',
    'sh',
    '-c',
    'trap "exit 0" TERM; echo slow; sleep 9 & wait',
  ];
  assert.is((await host.run(late)).code, 0);
  assert.is(
    (await checkIns(daemon, token)).at(-1)!.output,
    'slow\n',
    'what was ended for its time has failed',
  );
});

test.run();
