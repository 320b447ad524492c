/**
 * `snitch check-in`, and names in place of tokens: with and without a key, with the server there and away.
 * Time limit: 120 s.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { ownDirectory } from '../data-directory.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { Door } from './door.ts';
import { checkIns, Host, outcomes, type Result } from './exec/exec-process.ts';
import { fakeServer } from './fake-server.ts';
import { type Commands, withCase } from './with-daemon.ts';

interface Context extends Commands {
  /** The address of the daemon, until it is closed. */
  door: Door;
  host: Host;
  /** The command with the key of the case at hand. */
  withKey(...args: string[]): Promise<Result>;
}

const test = suite<Context>('check-in');

test.before.each(async (context) => {
  Object.assign(context, await withCase());
  const { dataDir, url } = context.daemon;
  context.door = await Door.before(url);
  // A key belongs to the address that is configured with it.
  const credentials = join(dataDir, 'credentials.yaml');
  writeFileSync(credentials, readFileSync(credentials, 'utf8').replace(url, context.door.url));
  context.host = new Host(context.door.url);
  context.withKey = (...args) => context.host.run(args, { env: { SNITCH_DATA_DIR: dataDir } });
});
test.after.each(async ({ door, host, end }) => {
  host.remove();
  await door.shut();
  await end();
});

/** A daemon that says that check-ins go elsewhere, and commands with its key. */
async function withBase(
  { host }: Context,
  base: (port: number) => string,
  use: (daemon: DaemonProcess, withKey: Context['withKey']) => Promise<void>,
): Promise<void> {
  using directory = ownDirectory();
  const port = await freePort();
  const env = { SNITCH_LISTEN: `127.0.0.1:${port}`, SNITCH_CHECK_IN_BASE: base(port) };
  await using daemon = await startProcess({ dataDir: directory.path, env });
  host.url = daemon.url;
  await use(daemon, (...args) => host.run(args, { env: { SNITCH_DATA_DIR: directory.path } }));
}

async function newSnitch({ daemon }: Pick<Context, 'daemon'>, name: string): Promise<string> {
  const answer = await daemon.call('POST', '/v1/snitches', { name, interval: 'daily' });
  return ((await answer.json()) as WireSnitch).token;
}

function refused(host: Host): string[] {
  return host.kept().includes('refused') ? readdirSync(join(host.spool, 'refused')) : [];
}

test('without a word it has no output, with one it has that word', async (context) => {
  const { daemon, host } = context;
  const token = await newSnitch(context, 'a');
  assert.equal(await host.run(['check-in', token]), { code: 0, signal: null, stdout: '', stderr: '' });
  assert.is((await host.run(['check-in', token, '-s', 'timeout', '-m', 'a&s=0 ä'])).code, 0);
  const found = await checkIns(daemon, token);
  assert.equal(
    found.map(({ outcome, message, output }) => [outcome, message, output]),
    [
      ['healthy', null, null],
      ['error', 'a&s=0 ä', null],
    ],
  );
});

test('with the server away it is kept, and the next one sends it at its own time', async (context) => {
  const { host } = context;
  const token = await newSnitch(context, 'a');
  await context.door.shut();
  const before = Date.now();
  const { code, stderr } = await host.run(['check-in', token, '-s', 'exit-code', '-m', 'while it was down']);
  const after = Date.now();
  assert.is(code, 5);
  assert.match(
    stderr,
    /^snitch: cannot reach \S+: ECONNREFUSED\nsnitch: the check-in is kept; the next one sends it/,
  );
  assert.is(host.kept().length, 1);
  const { stdout } = await host.run(['spool', 'list']);
  assert.match(stdout, /check-in +\w{4}\.\.\. +waiting/);
  await until(() => Date.now() - after > 2_100);
  await context.door.open();
  assert.is((await host.run(['check-in', token])).code, 0);
  assert.equal(host.kept(), []);
  const [first] = await checkIns(context.daemon, token);
  assert.equal([first!.outcome, first!.message], ['error', 'while it was down']);
  assert.ok(Date.parse(first!.at) >= before && Date.parse(first!.at) <= after, first!.at);
});

