// Time limit: 240 s.
/** Channels in a snitch file: their secrets are in files beside it, and never in what is printed. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireChannel } from '../../../src/api/wire.ts';
import { startReceiver } from '../../delivery/receiver.ts';
import { runSnitchWith } from '../piped.ts';
import { type Commands, withCase } from '../with-daemon.ts';

interface Context extends Commands {
  other: Commands;
  file: string;
  /** Writes a file beside that of the snitches, or below it. */
  put(name: string, text: string, mode?: number): void;
  channels(): Promise<WireChannel[]>;
}

const test = suite<Context>('channels in a file');

test.before.each(async (context) => {
  const [one, other] = await Promise.all([withCase(), withCase()]);
  const folder = join(one.daemon.dataDir, 'file');
  mkdirSync(folder);
  Object.assign(context, one, {
    other,
    file: join(folder, 'case.yaml'),
    put: (name: string, text: string, mode = 0o600) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), mode);
    },
    channels: () => one.json<WireChannel[]>('channel', 'list'),
  });
});
test.after.each(async (context) => {
  await Promise.all([context.end(), context.other.end()]);
});

const HOOK = 'https://hooks.slack.com/services/T0/B0/s3cr3ts3cr3t';

const FOUR = `owner: web
channels:
  - kind: alertmanager
    settings: {url: 'http://127.0.0.1:9093'}
    events: [missing]
  - kind: ntfy
    name: ops
    settings: {server: 'http://127.0.0.1:9', topic: ops}
    tags: [db, web]
    secret_file: secrets/ntfy
  - kind: pushover
    secret_file: {token: secrets/app, user: secrets/user}
  - kind: slack
    name: 'odd: #1 \\u202e'
    secret_file: secrets/hook
snitches: []
`;

function putSecrets({ put }: Context): void {
  put('secrets/ntfy', 'tk_s3cr3ttoken\n');
  put('secrets/app', 'a'.repeat(30));
  put('secrets/user', 'u'.repeat(30));
  put('secrets/hook', `${HOOK}\n`);
}

test('an apply makes the channels of a file, and an export is applied again without a change', async (context) => {
  const { run, put, file, other, channels } = context;
  putSecrets(context);
  put('case.yaml', FOUR);
  const diff = await run('diff', '-f', file);
  assert.match(diff.stdout, '+ create channel ops (ntfy)\n    token: is read from secrets/ntfy\n');
  assert.match(diff.stderr, '4 channels to create');
  const applied = await run('apply', '-f', file, '--yes');
  assert.is(applied.code, 0, applied.stderr);
  for (const { stdout, stderr } of [diff, applied]) assert.not.match(stdout + stderr, /s3cr3t|aaaaa|uuuuu/);
  const ops = (await channels()).find(({ name }) => name === 'ops');
  assert.equal(ops?.settings, { server: 'http://127.0.0.1:9', topic: 'ops', token: '***' });
  assert.equal(ops?.tags, ['db', 'web']);

  const exported = await run('export');
  assert.is(exported.code, 0, exported.stderr);
  assert.not.match(exported.stdout, /s3cr3t|aaaaa|uuuuu|\*\*\*/);
  assert.match(
    exported.stdout,
    /- kind: pushover\n {4}name: pushover\n {4}secret_file:\n {6}token: null\n {6}user: null\n/,
  );
  put('case.yaml', exported.stdout);
  const again = await run('apply', '-f', file, '--yes');
  assert.equal(again, { code: 0, stdout: '', stderr: '0 unchanged, 4 channels unchanged\n' });
  assert.is((await run('export')).stdout, exported.stdout);
  assert.is((await runSnitchWith(exported.stdout, ['diff', '-f', '-', '--exit-code'], context.env)).code, 0);

  // Elsewhere the secrets are missing, which is reported before anything is changed.
  put('case.yaml', `${exported.stdout.replace('snitches: []', 'snitches: [{name: new, interval: daily}]')}`);
  const refused = await other.run('apply', '-f', file, '--yes');
  assert.is(refused.code, 1);
  assert.match(
    refused.stderr,
    /case\.yaml:\d+: channel pushover \(pushover\): secret_file: its token is missing, .*write `secret_file: \{token: FILE\}`/,
  );
  assert.match(refused.stderr, /pushover\): secret_file: its user is missing/);
  assert.match(
    refused.stderr,
    /case\.yaml:\d+: channel odd: #1 .* \(slack\): secret_file: its url is missing/,
  );
  assert.equal(await other.listed(), []);
  assert.equal(await other.json('channel', 'list'), []);
  put('case.yaml', FOUR);
  assert.is((await other.run('apply', '-f', file, '--yes')).code, 0);
  assert.is((await other.run('export')).stdout, exported.stdout);
});

