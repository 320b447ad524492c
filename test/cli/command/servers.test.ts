/** Which server a command calls, and with which key: no server ever sees the key of another. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseCliYaml } from '../../../src/cli/command/plain-yaml.ts';
import { type FakeServer, startFakeServer } from '../fake-server.ts';
import { runSnitch, temporaryDirectory } from '../snitch-process.ts';

interface Context {
  home: FakeServer;
  work: FakeServer;
  path: string;
  env: NodeJS.ProcessEnv;
  write(text: string): void;
  remove(): void;
}

const test = suite<Context>('several servers');

test.before.each(async (context) => {
  context.home = await startFakeServer({ status: 200, headers: { snitch: '1' }, body: [] });
  context.work = await startFakeServer({ status: 200, headers: { snitch: '1' }, body: [] });
  const { path, remove } = temporaryDirectory();
  mkdirSync(join(path, 'snitch'));
  context.path = path;
  context.remove = remove;
  context.env = { XDG_CONFIG_HOME: path, SNITCH_DATA_DIR: join(path, 'none') };
  context.write = (text) => writeFileSync(join(path, 'snitch/cli.yaml'), text, { mode: 0o600 });
});

test.after.each(async ({ home, work, remove }) => {
  await home.stop();
  await work.stop();
  remove();
});

/** The keys that were sent since the last call. */
function keysSent({ requests }: FakeServer): string[] {
  return requests.splice(0).map(({ headers: { authorization = '' } }) => {
    const text = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    return text.replace(/:$/, '');
  });
}

function named({ home, work }: Context, first = ''): string {
  return `${first}servers:
  # the one in the cellar
  home:
    url: ${home.url}
    api_key: key-of-home
  "work":   # elsewhere
      url: '${work.url}/'
      api_key_file: work.key
`;
}

test('a setting that does nothing is told of, and one that is there twice, without quoting a value', () => {
  const text =
    'url: http://a\napi_kye: snk_1\nserver: x\nurl: http://b\nservers:\n  x:\n    url: http://c\n    token: snk_2\n    snk_3: x\nservers:\n  y:\n    url: http://d\n';
  assert.equal(parseCliYaml(text).oddities, [
    'line 2: "api_kye" is no setting, and does nothing. Did you mean api_key?',
    'line 4 sets url once more: this line counts, not the one before',
    'line 8: "token" is no setting of a server, and does nothing',
    'line 9: this is no setting of a server, and does nothing',
    'line 10 begins servers once more: put all of them below one line',
  ]);
  assert.is(parseCliYaml(text).values.url, 'http://b', 'what worked goes on to work');
  assert.equal(
    parseCliYaml('url: http://a\ncheck_in_base:\nservers:\n  x:\n    admin_key_file: y\n').oddities,
    [],
  );
});

test('the file is read as people write it, and a fault names its line without quoting it', () => {
  const text = `\ufeff# mine\r
server: home\r
servers: # all\r
\r
    home:\r
      # its own\r
      url: http://a   # here\r
      api_key: 'k#1'\r
\r
    'b-2.x':\r
        url: "http://b"\r
timeout: 3\r
`;
  const { values, servers } = parseCliYaml(text);
  assert.equal(values, { server: 'home', timeout: '3' });
  assert.equal(
    [...servers],
    [
      ['home', { url: 'http://a', api_key: 'k#1' }],
      ['b-2.x', { url: 'http://b' }],
    ],
  );
  assert.is(parseCliYaml('servers: {}\nurl: http://x').servers.size, 0);
  assert.equal(parseCliYaml('servers:\nurl: http://x').values, { url: 'http://x' });
  for (const bad of [
    'servers:\n  home: secret\n',
    'servers:\n  home:\n    secret\n',
    'servers:\n  home:\n    url: a\n      deeper: secret\n',
    'servers:\n  home:\n    url: a\n   b:\n    url: secret\n',
    'servers:\n  a b:\n    url: a\n',
    'servers:\n  unnamed:\n    url: a\n',
    'servers:\n\thome:\n',
    'servers:\n  a:\n    url: {a: b}\n',
  ]) {
    assert.throws(
      () => parseCliYaml(bad),
      (error: Error) => /line [234]/.test(error.message) && !error.message.includes('secret'),
      bad,
    );
  }
  assert.throws(() => parseCliYaml('servers:\n  a:\n    url: x\n  a:\n    url: y\n'), /line 4/);
  assert.throws(() => parseCliYaml('servers:\n  a:\n    url: x\n    url: y\n'), /line 4/);
  assert.throws(() => parseCliYaml('servers: {a: {url: x}}\n'), /line 1/);
});