test('a name goes wherever a key is at hand: check-in and exec', async (context) => {
  const { daemon, withKey, host } = context;
  const token = await newSnitch(context, 'then@vm: nightly');
  assert.is((await withKey('check-in', 'then@vm: nightly')).code, 0);
  const run = await withKey('exec', 'then@vm: nightly', '--', 'sh', '-c', 'exit 3');
  assert.equal([run.code, run.stderr], [3, '']);
  assert.equal(await outcomes(daemon, token), [
    ['healthy', null, null],
    ['start', null, null],
    ['error', 3, null],
  ]);
  const [, , end] = await checkIns(daemon, token);
  assert.ok(end!.duration_ms !== null);
  const unknown = await withKey('check-in', 'then@vm');
  assert.is(unknown.code, 3);
  assert.match(unknown.stderr, 'no snitch has the token or the name "then@vm"');
  assert.equal(host.kept(), []);
});

test('a token that came from elsewhere looks like a name, and goes with a key and without', async (context) => {
  const { daemon, host, withKey } = context;
  await daemon.call('POST', '/v1/imports', {
    snitches: [{ name: 'imported', interval: 'daily', token: 'c2354d53d2' }],
    owner: null,
  });
  for (const run of [withKey, (...args: string[]) => host.run(args)]) {
    assert.is((await run('check-in', 'c2354d53d2')).code, 0);
    assert.equal((await run('exec', 'c2354d53d2', '--', 'true')).stderr, '');
  }
  assert.is((await checkIns(daemon, 'c2354d53d2')).length, 6);
});

test('a name without a key is an error that says so; the job of exec runs all the same', async (context) => {
  const { host } = context;
  await newSnitch(context, 'the backup');
  const { code, stderr } = await host.run(['check-in', 'the backup']);
  assert.is(code, 4);
  assert.match(stderr, '"the backup" is no token, and a name needs a key: no API key for http');
  assert.match(stderr, 'SNITCH_API_KEY_FILE');
  assert.equal(host.kept(), []);
  const run = await host.run(['exec', 'the backup', '--', 'sh', '-c', 'echo ran; exit 5']);
  assert.equal([run.code, run.stdout], [5, 'ran\n']);
  assert.match(run.stderr, '"the backup" is no token, and a name needs a key');
  assert.match(run.stderr, 'the check-in is kept');
  // With the key at hand, it is sent.
  assert.is((await context.withKey('spool', 'flush')).code, 0);
  assert.equal(host.kept(), []);
  const plain = await host.run(['check-in', 'nightly-backup']);
  assert.is(plain.code, 3);
  assert.match(plain.stderr, /no snitch has the token nigh\.\.\. at [^\n]+names need an API key/);
});

test('a name that cannot be asked for is kept, and asked for when it is sent', async (context) => {
  const { withKey, host } = context;
  const token = await newSnitch(context, 'known');
  const twins = [await newSnitch(context, 'twin'), await newSnitch(context, 'twin')];
  await context.door.shut();
  for (const name of ['known', 'twin', 'un known']) {
    assert.is((await withKey('exec', name, '--', 'sh', '-c', 'exit 6')).code, 6);
  }
  assert.is((await withKey('check-in', 'known', '-m', 'kept')).code, 5);
  assert.is(host.kept().length, 7);
  assert.match((await host.run(['spool', 'list'])).stdout, /exit 6 +un known +waiting/);
  await context.door.open();
  const flushed = await withKey('spool', 'flush');
  assert.is(flushed.code, 1);
  assert.match(flushed.stderr, 'no snitch has the token or the name "un known"');
  assert.match(flushed.stderr, /2 snitches have the name "twin"; use a token$/m);
  for (const twin of twins) assert.not.match(flushed.stderr, twin);
  assert.equal([refused(host).length, host.kept()], [4, ['refused']]);
  const found = await outcomes(context.daemon, token);
  assert.equal(found.map(([outcome]) => outcome).sort(), ['error', 'healthy', 'start']);
  // Once the name exists, the rejected check-in is recorded after all.
  const mended = await newSnitch(context, 'un known');
  await context.daemon.call('DELETE', `/v1/snitches/${twins[0]}`);
  assert.is((await withKey('spool', 'retry')).code, 0);
  assert.is((await checkIns(context.daemon, mended)).length, 2);
  assert.is((await checkIns(context.daemon, twins[1]!)).length, 2);
  assert.equal(refused(host), []);
});