test('a channel is what its entry says; secrets stay where none is named, and go only where they went', async (context) => {
  const { run, put, file, channels } = context;
  using receiver = await startReceiver();
  const server = `http://127.0.0.1:${receiver.port}`;
  put('token', 'tk_s3cr3tone');
  const entry = (more: string) =>
    `channels:\n  - {kind: ntfy, name: ops, settings: {server: '${server}', topic: ops}, ${more}}\nsnitches: []\n`;
  put('case.yaml', entry('tags: [db], events: [missing], secret_file: token'));
  assert.is((await run('apply', '-f', file, '--yes')).code, 0);
  put('case.yaml', entry('tags: [web]'));
  const diff = await run('diff', '-f', file, '--exit-code');
  assert.is(diff.code, 1);
  assert.is(
    diff.stdout,
    [
      '~ change channel ops (ntfy)',
      '    events: ["missing"] -> ["missing","errored","reporting","paused"]',
      '    tags: ["db"] -> ["web"]',
      '',
    ].join('\n'),
  );
  assert.is((await run('apply', '-f', file, '--yes')).code, 0);
  assert.is((await run('channel', 'test', 'ops')).code, 0);
  assert.is(receiver.received.at(-1)?.headers.authorization, 'Bearer tk_s3cr3tone');
  // A secret from a file may have changed, which only the server could tell.
  put('token', 'tk_s3cr3ttwo');
  put('case.yaml', entry('tags: [web], secret_file: token'));
  const sent = await run('diff', '-f', file, '--exit-code');
  assert.is(sent.code, 0);
  assert.match(sent.stdout, 'token: is read from token and sent; whether it differs is unknown');
  assert.is((await run('apply', '-f', file, '--yes')).code, 0);
  assert.is((await run('channel', 'test', 'ops')).code, 0);
  assert.is(receiver.received.at(-1)?.headers.authorization, 'Bearer tk_s3cr3ttwo');
  put('case.yaml', entry('tags: [web]').replace(server, 'http://127.0.0.1:1'));
  const moved = await run('apply', '-f', file, '--yes');
  assert.is(moved.code, 1);
  assert.match(moved.stderr, /settings: token must be given again, because it would go to another server/);
  assert.is((await channels())[0]?.settings.server, server);
});

test('--prune deletes channels only where the file has channels, and counts them', async (context) => {
  const { run, json, put, file, channels } = context;
  await json('channel', 'add', 'ntfy', 'old');
  await json('channel', 'add', 'ntfy', 'kept', '--name', 'kept');
  put('case.yaml', 'owner: web\nsnitches: []\n');
  assert.equal(await run('apply', '-f', file, '--yes', '--prune'), {
    code: 0,
    stdout: '',
    stderr: '0 unchanged\n',
  });
  put(
    'case.yaml',
    'owner: web\nchannels: [{kind: ntfy, name: kept, settings: {topic: kept}}]\nsnitches: []\n',
  );
  const left = await run('diff', '-f', file);
  assert.match(left.stdout, '! not in the file, and kept: channel ntfy (ntfy)');
  const unsure = await run('apply', '-f', file, '--yes', '--prune');
  assert.is(unsure.code, 2);
  assert.match(unsure.stderr, '--prune would delete 1 channel: confirm it with --confirm=1');
  assert.is((await run('apply', '-f', file, '--yes', '--prune', '--confirm=1')).code, 0);
  assert.equal(
    (await channels()).map(({ name }) => name),
    ['kept'],
  );
});