test('a server is chosen by option, before or behind the command, by the environment and as the default', async (context) => {
  const { home, work, env, path, write } = context;
  writeFileSync(join(path, 'snitch/work.key'), 'key-of-work\n', { mode: 0o600 });
  write(named(context, 'server: home\n'));
  const cases: [string[], NodeJS.ProcessEnv, 'home' | 'work'][] = [
    [['list'], {}, 'home'],
    [['--server', 'work', 'list'], {}, 'work'],
    [['--server=work', 'list', '-q'], {}, 'work'],
    [['list', '--server', 'work'], {}, 'work'],
    [['--server', 'work', 'key'], {}, 'work'],
    [['--server', 'work', 'key', 'list'], {}, 'work'],
    [['list'], { SNITCH_SERVER: 'work' }, 'work'],
    [['--server', 'home', 'list'], { SNITCH_SERVER: 'work' }, 'home'],
    [['--server', 'work', 'list'], { SNITCH_URL: home.url, SNITCH_API_KEY: 'key-of-home' }, 'work'],
    [['list'], { SNITCH_URL: home.url, SNITCH_SERVER: 'work' }, 'home'],
    [['list', '--url', work.url], {}, 'work'],
  ];
  for (const [args, more, which] of cases) {
    const { code, stderr } = await runSnitch(args, { ...env, ...more });
    assert.is(code, 0, `${args.join(' ')}: ${stderr}`);
    const sent = { home: keysSent(home), work: keysSent(work) };
    assert.equal(sent, { home: [], work: [], [which]: [`key-of-${which}`] }, args.join(' '));
  }
});

test('a name that nobody knows: the nearest one, and where they come from', async (context) => {
  const { home, work, env, write, path } = context;
  write(named(context, 'server: home\n'));
  const typo = await runSnitch(['--server', 'hoem', 'list'], env);
  assert.is(typo.code, 3);
  assert.match(typo.stderr, 'there is no server "hoem"');
  assert.match(typo.stderr, 'did you mean home?');
  assert.match(typo.stderr, join(path, 'snitch/cli.yaml'));
  assert.match(
    (await runSnitch(['list'], { ...env, SNITCH_SERVER: 'x' })).stderr,
    'SNITCH_SERVER: there is no server "x"',
  );
  for (const address of ['http://127.0.0.1:7676', 'https://u:s3cr3t@host', 'unix:/run/snitch.sock']) {
    const { code, stderr } = await runSnitch(['list'], { ...env, SNITCH_SERVER: address });
    assert.is(code, 2);
    assert.is(
      stderr,
      'snitch: SNITCH_SERVER: is the name of a server, not an address: use --url or SNITCH_URL\n',
    );
  }
  assert.is((await runSnitch(['list', '--url', home.url, '--server', 'home'], env)).code, 2);
  const long = await runSnitch(['list', '--url', `unix:/run/${'p'.repeat(103)}`], env);
  assert.is(long.code, 2);
  assert.match(long.stderr, '--url: the path of a socket has at most 107 bytes');
  assert.match((await runSnitch(['--server', 'home', 'version'], env)).stderr, 'asks no server');
  assert.is((await runSnitch(['--server', 'home'], env)).code, 2);
  write(named(context));
  const undecided = await runSnitch(['list'], env);
  assert.is(undecided.code, 2);
  assert.match(undecided.stderr, 'but no default: home, work');
  write('');
  assert.match((await runSnitch(['--server', 'home', 'list'], env)).stderr, 'snitch server add home URL');
  assert.equal([...keysSent(home), ...keysSent(work)], []);
});

