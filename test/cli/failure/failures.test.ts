import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SEEN_FILE } from '../../../src/store/postgres/hosts/seen-file.ts';
import { closing } from '../../closing.ts';
import { newDataDir, removeDataDir } from '../../data-directory.ts';
import { unless, without } from '../../skipped.ts';
import { type FakeAnswer, fakeServer, startFakeServer } from '../fake-server.ts';
import { onTerminal } from '../on-terminal.ts';
import { type Ended, runSnitch, temporaryDirectory } from '../snitch-process.ts';

const failures = suite('failures of a command');

/** Nothing listens there: it is the discard port, which hosts no longer serve. */
const NOBODY = 'http://127.0.0.1:9';
const KEY = { SNITCH_API_KEY: `snk_${'k'.repeat(40)}` };

async function listAgainst(answer: FakeAnswer | null, ...args: string[]): Promise<Ended> {
  const server = await startFakeServer(answer);
  try {
    return await runSnitch(['list', ...args], { ...KEY, SNITCH_URL: server.url });
  } finally {
    await server.stop();
  }
}

failures('a server that is down: 5, and what to do', async () => {
  const { code, stdout, stderr } = await runSnitch(['list'], { ...KEY, SNITCH_URL: NOBODY });
  assert.is(code, 5);
  assert.is(stdout, '');
  assert.match(stderr, /^snitch: cannot reach http:\/\/127\.0\.0\.1:9: .*ECONNREFUSED/);
  assert.match(stderr, 'is `snitch serve` running?');
});

const withOpenssl = unless(without('openssl', 'version'), failures);

withOpenssl('a certificate that is not trusted: 5, and where to name its authority', async () => {
  using place = temporaryDirectory();
  const [key, certificate] = [join(place.path, 'key.pem'), join(place.path, 'certificate.pem')];
  spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '2'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
  ]);
  const options = { key: readFileSync(key), cert: readFileSync(certificate) };
  using server = closing(createSecureServer(options, (_, response) => response.end('[]')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await runSnitch(['list'], { ...KEY, SNITCH_URL: url });
  assert.is(code, 5);
  const [message, advice = ''] = stderr.split('\n');
  assert.is(message, `snitch: cannot reach ${url}: self-signed certificate`);
  assert.match(advice, 'or name its file in SSL_CERT_FILE');
});

failures(
  'a word that is no command of a group is called that, and the command that is meant is named',
  async () => {
    const env = { ...KEY, SNITCH_URL: NOBODY };
    for (const [args, told] of [
      [['webhook', 'delete', 'x'], 'unknown command "webhook delete". Here it is: snitch webhook remove'],
      [['channel', 'tset', 'x'], 'unknown command "channel tset". Did you mean test?'],
      [['key', 'rm', 'x'], 'unknown command "key rm". Here it is: snitch key delete'],
    ] as const) {
      const { code, stderr } = await runSnitch(args, env);
      assert.equal([code, stderr.split('\n')[0]], [2, `snitch: ${told}`]);
      assert.match(stderr, `see \`snitch help ${args[0]}\``);
    }
    assert.is((await runSnitch(['webhook'], env)).code, 5, 'a group alone lists');
  },
);

failures('another server than ours at the address: no missing snitch, and no wrong key', async () => {
  const answered = (status: number) => listAgainst({ status, body: '<html>' });
  const nothing = await answered(404);
  assert.equal(
    [nothing.code, nothing.stderr],
    [
      5,
      'snitch: the server answered with status 404, and not as a snitch server\nsnitch: is its address right? Set it with --url or SNITCH_URL\n',
    ],
  );
  for (const status of [401, 403]) {
    const { code, stderr } = await answered(status);
    assert.is(code, 4);
    assert.match(stderr, `answered with status ${status}, and not as a snitch server`);
    assert.match(stderr, 'the key was not checked');
    assert.not.match(stderr, '--api-key-file');
  }
});

failures(
  'an address that ends in /v1 is told as one reason why the server does not know a path',
  async () => {
    const body = { type: 'resource_not_found', error: 'There is nothing at this path.' };
    const { code, stderr } = await listAgainst({ status: 404, body });
    assert.is(code, 1);
    assert.match(stderr, 'or its address has something too much at the end, such as /v1');
  },
);