test('an impossible change is reported with its line before anything is changed', async (context) => {
  const { run, put, file, channels } = context;
  await context.json('channel', 'add', 'ntfy', 'a', '--name', 'twin');
  await context.json('channel', 'add', 'ntfy', 'b', '--name', 'twin');
  put('long', 'x'.repeat(5_000));
  const files: [string, RegExp][][] = [
    [
      [`{kind: slack, settings: {url: '${HOOK}'}}`, /:2: channel slack \(slack\): settings: url is a secret/],
      [
        '{kind: slack, secret_file: missing}',
        /:3: .*secret_file: cannot read the secret from .*missing: ENOENT/,
      ],
      ['{kind: slack, name: b, secret_file: long}', /:4: .*secret_file: .*too long for a secret/],
      ['{kind: pushover, secret_file: long}', /say which setting of pushover is in the file/],
      ['{kind: ntfy, secret_file: {topic: long}}', /ntfy has no secret "topic": there is server, token/],
      ['{kind: slak}', /kind: there is no "slak".*did you mean slack\?/i],
      ['{kind: webhook}', /webhooks are not kept in a file/],
      [
        '{kind: ntfy, name: twin, settings: {topic: a}}',
        /the case has 2 of this kind and name, and the file 1/,
      ],
      [
        "{kind: alertmanager, settings: {url: 'http://u:***@am:9093'}}",
        /url has \*\*\* in place of its password/,
      ],
    ],
    [['{kind: ntfy, settings: {topic: a}, colour: red}', /channels\[0\]: colour: there is no such field/]],
    [
      [
        '{kind: ntfy, settings: {topic: a b}}',
        /:2: channel ntfy \(ntfy\): settings: topic must be at most 64/,
      ],
      ['{kind: ntfy, name: b, settings: {topic: a}, events: [failed]}', /:3: .*events: must be a list/],
      ['{kind: ntfy, name: c, settings: {topic: a}, after: soon}', /:4: .*after: /],
    ],
  ];
  const before = await channels();
  for (const wrong of files) {
    const entries = wrong.map(([entry]) => `  - ${entry}\n`).join('');
    // The server's faults come only when nothing else is wrong, so the twins must be right by then.
    const twins =
      '  - {kind: ntfy, name: twin, settings: {topic: a}}\n  - {kind: ntfy, name: twin, settings: {topic: b}}\n';
    const isTwin = entries.includes('twin');
    put('case.yaml', `channels:\n${entries}${isTwin ? '' : twins}snitches: [{name: n, interval: daily}]\n`);
    const { code, stdout, stderr } = await run('apply', '-f', file, '--yes');
    assert.is(code, 1, `${entries}: ${stdout}${stderr}`);
    for (const [, words] of wrong) assert.match(stderr, words);
    assert.not.match(stderr, /s3cr3t|xxxxx/);
  }
  assert.equal(await channels(), before);
  assert.equal(await context.listed(), []);
});

test('two of the same kind and name come back as they were', async ({ json, run, other, put, file }) => {
  await json('channel', 'add', 'ntfy', 'b', '--name', 'twin');
  await json('channel', 'add', 'ntfy', 'a', '--name', 'twin');
  const { stdout } = await run('export');
  put('case.yaml', stdout);
  assert.match((await run('apply', '-f', file, '--yes')).stderr, '2 channels unchanged');
  assert.is((await other.run('apply', '-f', file, '--yes')).code, 0);
  assert.is((await other.run('export')).stdout, stdout);
});

test('a secret that every user of the host can read is used, with a warning', async ({ run, put, file }) => {
  chmodSync(dirname(dirname(file)), 0o755);
  chmodSync(dirname(file), 0o755);
  put('token', 'tk_s3cr3t', 0o644);
  put('case.yaml', 'channels: [{kind: ntfy, settings: {topic: a}, secret_file: token}]\nsnitches: []\n');
  const { code, stderr } = await run('apply', '-f', file, '--yes');
  assert.is(code, 0, stderr);
  assert.match(stderr, /every user of this host can read .*token, which holds a secret: chmod 600/);
  assert.not.match(stderr, 's3cr3t');
});

test.run();
