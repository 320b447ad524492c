/**
 * `snitch exec --value` and `snitch check-in -v`: numbers are sent along, and whatever is wrong with one, the check-in is sent.
 * Time limit: 120 s.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../until.ts';
import { checkIns, type Jobs, withJobs } from './exec-process.ts';

const test = suite<Jobs>('values of a run');

withJobs(test);

const JOB = ['--', 'sh', '-c', 'echo done'];

async function lastOf({ daemon, token }: Jobs) {
  const [last] = (await checkIns(daemon, token)).slice(-1);
  return { outcome: last?.outcome, values: last?.values, message: last?.message, output: last?.output };
}

test('the numbers that the commands print after the job are reported', async (context) => {
  const { host, token } = context;
  const made = join(host.path, 'made');
  const values = ['--value', `bytes=cat ${made} | wc -c`, '--value', 'ratio= echo 0.5'];
  const job = ['--', 'sh', '-c', `printf 12345 > ${made}; echo out`];
  const { code, stdout, stderr } = await host.run(['exec', ...values, token, ...job]);
  assert.equal([code, stdout, stderr], [0, 'out\n', '']);
  const last = await lastOf(context);
  assert.equal([last.outcome, last.values, last.message], ['healthy', { bytes: 5, ratio: 0.5 }, null]);
});

test('a command that fails, prints no number or hangs is reported, and the job keeps its result', async (context) => {
  const { host, token } = context;
  const given: [string, string, RegExp][] = [
    [
      'bad=echo no such disk >&2; exit 3',
      'no bad: its command failed with exit status 3',
      /^snitch: --value bad: no such disk$/m,
    ],
    ['bad=echo 12 /backup', 'no bad: its command printed "12 /backup", which is not a number', /^/],
    ['bad=true', 'no bad: its command printed nothing', /^/],
    ['bad=yes 1', 'no bad: its command took longer than 2 s, and was ended', /^/],
    ['bad=sleep 1000', 'no bad: its command took longer than 2 s, and was ended', /^/],
    ['bad=kill -TERM $$', 'no bad: its command was killed by SIGTERM', /^/],
    [
      'bad=no-such-program',
      'no bad: its command failed with exit status 127',
      /^snitch: --value bad: .*not found$/m,
    ],
  ];
  for (const [value, words, said] of given) {
    const args = ['exec', '--value', value, '--value', 'good=echo 7', '--value-timeout', '2s', token, ...JOB];
    const { code, stdout, stderr } = await host.run(args);
    assert.equal([code, stdout], [0, 'done\n'], value);
    assert.ok(stderr.includes(`snitch: ${words}\n`), stderr);
    assert.match(stderr, said);
    assert.equal(
      await lastOf(context),
      { outcome: 'healthy', values: { good: 7 }, message: words, output: null },
      value,
    );
  }
});

test('a process that the command leaves behind delays nothing', async (context) => {
  const { host, token } = context;
  // It lasts longer than the time limit of the test.
  const value = 'bytes=sleep 600 & echo $! >&2; echo 3';
  const { code, stderr } = await host.run(['exec', '--value', value, '--value-timeout', '5m', token, ...JOB]);
  process.kill(Number(/bytes: (\d+)$/m.exec(stderr)?.[1]), 'SIGKILL');
  assert.is(code, 0);
  assert.equal((await lastOf(context)).values, { bytes: 3 });
});

test('after a job that failed nothing is measured', async (context) => {
  const { host, token } = context;
  const marker = join(host.path, 'measured');
  const { code } = await host.run([
    'exec',
    '--value',
    `bytes=touch ${marker}; echo 1`,
    token,
    '--',
    'sh',
    '-c',
    'exit 4',
  ]);
  assert.is(code, 4);
  assert.throws(() => readFileSync(marker));
  assert.is((await lastOf(context)).values, null);
});

test('a job that is killed while they are measured is not lost', async (context) => {
  const { host, token, daemon } = context;
  const running = host.start(['exec', '--value', 'bytes=sleep 50', token, ...JOB]);
  await running.printed('done');
  await until(() => host.kept().some((name) => name.endsWith('.sending')));
  process.kill(running.pid, 'SIGKILL');
  await running.ended();
  assert.is((await host.run(['spool', 'flush'])).code, 0);
  const told = (await checkIns(daemon, token)).map(({ outcome }) => outcome);
  assert.equal(told.sort(), ['healthy', 'start']);
});

test('a signal while they are measured ends the commands, and the result is kept', async (context) => {
  const { host, token } = context;
  const running = host.start(['exec', '--value', 'bytes=sleep 50', token, ...JOB]);
  await running.printed('done');
  await until(() => host.kept().some((name) => name.includes('.sending')));
  process.kill(running.pid, 'SIGTERM');
  const { code, stderr } = await running.ended();
  assert.is(code, 0);
  assert.match(stderr, /no bytes: its command was ended/);
  assert.is((await host.run(['spool', 'flush'])).code, 0);
  assert.is((await lastOf(context)).outcome, 'healthy');
});

test('anything but a name and a command is refused before the job runs', async ({ host, token }) => {
  const refused: [string[], RegExp][] = [
    [['bytes'], /--value "bytes": write NAME=COMMAND, such as bytes='du/],
    [['bytes='], /write NAME=COMMAND/],
    [['Bytes=echo 1'], /a name is a lower-case letter/],
    [['a=echo 1', 'a=echo 2'], /--value has the same name twice/],
  ];
  for (const [given, words] of refused) {
    const args = given.flatMap((one) => ['--value', one]);
    const { code, stdout, stderr } = await host.run(['exec', ...args, token, ...JOB]);
    assert.equal([code, stdout], [2, '']);
    assert.match(stderr, words);
  }
});

test('check-in sends numbers, and leaves out anything else', async (context) => {
  const { host, token, daemon } = context;
  const right = await host.run(['check-in', token, '-v', 'bytes=1234', '--value', 'rows=0.5']);
  assert.equal([right.code, right.stderr], [0, '']);
  assert.equal((await lastOf(context)).values, { bytes: 1_234, rows: 0.5 });
  const wrong = await host.run(['check-in', token, '-s', '0', '-v', 'bytes=', '-v', '12', '-v', 'rows=7']);
  assert.is(wrong.code, 0);
  assert.match(wrong.stderr, /^snitch: v\.bytes= is no number; write -v NAME=NUMBER/m);
  const [last] = (await checkIns(daemon, token)).slice(-1);
  assert.equal([last?.values, last?.dropped_values?.length], [{ rows: 7 }, 2]);
});

test.run();