failures('a connection that breaks: the server was reached, and what was done is not known', async () => {
  await using hung = await fakeServer((request) => void request.socket.destroy());
  await using half = await fakeServer((_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"token":', () => response.socket?.destroy());
  });
  for (const { url } of [hung, half]) {
    const env = { ...KEY, SNITCH_URL: url };
    const { code, stdout, stderr } = await runSnitch(['create', 'x', '--interval', 'daily'], env);
    assert.equal([code, stdout], [5, '']);
    assert.match(stderr, `snitch: the connection to ${url} broke before the answer came: `);
    assert.match(stderr, 'it may or may not have been done');
    assert.not.match(stderr, 'cannot reach');
  }
});

failures('a server that does not answer is given up after --timeout: 5', async () => {
  const { code, stderr } = await listAgainst(null, '--timeout', '300ms');
  assert.is(code, 5);
  assert.match(stderr, 'no answer in time');
});

failures('a long answer that keeps coming is waited for, however long it takes as a whole', async () => {
  await using server = await fakeServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[');
    let parts = 0;
    const timer = setInterval(() => {
      parts += 1;
      if (parts < 8) response.write(' ');
      else {
        clearInterval(timer);
        response.end(']');
      }
    }, 300);
  });
  const env = { ...KEY, SNITCH_URL: server.url };
  const { code, stderr } = await runSnitch(['list', '--timeout', '1s'], env);
  assert.is(code, 0, stderr);
  await using stalled = await fakeServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[');
  });
  const given = await runSnitch(['list', '--timeout', '300ms'], { ...KEY, SNITCH_URL: stalled.url });
  assert.is(given.code, 5);
  assert.match(given.stderr, 'no answer in time');
});

failures(
  'a server that is too old for the command is named as that, and not something that is missing',
  async () => {
    const body = { type: 'resource_not_found', error: 'There is nothing at this path.' };
    await using server = await startFakeServer({ status: 404, body });
    const silence = [['silence', '--all', '30m'], ['silences'], ['silence', '--end', '--all']];
    const page = [['show'], ['announce', 'x'], ['delete', '-f'], ['set', '--slug', 'acme', '-t', 'x']];
    const badge = [['list'], ['add', '-t', 'x'], ['delete', 'x']].map((args) => ['badge', ...args]);
    for (const args of [
      ...silence,
      ...page.map((one) => ['status-page', ...one]),
      ...badge,
      ['log'],
      ['metrics'],
    ]) {
      const { code, stdout, stderr } = await runSnitch(args, { ...KEY, SNITCH_URL: server.url });
      assert.equal([code, stdout], [1, ''], args.join(' '));
      assert.match(stderr, 'nothing was done: it is older than this program');
    }
  },
);

failures('a redirect is not followed, and the address that it names is told', async () => {
  for (const status of [301, 302, 307, 308]) {
    const headers = { location: 'https://snitch.example.com/v1/snitches?tags=x' };
    const { code, stdout, stderr } = await listAgainst({ status, headers });
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr, `status ${status}: it redirects to https://snitch.example.com/v1/snitches\n`);
    assert.match(stderr, 'keys are never sent on');
    assert.not.match(stderr, 'tags=x');
  }
  const login = await listAgainst({ status: 302, headers: { location: '/login' } });
  assert.match(login.stderr, 'it redirects to /login\n');
});

failures('a refused key: 4', async () => {
  const body = { type: 'api_key_invalid', error: 'The API key is missing or invalid.' };
  const { code, stdout, stderr } = await listAgainst({ status: 401, body });
  assert.is(code, 4);
  assert.is(stdout, '');
  assert.match(stderr, 'The API key is missing or invalid.');
  assert.match(stderr, 'SNITCH_API_KEY_FILE');
  assert.match(stderr, 'SNITCH_ADMIN_KEY and SNITCH_ADMIN_KEY_FILE come before SNITCH_API_KEY');
});

failures('too many requests, and a wait longer than the user has time for: 1', async () => {
  const body = { type: 'rate_limited', error: 'Too many requests.' };
  const answer = { status: 429, headers: { 'retry-after': '60' }, body };
  const { code, stderr } = await listAgainst(answer, '--timeout', '59s');
  assert.is(code, 1);
  assert.is(stderr, 'snitch: Too many requests. Try again in 60 s.\n');
});

failures('a service that cannot answer now, or a proxy with nothing behind it: 5', async () => {
  const body = { type: 'service_unavailable', error: 'The service is under maintenance.' };
  const closed = await listAgainst({ status: 503, headers: { 'retry-after': '60' }, body });
  assert.equal(closed, {
    code: 5,
    stdout: '',
    stderr: 'snitch: The service is under maintenance. Try again in 60 s.\n',
  });
  const proxy = await listAgainst({ status: 502, body: '<html>Bad Gateway</html>' });
  assert.is(proxy.code, 5);
  assert.match(proxy.stderr, 'status 502');
});

