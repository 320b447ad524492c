import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { runSnitch, temporaryDirectory } from './snitch-process.ts';
import { type Commands, withCase } from './with-daemon.ts';

const BIN = fileURLToPath(new URL('../../bin', import.meta.url));

const completion = suite('completion');
let on: Commands;

completion.before(async () => {
  on = await withCase();
  await on.make('nightly-backup', { tags: ['production'] });
  await on.make('with space');
  await on.make('twin');
  await on.make('twin');
});
completion.after(() => on.end());

async function values(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await on.run('__complete', '--', ...words);
  assert.equal([code, stderr], [0, '']);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0] ?? '');
}

completion('commands, subcommands and options', async () => {
  assert.ok((await values('')).includes('check-in'));
  assert.equal(await values('unp'), ['unpause']);
  assert.equal(await values('tag', ''), ['add', 'remove']);
  assert.equal(await values('list', '--st'), ['--status']);
  assert.equal(await values('list', '-o', ''), ['table', 'wide', 'json', 'name']);
  assert.equal(await values('create', 'x', '--interval', 'd'), ['daily']);
  assert.equal(await values('help', 'expl'), ['explain']);
});

completion('acknowledge takes what has an alarm', async () => {
  assert.equal(await values('acknowledge', ''), []);
  await on.make('broken');
  assert.is((await on.run('check-in', 'broken', '-s', '1')).code, 0);
  assert.equal(await values('acknowledge', ''), ['broken']);
  assert.equal(await values('acknowledge', 'broken', ''), []);
  await on.run('delete', '-f', 'broken');
});

completion('names and tags of the live API; a token where a name is not enough', async () => {
  assert.equal(await values('show', 'ni'), ['nightly-backup']);
  assert.equal(await values('list', '--tag', ''), ['production']);
  assert.equal(await values('tag', 'add', 'nightly-backup', 'p'), ['production']);
  const twins = (await on.json<WireSnitch[]>('list')).filter(({ name }) => name === 'twin');
  const offered = await values('pause', 'nightly-backup', '');
  assert.is(twins.length, 2);
  assert.ok(twins.every(({ token }) => offered.includes(token)));
  assert.not(offered.includes('twin'));
  assert.not(offered.includes('nightly-backup'), 'what was named already');
});

completion('servers by their names, and what is at the one that is named', async () => {
  const { path, remove } = temporaryDirectory();
  mkdirSync(join(path, 'snitch'));
  const { url, apiKey } = on.daemon;
  const text = `servers:\n  home:\n    url: ${url}\n    api_key: ${apiKey}\n  house:\n    url: http://127.0.0.1:1\n`;
  writeFileSync(join(path, 'snitch/cli.yaml'), text, { mode: 0o600 });
  const at = async (...words: string[]) => {
    const env = { XDG_CONFIG_HOME: path, SNITCH_DATA_DIR: join(path, 'none') };
    const { stdout } = await runSnitch(['__complete', '--', ...words], env);
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]));
  };
  try {
    assert.equal(await at('--server', 'ho'), ['home', 'house']);
    assert.equal(await at('list', '--server', ''), ['home', 'house']);
    assert.equal(await at('server', 'use', 'hom'), ['home']);
    assert.equal(await at('--s'), ['--server']);
    assert.equal(await at('--server', 'home', 'unp'), ['unpause']);
    assert.equal(await at('--server', 'home', 'show', 'ni'), ['nightly-backup']);
    assert.equal(await at('show', '--server', 'home', 'ni'), ['nightly-backup']);
    assert.equal(await at('--server', 'house', 'show', 'ni'), []);
  } finally {
    remove();
  }
});

completion('what alerts are told by, and what keeps them back', async () => {
  await on.run('silence', '--tag', 'production', '30m');
  const [silence] = await on.json<{ id: string }[]>('silences');
  assert.ok((await values('silence', '--end', 'sil_')).includes(silence?.id ?? 'none'));
  assert.equal(await values('silence', 'ni'), ['nightly-backup']);
  assert.not((await values('silence', '--until', '')).includes('unpaused'));
  assert.ok((await values('pause', 'x', '--until', '')).includes('unpaused'));
  assert.equal(await values('create', 'x', '--needs', 'ni'), ['nightly-backup']);
  assert.equal(await values('edit', 'x', '--needs', 'tag:p'), ['tag:production']);
  assert.equal(await values('channel', 'edit', 'x', '--events', 'missing,e'), ['missing,errored']);
  assert.equal(await values('log', '--action', 'snitch.p'), ['snitch.paused']);
  assert.equal(await values('acknowledge', '--m'), [], 'what the help hides');
});

completion('is silent where there is no server, no key, or no such command', async () => {
  const silent = { code: 0, stdout: '', stderr: '' };
  const nobody = { SNITCH_URL: 'http://127.0.0.1:9', SNITCH_API_KEY: 'x' };
  assert.equal(await runSnitch(['__complete', '--', 'show', ''], nobody), silent);
  assert.equal(await runSnitch(['__complete', '--', 'show', '']), silent);
  assert.equal(await runSnitch(['__complete', '--', 'nonsense', '']), silent);
});

completion('bash quotes what it puts in, so that a name never runs a command', async () => {
  await on.make('evil$(touch pwned)`x`;"');
  const { path, remove } = temporaryDirectory();
  try {
    const script = join(path, 'completion.bash');
    writeFileSync(script, (await on.run('completion', 'bash')).stdout);
    const complete = (...words: string[]) =>
      bash(
        `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _snitch; printf '%s\\n' "\${COMPREPLY[@]}"`,
        words,
      );
    assert.is(complete('snitch', 'unp'), 'unpause\n');
    assert.is(complete('snitch', 'show', 'wi'), 'with\\ space\n');
    assert.is(complete('snitch', 'show', '"wi'), 'with space\n');
    const [quoted = ''] = complete('snitch', 'show', 'ev').split('\n');
    assert.is(bash(`printf %s ${quoted}`, []), 'evil$(touch pwned)`x`;"');
    assert.is(complete('snitch', 'show', '"ev'), '\n');
  } finally {
    remove();
  }
});

function bash(script: string, words: readonly string[]): string {
  const env = { ...on.env, PATH: `${BIN}:${process.env.PATH}`, HOME: '/nonexistent' };
  return execFileSync('bash', ['--norc', '-c', script, 'bash', ...words], { env, encoding: 'utf8' });
}

completion('the scripts of all shells are printed, and an unknown shell is a usage error', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await on.run('completion', shell);
    assert.is(code, 0);
    assert.match(stdout, '__complete --');
  }
  assert.is((await on.run('completion', 'tcsh')).code, 2);
});

completion.run();
