/** Signals and time limits under `snitch exec`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../until.ts';
import { fakeServer } from '../fake-server.ts';
import { checkIns, type Jobs, outcomes, withJobs } from './exec-process.ts';

const test = suite<Jobs>('snitch exec: signals and time limits');

withJobs(test);

const IDLE = 'echo ready; while :; do sleep 0.05; done';

for (const signal of ['TERM', 'INT', 'HUP', 'QUIT', 'USR1', 'USR2'] as const) {
  test(`${signal} is passed on to the job, which can handle it`, async ({ daemon, host, token }) => {
    const running = host.start([
      'exec',
      token,
      '--',
      'sh',
      '-c',
      `trap "echo got; exit 7" ${signal}; ${IDLE}`,
    ]);
    await running.printed('ready');
    process.kill(running.pid, `SIG${signal}`);
    const { code, stdout, stderr } = await running.ended();
    assert.equal([code, stdout, stderr], [7, 'ready\ngot\n', '']);
    assert.equal((await outcomes(daemon, token)).at(-1), ['error', 7, null]);
  });
}

test('a signal that ends the job is in its exit code', async ({ daemon, host, token }) => {
  const running = host.start(['exec', token, '--', 'sh', '-c', IDLE]);
  await running.printed('ready');
  process.kill(running.pid, 'SIGTERM');
  const { code, signal } = await running.ended();
  assert.equal([code, signal], [143, null]);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 143, 'killed by SIGTERM']);
});

test('a job that runs too long is ended, with all that it started', async ({ daemon, host, token }) => {
  const job = 'sleep 600 & echo $!; wait';
  const { code, stdout, stderr } = await host.run([
    'exec',
    token,
    '--timeout',
    '300ms',
    '--',
    'sh',
    '-c',
    job,
  ]);
  assert.equal([code, stderr], [143, '']);
  await until(() => !isAlive(Number(stdout)));
  const last = ['error', 143, 'ran longer than allowed: killed by SIGTERM'];
  assert.equal((await outcomes(daemon, token)).at(-1), last);
  assert.ok((await checkIns(daemon, token)).at(-1)!.duration_ms !== null);
});

test('what it started and what ignores SIGTERM is killed too, although the job itself has ended', async ({
  daemon,
  host,
  token,
}) => {
  const limits = ['--timeout', '300ms', '--kill-after', '1s'];
  const job = '(trap "" TERM; exec sleep 600 >/dev/null 2>&1) & echo $!; wait';
  const { code, stdout } = await host.run(['exec', token, ...limits, '--', 'sh', '-c', job]);
  assert.is(code, 143);
  await until(() => !isAlive(Number(stdout)));
  const [, end] = (await checkIns(daemon, token)).slice(-2);
  assert.equal(end?.message, 'ran longer than allowed: killed by SIGTERM');
  assert.ok((end?.duration_ms ?? 9_999) < 1_200, 'the end is that of the job itself');
});

test('one that ignores SIGTERM is killed', async ({ daemon, host, token }) => {
  const args = ['--timeout', '300ms', '--kill-after', '300ms'];
  const { code } = await host.run(['exec', token, ...args, '--', 'sh', '-c', `trap "" TERM; ${IDLE}`]);
  assert.is(code, 137);
  const last = ['error', 137, 'ran longer than allowed: killed by SIGKILL'];
  assert.equal((await outcomes(daemon, token)).at(-1), last);
});

test('a job that exits with 0 after its time was over has failed all the same', async ({
  daemon,
  host,
  token,
}) => {
  const job = `trap "exit 0" TERM; ${IDLE}`;
  assert.is((await host.run(['exec', token, '--timeout', '300ms', '--', 'sh', '-c', job])).code, 0);
  assert.equal((await outcomes(daemon, token)).at(-1), ['error', 0, 'ran longer than allowed']);
});

test('a time limit that is not reached changes nothing', async ({ daemon, host, token }) => {
  assert.is((await host.run(['exec', token, '--timeout', '1h', '--', 'true'])).code, 0);
  assert.equal((await outcomes(daemon, token)).at(-1), ['healthy', 0, null]);
});

test('a signal after the end of the job ends the wait for a server that hangs', async ({
  daemon,
  host,
  token,
}) => {
  const hanging = await fakeServer(() => {});
  try {
    host.url = hanging.url;
    const running = host.start(['exec', token, '--', 'sh', '-c', 'echo done; exit 5']);
    // The start is on the disk once the server has been slow, and by then the job has long ended.
    await running.printed('done');
    await until(() => host.kept().length > 0);
    process.kill(running.pid, 'SIGTERM');
    assert.is((await running.ended()).code, 5);
    assert.equal(
      hanging.requests.map(({ url = '' }) => suffixOf(url)),
      ['start'],
      'the end is kept without asking a server that hangs',
    );
    assert.equal(host.kept().map(kindOfFile), ['start waits', 'end waits']);
  } finally {
    await hanging.stop();
  }
  host.url = daemon.url;
});

function suffixOf(path: string): string {
  return /^\/c\/[^/?]+\/?(\w*)/.exec(path)?.[1] || 'end';
}

function kindOfFile(name: string): string {
  const [, order, state] = /^\d+-([01])-[0-9a-f-]+\.json(.*)$/.exec(name) ?? [];
  return `${order === '0' ? 'start' : 'end'} ${state === '' ? 'waits' : state}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.run();