failures('an inner fault of the server: 1', async () => {
  const { code, stderr } = await listAgainst({ status: 500, body: { type: 'internal_error', error: 'Oh.' } });
  assert.equal([code, stderr], [1, 'snitch: Oh.\n']);
});

failures('something else that answers there: 5', async () => {
  const { code, stderr } = await listAgainst({ status: 200, body: '<html>Welcome!</html>' });
  assert.is(code, 5);
  assert.match(stderr, 'not a snitch server');
});

failures('JSON of the wrong shape: 5, and what is wrong with it', async () => {
  const snitch = { token: 'abcdef', name: 'x', tags: null };
  for (const [body, fault] of [
    [null, 'has no list'],
    [{ type: 'x' }, 'has no list'],
    [[null], 'has no object at [0]'],
    [[snitch], 'has no list at [0].tags'],
    [[[]], 'has no object at [0]'],
    ['7', 'has no list'],
  ] as const) {
    const { code, stdout, stderr } = await listAgainst({ status: 200, body: JSON.stringify(body) });
    assert.is(code, 5, stderr);
    assert.is(stdout, '');
    assert.match(
      stderr,
      `not a snitch server, or one of another version: its answer to GET /v1/snitches ${fault}`,
    );
    assert.match(stderr, 'is its address right?');
  }
  for (const validations of [
    null,
    5,
    {},
    [null, { attribute: 1 }, { attribute: 'name', message: 'is bad' }],
  ]) {
    const body = { type: 'resource_invalid', error: 'Wrong.', validations };
    const { code, stderr } = await listAgainst({ status: 422, body });
    assert.is(code, 1);
    assert.is(stderr, Array.isArray(validations) ? 'snitch: name: is bad\n' : 'snitch: Wrong.\n');
  }
});