test('check-in addresses on another path are taken from the answer of the API', async (context) => {
  const { host } = context;
  const base = (port: number) => `http://127.0.0.1:${port}/hooks/in`;
  await withBase(context, base, async (daemon, withKey) => {
    const token = await newSnitch({ daemon }, 'moved');
    for (const given of ['moved', token]) {
      assert.equal((await withKey('check-in', given)).stderr, '', given);
      assert.equal((await withKey('exec', given, '--', 'true')).stderr, '', given);
    }
    assert.is((await checkIns(daemon, token)).length, 6);
    assert.equal(host.kept(), []);
    const address = `${daemon.url}/hooks/in/${token}`;
    assert.is((await host.run(['check-in', address, '-s', '2'])).code, 0);
    const doctor = await withKey('doctor', '--json');
    assert.match(doctor.stdout, `${daemon.url}/hooks/in leads to a snitch server`);
  });
});

test('a proxy that leads to the API alone: check-ins go where the API says', async (context) => {
  const { daemon, host } = context;
  const token = await newSnitch(context, 'behind');
  const proxy = await fakeServer((incoming, outgoing) => {
    const { url = '', headers } = incoming;
    if (!url.startsWith('/v1/')) return void outgoing.writeHead(404).end('no such page');
    request(`${daemon.url}${url}`, { headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500);
      answer.pipe(outgoing);
    }).end();
  });
  const env = { SNITCH_URL: proxy.url, SNITCH_API_KEY: daemon.apiKey };
  try {
    for (const given of [token, 'behind']) {
      const { code, stderr } = await host.run(['check-in', given], { env });
      assert.equal([code, stderr], [0, ''], given);
      assert.equal((await host.run(['exec', given, '--', 'true'], { env })).stderr, '', given);
    }
    assert.is((await checkIns(daemon, token)).length, 6);
    // Without the key the right address is unknown, and the check-in stays in the spool.
    const keyless = await host.run(['check-in', token], { env: { SNITCH_URL: proxy.url } });
    assert.is(keyless.code, 5);
    assert.is(host.kept().length, 1);
  } finally {
    await proxy.stop();
  }
});

test('the doctor sees a check-in address that leads elsewhere', async (context) => {
  const base = () => 'http://127.0.0.1:1/c';
  await withBase(context, base, async (daemon, withKey) => {
    await newSnitch({ daemon }, 'astray');
    const { code, stdout } = await withKey('doctor', '--json');
    assert.is(code, 1);
    assert.match(stdout, 'cannot reach http://127.0.0.1:1/c');
  });
});

test('an address that is none, and no settings: said, and nothing is lost', async ({ host }) => {
  assert.is((await host.run(['check-in', 'http://127.0.0.1:1/'])).code, 2);
  assert.is((await host.run(['check-in', 'a'.repeat(26), '--url', 'nowhere'])).code, 2);
  const run = await host.run(['exec', 'http://127.0.0.1:1/', '--', 'sh', '-c', 'echo ran; exit 4']);
  assert.equal([run.code, run.stdout], [4, 'ran\n']);
  assert.match(
    run.stderr,
    'check-in address must be http://HOST/c/TOKEN, without a user name or parameters; this run',
  );
  const other = await host.run([
    'exec',
    'a'.repeat(26),
    '--url',
    'nowhere',
    '--',
    'sh',
    '-c',
    'echo ran; exit 4',
  ]);
  assert.equal([other.code, other.stdout], [4, 'ran\n']);
  assert.match(other.stderr, "--url: the server's address must be");
  assert.is(host.kept().length, 2);
});

test.run();
