/**
 * `snitch server`: what it writes into `cli.yaml`, and what it shows of the servers there.
 * Time limit: 180 s.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { removeDataDir } from '../../data-directory.ts';
import { type DaemonProcess, startProcess } from '../../end-to-end/daemon-process.ts';
import { startFakeServer } from '../fake-server.ts';
import { onTerminal, plain } from '../on-terminal.ts';
import { runSnitch, temporaryDirectory } from '../snitch-process.ts';

interface Context {
  daemon: DaemonProcess;
  env: NodeJS.ProcessEnv;
  file: string;
  keyFile: string;
  run(...args: string[]): ReturnType<typeof runSnitch>;
  text(): string;
  remove(): void;
}

const NOBODY = 'http://127.0.0.1:9';

const test = suite<Context>('snitch server');

test.before(async (context) => {
  context.daemon = await startProcess();
});

test.after(async ({ daemon }) => {
  await daemon.end();
  removeDataDir(daemon.dataDir);
});

test.before.each((context) => {
  const { path, remove } = temporaryDirectory();
  const env = { XDG_CONFIG_HOME: path, XDG_STATE_HOME: path, SNITCH_DATA_DIR: join(path, 'none') };
  const keyFile = join(path, 'the key');
  writeFileSync(keyFile, `${context.daemon.apiKey}\n`, { mode: 0o600 });
  const file = join(path, 'snitch/cli.yaml');
  const run = (...args: string[]) => runSnitch(args, env);
  Object.assign(context, { env, file, keyFile, remove, run, text: () => readFileSync(file, 'utf8') });
});

test.after.each(({ remove }) => remove());

function write({ file }: Context, text: string, mode = 0o600): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text, { mode });
}

test('a server is renamed in its place, with its key, its comments and its being the default', async (context) => {
  const { run, daemon, text, keyFile } = context;
  const top = `# mine\nurl: ${daemon.url}\napi_key_file: ${JSON.stringify(keyFile)}\n`;
  write(
    context,
    `${top}servers:\n  # that of the office\n  work:\n    url: ${NOBODY}\n    api_key: k\n  far:\n    url: ${NOBODY}\n`,
  );
  const renamed = await run('server', 'rename', 'work', 'office');
  assert.is(renamed.code, 0, renamed.stderr);
  assert.match(renamed.stderr, 'such as a crontab, must be changed');
  assert.match(
    text(),
    /servers:\n {2}# that of the office\n {2}office:\n {4}url: .*\n {4}api_key: k\n {2}far:/,
  );
  // The one at the top of the file gets a place among the others, and stays the default.
  const named = await run('server', 'rename', 'unnamed', 'home');
  assert.match(named.stderr, `the default is home (${daemon.url})`);
  assert.match(text(), /^# mine\n/);
  assert.not.match(text(), /^url:/m);
  assert.is((await run('list')).code, 0);
  assert.is((await run('server', 'rename', 'home', 'far')).code, 1);
  assert.is((await run('server', 'rename', 'none', 'other')).code, 3);
  assert.is((await run('server', 'rename', 'home', 'a b')).code, 2);
  assert.match(text(), /^server: home$/m);
});

test('a key file that does not stay there is refused, and told how to give the key itself', async (context) => {
  const { run, daemon, file } = context;
  const pipe = join(file, '../..', 'pipe');
  spawnSync('mkfifo', [pipe]);
  const { code, stderr } = await run('server', 'add', 'home', daemon.url, '--key-file', pipe);
  assert.is(code, 2);
  assert.match(stderr, 'is not a file that stays there');
  assert.not.ok(existsSync(file));
});

test('a first server, a second one, another default, and none', async ({
  run,
  daemon,
  keyFile,
  file,
  text,
}) => {
  const first = await run('server', 'add', 'home', daemon.url, '--key-file', keyFile);
  assert.is(first.code, 0, first.stderr);
  assert.match(first.stderr, /home accepts the key: the case default, scope write/);
  assert.match(first.stderr, `the default is home (${daemon.url})`);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.not.match(text(), daemon.apiKey);
  assert.is((await run('list')).code, 0);
  assert.is((await run('server', 'add', 'work', NOBODY, '--key-file', keyFile)).code, 0);
  assert.is((await run('list')).code, 0);
  assert.match((await run('server', 'use', 'work')).stderr, `the default is work (${NOBODY})`);
  assert.is((await run('list')).code, 5);
  assert.is((await run('server', 'use', 'wrok')).code, 3);
  assert.is((await run('server', 'add', 'home', daemon.url, '--key-file', keyFile)).code, 1);
  assert.is((await run('server', 'remove', 'work')).code, 2);
  const removed = await run('server', 'remove', 'work', '--force');
  assert.match(removed.stderr, `the default is home (${daemon.url})`);
  await run('server', 'remove', '-f', 'home');
  assert.not.match(text(), 'servers');
});

test('comments, order and everything else of the file stay, and a link stays a link', async (context) => {
  const { run, daemon, keyFile, file, text, env } = context;
  const before = `# my servers
url: ${daemon.url}   # the old one
api_key_file: '${keyFile}'

servers:
  # in the cellar
  zeta:
    url: http://127.0.0.1:1   # quiet
    api_key: snk_${'x'.repeat(200)} # long
  alpha:
    url: http://127.0.0.1:2
`;
  const real = join(env.XDG_CONFIG_HOME as string, 'dotfile.yaml');
  write(context, '');
  writeFileSync(real, before);
  const { rmSync } = await import('node:fs');
  rmSync(file);
  symlinkSync(real, file);
  assert.is((await run('server', 'add', 'mid', daemon.url, '--key-file', keyFile)).code, 0);
  assert.ok(lstatSync(file).isSymbolicLink());
  const added = `  mid:\n    url: ${daemon.url}\n    api_key_file: ${keyFile}\n`;
  const kept = before.replaceAll(/ {3}#/g, ' #');
  assert.is(text(), `${kept}${added}`);
  assert.is(statSync(real).mode & 0o777, 0o600);
  await run('server', 'remove', '-f', 'mid');
  assert.is(text(), kept);
  // The server at the top of the file stays the default, as it always was.
  assert.is((await run('list')).code, 0);
  await run('server', 'use', 'alpha');
  assert.is(text(), `${kept}server: alpha\n`);
  await run('server', 'use', 'unnamed');
  assert.is(text(), kept);
});

test('many changes at once lose nothing', async ({ run, keyFile, text }) => {
  const names = Array.from({ length: 5 }, (_, index) => `server-${index}`);
  const all = await Promise.all(
    names.map((name) => run('server', 'add', name, NOBODY, '--key-file', keyFile, '-q')),
  );
  assert.equal(
    all.map(({ code }) => code),
    names.map(() => 0),
  );
  for (const name of names) assert.match(text(), `  ${name}:\n`);
  assert.is(text().match(/^server:/gm)?.length, 1);
});

test('mistakes are explained, and nothing is written', async (context) => {
  const { run, keyFile, file, daemon, env } = context;
  const stranger = await startFakeServer({ status: 404, body: 'who?' });
  const welcome = await startFakeServer({ status: 200, body: '<html>Welcome!</html>' });
  try {
    const wrong = join(env.XDG_CONFIG_HOME as string, 'wrong');
    writeFileSync(wrong, `snk_${'a'.repeat(40)}\n`, { mode: 0o600 });
    const cases: [string[], number, RegExp][] = [
      [['home', daemon.url, '--key-file', wrong], 4, /refuses this key: nothing was written/],
      [['home', stranger.url, '--key-file', keyFile], 1, /not as a snitch server/],
      [['home', welcome.url, '--key-file', keyFile], 1, /is not a snitch server.*: nothing was written/],
      [['home', 'ftp://x', '--key-file', keyFile], 2, /address must be/],
      [['a b', daemon.url, '--key-file', keyFile], 2, /letters, digits/],
      [['unnamed', daemon.url, '--key-file', keyFile], 2, /top of the file/],
      [['home', daemon.url], 2, /--key-file FILE/],
      [['home', daemon.url, '--key-file', '/nowhere/at/all'], 2, /ENOENT/],
    ];
    for (const [args, code, words] of cases) {
      const ended = await run('server', 'add', ...args);
      assert.is(ended.code, code, ended.stderr);
      assert.match(ended.stderr, words);
    }
    assert.not(existsSync(file));
    assert.equal(
      stranger.requests.map(({ headers: { authorization } }) => authorization),
      [undefined],
    );
    for (const broken of [
      'servers: {a: {url: http://x}}\n',
      'url: [\n',
      'servers:\n  a:\n    url: |\n      x\n',
    ]) {
      write(context, broken);
      const ended = await run('server', 'add', 'home', daemon.url, '--key-file', keyFile);
      assert.is(ended.code, 1, broken);
      assert.match(ended.stderr, /cli\.yaml/);
      assert.is(readFileSync(file, 'utf8'), broken);
    }
  } finally {
    await stranger.stop();
    await welcome.stop();
  }
});

test('removing a server says what waits in the spool for it, even without a question', async (context) => {
  const { run, env } = context;
  write(context, `servers:\n  away:\n    url: ${NOBODY}\n    api_key: snk_x\nserver: away\n`);
  assert.match((await run('check-in', 'backup')).stderr, 'the check-in is kept');
  const removed = await runSnitch(['server', 'remove', 'away', '-f'], env);
  assert.is(removed.code, 0, removed.stderr);
  assert.match(removed.stderr, '1 check-in for it in the spool cannot be sent without its key');
});

test('a directory that cannot be written is named, and the key is not lost in it', async ({
  keyFile,
  env,
  daemon,
}) => {
  const path = join(env.XDG_CONFIG_HOME as string, 'file');
  writeFileSync(path, '');
  const { code, stderr } = await runSnitch(['server', 'add', 'a', daemon.url, '--key-file', keyFile], {
    ...env,
    XDG_CONFIG_HOME: path,
  });
  assert.is(code, 1);
  assert.match(stderr, `cannot write ${path}/snitch/cli.yaml`);
});

test('list checks all servers at once, and shows the state of each', async (context) => {
  const { run, daemon, keyFile, env } = context;
  const hanging = await startFakeServer(null);
  const other = await startFakeServer(null);
  try {
    const make = async (scope: string) => {
      const made = await daemon.call('POST', '/v1/api_keys', { name: scope, scope });
      return ((await made.json()) as { key: string }).key;
    };
    const text = `server: home
servers:
  home: {}
`.replace(
      ' {}',
      `
    url: ${daemon.url}
    api_key_file: ${keyFile}
  reads:
    url: ${daemon.url}
    api_key: ${await make('read')}
  jobs:
    url: ${daemon.url}
    api_key: ${await make('provision')}
  wrong:
    url: ${daemon.url}
    api_key: snk_${'a'.repeat(40)}
  keyless:
    url: ${daemon.url}
  hangs:
    url: ${hanging.url}
    api_key: x
  hangs-too:
    url: ${other.url}
    api_key: x
  away:
    url: ${NOBODY}
    api_key: x`,
    );
    write(context, text, 0o644);
    const { code, stdout, stderr } = await run('server', 'list', '--json', '--timeout', '4s');
    assert.is(code, 0, stderr);
    const seen = JSON.parse(stdout) as Record<string, unknown>[];
    assert.equal(
      seen.map((one) => [one.name, one.state, one.reachable, one.scope, one.default]),
      [
        ['home', 'ok', true, 'write', true],
        ['reads', 'ok', true, 'read', false],
        ['jobs', 'ok', true, 'provision', false],
        ['wrong', 'refused', true, null, false],
        ['keyless', 'no key', true, null, false],
        ['hangs', 'no answer', false, null, false],
        ['hangs-too', 'no answer', false, null, false],
        ['away', 'no answer', false, null, false],
      ],
    );
    assert.is(seen[0]!.case, 'default');
    assert.match(String(seen[0]!.version), /^\d+\.\d+/);
    // Both were asked before the first one was given up.
    assert.equal([hanging.requests.length, other.requests.length], [1, 1]);
    chmodSync(env.XDG_CONFIG_HOME as string, 0o755);
    assert.match(
      (await run('server', 'list', '--timeout', '1s')).stderr,
      /every user of this host can read .*cli\.yaml/,
    );
    const { screen } = await onTerminal(['server', 'list', '--timeout', '1s'], { columns: 40, env });
    const table = plain(screen).split('\n').slice(0, 9);
    for (const line of table) assert.ok(line.length <= 40, line);
    assert.match(table[1]!, /^home +ok +default/);
    assert.match(table[6]!, /^hangs +no answer/);
  } finally {
    await hanging.stop();
    await other.stop();
  }
});

test('before something is deleted, the server is named where there are several', async (context) => {
  const { daemon, keyFile, env } = context;
  const servers = `servers:
  home:
    url: ${daemon.url}
    api_key_file: ${keyFile}
`;
  const made = await daemon.call('POST', '/v1/snitches', { name: 'precious', interval: 'daily' });
  assert.is(made.status, 200);
  const asked = async (args: string[]) =>
    plain((await onTerminal(args, { columns: 120, input: 'n\n', env })).screen);
  write(context, servers);
  assert.match(await asked(['delete', 'precious']), /This will be deleted:\n +precious/);
  write(context, `${servers}  work:\n    url: ${NOBODY}\n    api_key: x\n`);
  const named = await asked(['--server', 'home', 'delete', 'precious']);
  assert.match(named, `This will be deleted on home (${daemon.url}):`);
  assert.match(named, 'nothing was deleted');
  const file = join(env.XDG_CONFIG_HOME as string, 'snitches.yaml');
  writeFileSync(file, 'owner: test\nsnitches:\n  - name: another\n    interval: daily\n');
  const applied = await asked(['apply', '-f', file, '--server', 'home']);
  assert.match(applied, `Apply on home (${daemon.url})? [y/N]`);
  assert.match(
    await asked(['server', 'remove', 'work']),
    /This will be deleted:\n +work, .* which is kept nowhere else here/,
  );
});

test('on a terminal the key is asked for, and never shown', async ({ env, daemon, text, run }) => {
  let typed = false;
  const { screen, code } = await asked(['server', 'add', 'home', daemon.url], env, `${daemon.apiKey}\n`);
  typed = screen.includes('API key of home');
  assert.ok(typed);
  assert.is(code, 0, screen);
  assert.not.match(screen, daemon.apiKey);
  assert.match(text(), `api_key: ${daemon.apiKey}`);
  assert.is((await run('list')).code, 0);
});

/** `onTerminal` types only at yes-or-no questions; this types at once, and the terminal keeps it until it is read. */
async function asked(args: string[], env: NodeJS.ProcessEnv, input: string) {
  const { spawn } = await import('node:child_process');
  const { once } = await import('node:events');
  const { SNITCH } = await import('../exec/exec-process.ts');
  const command = [SNITCH, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn(
    'script',
    ['--quiet', '--return', '--echo', 'never', '--command', command, '/dev/null'],
    {
      env: {
        PATH: process.env.PATH,
        HOME: '/nonexistent',
        TERM: 'xterm',
        SHELL: '/bin/sh',
        LANG: 'C.UTF-8',
        ...env,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    const isFirst = !screen.includes('not shown');
    screen += part;
    if (isFirst && screen.includes('not shown')) child.stdin.write(input);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { screen, code };
}

test.run();