test('no server gets to see the key of another', async (context) => {
  const { home, work, env, write, path } = context;
  const elsewhere = await startFakeServer({ status: 200, body: [] });
  try {
    write(named(context, 'server: home\n'));
    const other = join(path, 'other.key');
    writeFileSync(other, 'some-key\n', { mode: 0o600 });
    const refused: [string[], NodeJS.ProcessEnv, string][] = [
      [['list', '--url', elsewhere.url], {}, 'no API key for'],
      [['list'], { SNITCH_URL: elsewhere.url }, 'no API key for'],
      // The file of its key is missing.
      [['--server', 'work', 'list'], { SNITCH_API_KEY: 'some-key' }, 'cannot read the key'],
      [
        ['--server', 'work', 'list'],
        { SNITCH_URL: home.url, SNITCH_API_KEY: 'some-key' },
        'cannot read the key',
      ],
      [['list'], { SNITCH_API_KEY: 'some-key' }, 'SNITCH_API_KEY does not say'],
      [['list'], { SNITCH_API_KEY_FILE: other, SNITCH_SERVER: 'work' }, 'SNITCH_API_KEY_FILE does not say'],
      [['case', 'list'], { SNITCH_ADMIN_KEY: 'some-key' }, 'SNITCH_ADMIN_KEY does not say'],
      [['--server', 'work', 'case', 'list'], { SNITCH_ADMIN_KEY: 'some-key' }, 'no admin key for work'],
    ];
    for (const [args, more, words] of refused) {
      const { code, stderr } = await runSnitch(args, { ...env, ...more });
      assert.is(code, 4, `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, words);
      assert.not.match(stderr, 'some-key');
    }
    assert.equal([home, work, elsewhere].flatMap(keysSent), []);
    await runSnitch(['--server', 'work', 'list', '--api-key-file', other], env);
    assert.equal(keysSent(work), ['some-key']);
    await runSnitch(['list'], { ...env, SNITCH_URL: work.url, SNITCH_API_KEY: 'some-key' });
    assert.equal(keysSent(work), ['some-key']);
    // Two cases on one server: only the default decides which one is meant.
    const twice = (first: string) =>
      write(
        `${first}servers:\n  a:\n    url: ${home.url}\n    api_key: key-a\n  b:\n    url: ${home.url}\n    api_key: key-b\n`,
      );
    twice('server: b\n');
    await runSnitch(['list', '--url', home.url], env);
    assert.equal(keysSent(home), ['key-b']);
    twice('');
    assert.match((await runSnitch(['list', '--url', home.url], env)).stderr, 'several servers at');
    assert.equal(keysSent(home), []);
  } finally {
    await elsewhere.stop();
  }
});

test('a redirect takes no key elsewhere', async ({ home, work, env, write }) => {
  const turned = await startFakeServer({ status: 302, headers: { location: `${work.url}/v1/snitches` } });
  try {
    write(`servers:\n  home:\n    url: ${turned.url}\n    api_key: key-of-home\n`);
    assert.is.not((await runSnitch(['list'], env)).code, 0);
    assert.equal(keysSent(turned), ['key-of-home']);
    assert.equal([...keysSent(work), ...keysSent(home)], []);
  } finally {
    await turned.stop();
  }
});

test('a key file is found beside the file that names it, or in the home directory', async (context) => {
  const { home, env, write, path } = context;
  writeFileSync(join(path, 'snitch/key'), 'key-of-home\n', { mode: 0o600 });
  for (const file of ['key', './key', '~/snitch/key', join(path, 'snitch/key')]) {
    for (const text of [
      `url: ${home.url}\napi_key_file: ${file}\n`,
      `servers:\n  home:\n    url: ${home.url}\n    api_key_file: ${file}\n`,
    ]) {
      write(text);
      const { stderr } = await runSnitch(['list'], { ...env, HOME: path });
      assert.equal(keysSent(home), ['key-of-home'], `${text}${stderr}`);
    }
  }
});

test('an empty address is none, and no other server is asked in its place', async ({
  home,
  work,
  env,
  write,
}) => {
  write(`url: ${home.url}\napi_key: key-of-home\n`);
  for (const own of [{}, { SNITCH_URL: work.url, SNITCH_API_KEY: 'from-env' }]) {
    const { code, stdout, stderr } = await runSnitch(['list', '--url', ''], { ...env, ...own });
    assert.equal([code, stdout], [2, '']);
    assert.match(stderr, "--url: the server's address must be");
  }
  assert.equal([...keysSent(work), ...keysSent(home)], []);
});

test('a file with one address and one key means what it always did, also beside names', async (context) => {
  const { home, work, env, write } = context;
  const flat = `url: ${home.url}\napi_key: key-of-home\n`;
  for (const more of ['', `servers:\n  work:\n    url: ${work.url}\n    api_key: key-of-work\n`]) {
    write(`${flat}${more}`);
    await runSnitch(['list'], env);
    await runSnitch(['list'], { ...env, SNITCH_API_KEY: 'from-env' });
    assert.equal(keysSent(home), ['key-of-home', 'from-env'], more);
  }
  await runSnitch(['--server', 'work', 'list'], env);
  await runSnitch(['--server', 'unnamed', 'list'], env);
  await runSnitch(['list'], { ...env, SNITCH_URL: work.url });
  assert.equal([keysSent(work), keysSent(home)], [['key-of-work', 'key-of-work'], ['key-of-home']]);
  // A single server needs no default, and a key in the environment can only be meant for it.
  write(`servers:\n  work:\n    url: ${work.url}\n    api_key: key-of-work\n`);
  await runSnitch(['list'], env);
  await runSnitch(['list'], { ...env, SNITCH_API_KEY: 'from-env' });
  assert.equal(keysSent(work), ['key-of-work', 'from-env']);
});

test('check-ins by token go to the server that is named, at the address that it has for them', async (context) => {
  const { home, work, env, write, path } = context;
  const token = 'abcdefghijklmnopqrstuvwxyz';
  const ways = { ...env, SNITCH_SPOOL_DIR: join(path, 'spool') };
  write(named(context, 'server: home\n').replace('api_key_file: work.key', `check_in_base: ${work.url}/in`));
  await runSnitch(['check-in', token], ways);
  await runSnitch(['--server', 'work', 'check-in', token], ways);
  await runSnitch(['exec', token, '--', 'true'], { ...ways, SNITCH_SERVER: 'work' });
  await runSnitch(['--server', 'work', 'exec', token, '--', 'true', '--server', 'home'], ways);
  const paths = ({ requests }: FakeServer) => requests.map(({ url = '' }) => url.replace(/\?.*/, ''));
  assert.equal(paths(home), [`/c/${token}`]);
  assert.equal(paths(work), [
    `/in/${token}`,
    ...[1, 2].flatMap(() => [`/in/${token}/start`, `/in/${token}/0`]),
  ]);
  // Without a home directory there is only the environment.
  const bare = await runSnitch(['list'], {
    HOME: '',
    SNITCH_URL: home.url,
    SNITCH_API_KEY: 'k',
    XDG_CONFIG_HOME: path,
  });
  assert.is(bare.code, 0, bare.stderr);
});

test('a base that another server has is asked by token, and is never sent the key', async (context) => {
  const { home, work, env, write, path } = context;
  const token = 'abcdefghijklmnopqrstuvwxyz';
  const ways = { ...env, SNITCH_SPOOL_DIR: join(path, 'spool') };
  const file = (name: string, base: string) =>
    `servers:\n  ${name}:\n    url: ${work.url}\n    api_key: key-of-work\n    check_in_base: ${base}\n`;
  write(file('office', `${home.url}/in`));
  await runSnitch(['check-in', token], ways);
  await runSnitch(['exec', token, '--', 'true'], ways);
  await runSnitch(['list'], ways);
  const paths = home.requests.map(({ url = '' }) => url.replace(/\?.*/, ''));
  assert.equal(paths, [`/in/${token}`, `/in/${token}/start`, `/in/${token}/0`]);
  assert.equal([...new Set(keysSent(home))], [''], 'the token is the secret there');
  assert.equal(keysSent(work), ['key-of-work']);
});

test.run();