failures('an unknown status, outcome or state is shown as a word that cannot steer', async () => {
  const at = '2026-01-01T00:00:00.000Z';
  const steering = 'constructor\u001b[2J';
  const snitch = {
    token: 'abcdef',
    name: 'x',
    tags: [],
    notes: '',
    status: steering,
    checked_in_at: null,
    check_in_url: 'http://x/c/abcdef',
    interval: 'daily',
    alert_type: 'basic',
    alert_email: [],
    created_at: at,
  };
  const explanation = {
    status: steering,
    timezone: steering,
    period: { start: at, end: at },
    deadline: null,
    next_alert: { at, local: steering },
    reasons: [steering],
    notify: { emails: [steering], webhooks: [steering] },
  };
  const checkIn = { id: '1', at, outcome: steering, exit_status: null, message: null, duration_ms: null };
  const server = createServer(({ url = '' }, response) => {
    const body = url.endsWith('/explain')
      ? explanation
      : url.includes('/check_ins')
        ? [{ ...checkIn, source: null, output: steering }]
        : [snitch];
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const env = { ...KEY, SNITCH_URL: `http://127.0.0.1:${port}` };
    for (const args of [
      ['list'],
      ['show', 'x'],
      ['explain', 'x'],
      ['history', 'x'],
      ['history', 'x', '--with-output'],
    ]) {
      const { code, stdout, stderr } = await runSnitch(args, env);
      assert.is(code, 0, stderr);
      assert.match(stdout, 'constructor\\u001b[2J');
      assert.not.match(stdout, '\u001b');
      const { screen } = await onTerminal(args, { env: { ...env, NO_COLOR: '1' } });
      assert.not.match(screen, '\u001b');
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

failures('what a server says cannot steer the terminal', async () => {
  const body = { type: 'x', error: 'a\u001b[2Jb\u202ec\rd\u009be\nsnitch: forged' };
  const { stderr } = await listAgainst({ status: 500, body });
  assert.is(stderr, 'snitch: a\\u001b[2Jb\\u202ec\\rd\\u009be\\nsnitch: forged\n');
});

failures('no key at all: 4, and where to put one', async () => {
  const { code, stderr } = await runSnitch(['list']);
  assert.is(code, 4);
  assert.match(stderr, 'no API key for http://127.0.0.1:7676');
  assert.match(stderr, /in its data directory \(expected: [^)]+\); if several share a database/);
  assert.match(stderr, 'SNITCH_API_KEY_FILE');
});

failures('no key on a node that did not make them: which one has them', async () => {
  const dataDir = newDataDir();
  try {
    writeFileSync(join(dataDir, SEEN_FILE), '{}');
    const { code, stderr } = await runSnitch(['list'], { SNITCH_DATA_DIR: dataDir });
    assert.is(code, 4);
    assert.match(stderr, 'by the node that starts first: they are in credentials.yaml in its data directory');
    assert.match(stderr, `Copy that file to ${join(dataDir, 'credentials.yaml')}`);
  } finally {
    removeDataDir(dataDir);
  }
});

failures('what cannot be understood: 2', async () => {
  for (const args of [
    ['lst'],
    ['--json', 'list'],
    ['list', '--nonsense'],
    ['list', '-o', 'xml'],
    ['list', 'superfluous'],
    ['list', '--status', 'sick'],
    ['show'],
    ['history', 'x', '-n', '0'],
    ['list', '--timeout', 'soon'],
    ['list', '--url', 'ftp://example.com'],
    ['list', '--url', 'http://user:secret@example.com'],
  ]) {
    const { code, stdout, stderr } = await runSnitch(args, KEY);
    assert.is(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.is(stdout, '');
    assert.match(stderr, /^snitch: /);
    assert.not.match(stderr, 'secret');
  }
  assert.match((await runSnitch(['lst'])).stderr, 'Did you mean list');
  assert.match((await runSnitch(['list', '--jsno'], KEY)).stderr, 'Did you mean --json');
});

failures('the server and its key are found: flag, environment, cli.yaml, credentials.yaml', async () => {
  const server = await startFakeServer({ status: 200, body: [] });
  const { path, remove } = temporaryDirectory();
  const keySent = () => {
    const { authorization = '' } = server.requests.at(-1)?.headers ?? {};
    return Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().replace(/:$/, '');
  };
  const write = (name: string, text: string) => {
    mkdirSync(join(path, 'snitch'), { recursive: true });
    writeFileSync(join(path, name), text, { mode: 0o600 });
  };
  try {
    write('credentials.yaml', `url: ${server.url}\nadmin_key: admin-1\napi_key: credentials-1\n`);
    const env: NodeJS.ProcessEnv = { SNITCH_DATA_DIR: path };
    assert.is((await runSnitch(['list'], env)).code, 0);
    assert.is(keySent(), 'credentials-1');
    assert.is((await runSnitch(['case', 'list'], env)).code, 0);
    assert.is(keySent(), 'admin-1');
    write('snitch/cli.yaml', `# mine\nurl: "${server.url}"\napi_key: 'cli-1' # comment\n`);
    env.XDG_CONFIG_HOME = path;
    assert.is((await runSnitch(['list'], env)).code, 0);
    assert.is(keySent(), 'cli-1');
    write('key', 'file-1\n');
    await runSnitch(['list'], { ...env, SNITCH_API_KEY_FILE: join(path, 'key') });
    assert.is(keySent(), 'file-1');
    await runSnitch(['list'], { ...env, SNITCH_API_KEY: 'env-1', SNITCH_API_KEY_FILE: join(path, 'key') });
    assert.is(keySent(), 'env-1');
    await runSnitch(['list', '--api-key-file', join(path, 'key')], { ...env, SNITCH_API_KEY: 'env-1' });
    assert.is(keySent(), 'file-1');
    chmodSync(join(path, 'snitch/cli.yaml'), 0o600);
    write('snitch/cli.yaml', 'url: http://x\n  nested: secret\n');
    const broken = await runSnitch(['list'], env);
    assert.is(broken.code, 1);
    assert.match(broken.stderr, 'line 2');
    assert.not.match(broken.stderr, 'secret');
  } finally {
    await server.stop();
    remove();
  }
});

failures('a key from a file is never sent to another server than its own', async () => {
  const server = await startFakeServer({ status: 200, body: [] });
  const { path, remove } = temporaryDirectory();
  try {
    writeFileSync(join(path, 'credentials.yaml'), `url: ${NOBODY}\nadmin_key: a\napi_key: b\n`);
    const { code, stderr } = await runSnitch(['list', '--url', server.url], { SNITCH_DATA_DIR: path });
    assert.is(code, 4);
    assert.match(stderr, `has a key for ${NOBODY} only`);
    assert.is(server.requests.length, 0);
  } finally {
    await server.stop();
    remove();
  }
});

failures.run();
