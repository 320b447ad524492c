/** Pipes, devices and directories where a command expects a file: it ends, and says why. Time limit: 120 s. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite<Commands & { directory: string }>('files that are none');

test.before.each(async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'snitch-strange-'));
  spawnSync('mkfifo', [join(directory, 'pipe')]);
  Object.assign(context, await withCase(), { directory });
});
test.after.each(async ({ end, directory }) => {
  rmSync(directory, { recursive: true });
  await end();
});

const fileWith = (secret: string) =>
  `channels: [{kind: gotify, name: ops, settings: {server: 'http://127.0.0.1:9'}, secret_file: ${secret}}]\nsnitches: []\n`;

test('a pipe that nobody writes into holds up no command', async ({ directory, daemon, env }) => {
  const pipe = join(directory, 'pipe');
  const file = join(directory, 'web.yaml');
  writeFileSync(file, fileWith(pipe));
  const home = join(directory, 'home');
  mkdirSync(join(home, '.config/snitch'), { recursive: true });
  spawnSync('mkfifo', [join(home, '.config/snitch/cli.yaml')]);
  const silent = 'it is a pipe, and nobody writes into it';
  const away = { HOME: home, XDG_CONFIG_HOME: '', SNITCH_URL: daemon.url };
  const each: [args: string[], env: Record<string, string>, told: string, code: number][] = [
    [['apply', '-f', file, '--yes'], {}, `cannot read the secret from ${pipe}: ${silent}`, 1],
    [['diff', '-f', pipe], {}, `${pipe}: cannot read it: ${silent}`, 1],
    [['list', '--api-key-file', pipe], {}, `cannot read the key from ${pipe}: ${silent}`, 4],
    [['list'], { SNITCH_API_KEY_FILE: pipe }, `cannot read the key from ${pipe}: ${silent}`, 4],
    [['check-in', '--token-file', pipe], {}, `cannot read the token from ${pipe}: ${silent}`, 2],
    [['config', 'check', '--config', pipe], {}, `${pipe}: cannot read the file: ${silent}`, 1],
    [['list'], away, `cli.yaml: ${silent}`, 1],
    [['exec', '--token-file', pipe, '--', 'echo', 'ran'], {}, silent, 0],
  ];
  const ended = await Promise.all(each.map(([args, own]) => runSnitch(args, { ...env, ...own })));
  for (const [index, { code, stdout, stderr }] of ended.entries()) {
    const [args, , told, wanted] = each[index] as (typeof each)[number];
    assert.ok(stderr.includes(told), `${args.join(' ')}: ${stderr}`);
    assert.is(code, wanted, `${args.join(' ')}: ${stderr}`);
    if (args[0] === 'exec') assert.is(stdout, 'ran\n', 'the job runs whatever is wrong with its token');
  }
});

test('a device and a directory are refused, and a pipe that somebody writes into is read', async ({
  directory,
  env,
  json,
}) => {
  const file = join(directory, 'web.yaml');
  for (const [secret, told] of [
    ['/dev/zero', '/dev/zero is too long for a secret (maximum 4096 bytes)'],
    [directory, `cannot read the secret from ${directory}: it is a directory`],
  ] as const) {
    writeFileSync(file, fileWith(secret));
    const { code, stderr } = await runSnitch(['apply', '-f', file, '--yes'], env);
    assert.is(code, 1, stderr);
    assert.ok(stderr.includes(told), stderr);
  }
  const restored = await runSnitch(['restore', '/dev/zero', '--data-dir', join(directory, 'data')], env);
  assert.is(restored.code, 1);
  assert.match(restored.stderr, '/dev/zero is no file with a backup');
  const pipe = join(directory, 'pipe');
  writeFileSync(file, fileWith(pipe));
  const writer = spawn('sh', ['-c', 'exec 3>"$0"; sleep 0.3; echo AGotifyToken-15 >&3', pipe]);
  try {
    const piped = await runSnitch(['apply', '-f', file, '--yes'], env);
    assert.is(piped.code, 0, piped.stderr);
  } finally {
    writer.kill();
  }
  const [channel] = await json<{ name: string }[]>('channel', 'list');
  assert.is(channel?.name, 'ops');
});

test.run();
