/** What `snitch exec` keeps from the job and from the other users of the host. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Jobs, outcomes, withJobs } from './exec-process.ts';

interface Context extends Jobs {
  /** Holds the token. */
  file: string;
}

const test = suite<Context>('snitch exec: secrets');

withJobs(test);
test.before.each((context) => {
  context.file = join(context.host.path, 'token');
  writeFileSync(context.file, `${context.token}\n`, { mode: 0o600 });
});

test('the job gets all of the environment except our secrets', async ({ host, token }) => {
  const secrets = {
    SNITCH_API_KEY: 'secret-1',
    SNITCH_ADMIN_KEY: 'secret-2',
    SNITCH_TOKEN: 'secret-3',
    SNITCH_FROM_KEY: 'secret-4',
    SNITCH_SMTP_URL: 'smtp://u:secret-5@h',
    SNITCH_WATCHDOG_URL: 'http://h/c/secret-6',
    SNITCH_STORE_URL: 'postgres://u:secret-7@h/d',
  };
  const env = { ...secrets, MINE: 'a=b\nc', PASSWORD: 'of the job' };
  const { stdout } = await host.run(['exec', token, '--', 'env'], { env });
  assert.not.match(stdout, 'secret-');
  for (const name of Object.keys(secrets)) assert.not.match(stdout, `${name}=`);
  for (const kept of ['MINE=a=b\nc\n', 'PASSWORD=of the job\n', `SNITCH_URL=${host.url}\n`]) {
    assert.match(stdout, kept);
  }
});

test('a token in a file or in the environment is in no arguments of a process', async (context) => {
  const { daemon, host, token, file } = context;
  const address = join(host.path, 'address');
  writeFileSync(address, `${daemon.url}/c/${token}\n`);
  const seen = join(host.path, 'seen');
  const ways: [args: string[], env: NodeJS.ProcessEnv][] = [
    [['--token-file', file, '--'], {}],
    [['--token-file', address, '--'], {}],
    [['--'], { SNITCH_TOKEN: token }],
    [['--'], { SNITCH_TOKEN_FILE: file }],
  ];
  for (const [args, env] of ways) {
    const job = `echo ready; until [ -e '${seen}' ]; do sleep 0.02; done; exit 3`;
    const running = host.start(['exec', ...args, 'sh', '-c', job], { env });
    await running.printed('ready');
    assert.not.match(readFileSync(`/proc/${running.pid}/cmdline`, 'utf8'), token, args.join(' '));
    writeFileSync(seen, '');
    const { code, stderr } = await running.ended();
    rmSync(seen);
    assert.equal([code, stderr], [3, ''], args.join(' '));
  }
  assert.is((await outcomes(daemon, token)).filter(([outcome]) => outcome === 'error').length, ways.length);
  const plain = await host.run(['exec', '--token-file', file, 'echo', 'a', 'b']);
  assert.equal([plain.code, plain.stdout, plain.stderr], [0, 'a b\n', '']);
});

test('check-in takes the token from the same places', async (context) => {
  const { daemon, host, token, file } = context;
  assert.is((await host.run(['check-in', '--token-file', file, '-s', '1'])).code, 0);
  assert.is((await host.run(['check-in'], { env: { SNITCH_TOKEN: token } })).code, 0);
  assert.is((await host.run(['check-in'], { env: { SNITCH_TOKEN_FILE: file } })).code, 0);
  assert.equal(
    (await outcomes(daemon, token)).map(([outcome]) => outcome),
    ['error', 'healthy', 'healthy'],
  );
  const missing = await host.run(['check-in']);
  assert.equal([missing.code, missing.stdout], [2, '']);
  assert.match(missing.stderr, 'no token: give one');
});

test('whatever is wrong with the token, it is reported and the job runs', async ({ host, file }) => {
  writeFileSync(file, 'two\nlines\n');
  const ways: [args: string[], env: NodeJS.ProcessEnv, message: RegExp][] = [
    [
      ['--token-file', '/no/such/file'],
      {},
      /--token-file: cannot read the token from \/no\/such\/file: ENOENT/,
    ],
    [['--token-file', file], {}, /must hold one token and nothing else/],
    [[], { SNITCH_TOKEN_FILE: '/no/such/file' }, /SNITCH_TOKEN_FILE: cannot read/],
    [[], {}, /no token: give one as the first argument, with --token-file or in SNITCH_TOKEN/],
    [[''], {}, /no token/],
  ];
  for (const [args, env, message] of ways) {
    const { code, stdout, stderr } = await host.run(['exec', ...args, '--', 'sh', '-c', 'echo ran; exit 9'], {
      env,
    });
    assert.equal([code, stdout], [9, 'ran\n'], args.join(' '));
    assert.match(stderr, message);
    assert.match(stderr, 'this run is not recorded');
    assert.not.match(stderr, 'two');
  }
});

test('without a command there is nothing to run', async ({ host, file, token }) => {
  for (const args of [[], [token], [token, '--'], ['--token-file', file, '--'], ['--token-file', file]]) {
    const { code, stderr } = await host.run(['exec', ...args]);
    assert.is(code, 2, args.join(' '));
    assert.match(stderr, "missing required argument 'command'");
  }
});

test.run();
