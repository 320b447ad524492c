import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireChannel, WireDelivery } from '../../../src/api/wire.ts';
import { startReceiver } from '../../delivery/receiver.ts';
import { temporaryDirectory } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('channel commands');
let on: Commands;
const directory = temporaryDirectory();

/** A file with a secret in it. */
function secretFile(name: string, text: string): string {
  const path = join(directory.path, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

test.before(async () => {
  on = await withCase();
});
test.after(async () => {
  await on.end();
  directory[Symbol.dispose]();
});

test('an ntfy channel is added by its address, tested, listed, edited and deleted', async () => {
  using server = await startReceiver();
  const address = `http://127.0.0.1:${server.port}/ops`;
  const made = await on.json<WireChannel>('channel', 'add', 'ntfy', address, '--tag', 'db', '--tag', 'web');
  assert.equal(made.settings, { server: `http://127.0.0.1:${server.port}`, topic: 'ops' });
  assert.equal(made.tags, ['db', 'web']);
  const tested = await on.run('channel', 'test', 'ntfy');
  assert.is(tested.code, 0, tested.stderr);
  assert.match(tested.stderr, 'ntfy: delivered');
  assert.is(JSON.parse(server.received[0]?.body ?? '{}').topic, 'ops');
  server.behaviour = (response) => response.writeHead(403).end('{"code":40301}');
  const refused = await on.run('channel', 'test', 'ntfy');
  assert.is(refused.code, 1);
  assert.match(refused.stderr, 'ntfy: answered 403 Forbidden');
  assert.match((await on.run('channel')).stdout, /NAME +KIND[\s\S]*ntfy +ntfy[\s\S]*403/);
  const edited = await on.json<WireChannel>(
    'channel',
    'edit',
    'ntfy',
    '--name',
    'night',
    '--all-tags',
    '--event',
    'errored',
  );
  assert.equal([edited.name, edited.tags, edited.events], ['night', [], ['errored']]);
  assert.is((await on.run('channel', 'delete', 'night')).code, 2, 'it asks where there is a terminal');
  assert.is((await on.run('channel', 'delete', 'night', '--force')).code, 0);
  assert.is((await on.run('channel', 'test', 'night')).code, 3);
});

test('secrets come from files, and never from the command line', async () => {
  const hook = secretFile('hook', 'https://hooks.slack.com/services/T0/B0/s3cr3ts3cr3t\n');
  const slack = await on.json<WireChannel>('channel', 'add', 'slack', '--secret-file', hook);
  assert.equal(slack.settings, { url: '***' });
  const [app, user] = [secretFile('app', 'a'.repeat(30)), secretFile('user', 'u'.repeat(30))];
  const both = ['--secret-file', `token=${app}`, '--secret-file', `user=${user}`];
  assert.is((await on.json<WireChannel>('channel', 'add', 'pushover', ...both)).kind, 'pushover');
  const wrong: [string[], RegExp][] = [
    [['slack', 'https://hooks.slack.com/services/T0/B0/x'], /address of a slack channel is a secret/],
    [['slack'], /url is missing.*--secret-file url=FILE/],
    [['pagerduty', '--set', 'routing_key=abc'], /routing_key is a secret/],
    [['pushover', '--secret-file', app], /write NAME=FILE/],
    [['ntfy', 'https://ntfy.sh/'], /ends with its topic/],
    [['ntfy', '--set', 'colour=red'], /ntfy has the settings server, topic, token/],
    [['alertmanager', 'http://user:pass@am:9093'], /has a password/],
    [
      ['gotify', 'https://g', '--secret-file', join(directory.path, 'none')],
      /cannot read the secret.*ENOENT/,
    ],
    [['gotify', 'https://g', '--secret-file', secretFile('empty', '\n')], /is empty/],
    [['icq'], /Allowed choices/],
    [['ntfy', 'x', '--event', 'failed'], /--events are of/],
  ];
  for (const [args, words] of wrong) {
    const { code, stderr } = await on.run('channel', 'add', ...args);
    assert.is(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, words);
    assert.not.match(stderr, /s3cr3t/);
  }
});

test('a name that several have names none of them, and webhooks are changed elsewhere', async () => {
  for (const topic of ['one', 'two']) {
    await on.json('channel', 'add', 'ntfy', topic, '--name', 'twin');
  }
  const twice = await on.run('channel', 'test', 'twin');
  assert.is(twice.code, 2);
  assert.match(twice.stderr, /2 channels have the name "twin"/);
  await on.run('webhook', 'add', 'http://127.0.0.1:9/hook');
  const hook = await on.run('channel', 'delete', 'http://127.0.0.1:9/hook', '--force');
  assert.match(hook.stderr, 'removed by `snitch webhook remove`');
  const sent = await on.json<WireDelivery[]>('deliveries', 'list');
  assert.ok(Array.isArray(sent));
});

test.run();
