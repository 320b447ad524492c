/**
 * Which file a snitch is kept in: known by the file's `owner:`, and not by where the file lies.
 * Time limit: 120 s.
 */
import { spawnSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireOwnership } from '../../../src/api/wire.ts';
import { runSnitchWith } from '../piped.ts';
import { type Commands, withCase, withDaemon } from '../with-daemon.ts';

const SNITCH = fileURLToPath(new URL('../../../bin/snitch', import.meta.url));

interface Context extends Commands {
  file: string;
  moved: string;
  write(text: string): void;
  names(): Promise<string[]>;
  owners(): Promise<Record<string, string>>;
}

const test = suite<Context>('owners of snitch files');

test.before.each(async (context) => {
  const commands = await withCase();
  const file = join(commands.daemon.dataDir, 'web.yaml');
  Object.assign(context, commands, {
    file,
    moved: join(commands.daemon.dataDir, 'servers.yaml'),
    write: (text: string) => writeFileSync(file, text),
    names: async () => (await commands.listed()).map(({ name }) => name),
    owners: async () => {
      const snitches = await commands.listed();
      const owned = (await (await commands.daemon.call('GET', '/v1/ownership')).json()) as WireOwnership[];
      const nameOf = (token: string) => snitches.find((snitch) => snitch.token === token)?.name ?? token;
      return Object.fromEntries(owned.map(({ token, owner }) => [nameOf(token), owner]));
    },
  });
});
test.after.each((context) => context.end());

const TWO = 'snitches:\n  - {name: a, interval: daily}\n  - {name: b, interval: hourly}\n';

test('a file with an owner is the same from anywhere: moved, or by the standard input', async (context) => {
  const { run, file, moved, write, names, env } = context;
  write(`owner: fleet\n${TWO}`);
  assert.is((await run('apply', '-f', file, '--yes')).code, 0);
  const piped = await runSnitchWith(`owner: fleet\n${TWO}`, ['apply', '-f', '-', '--yes'], env);
  assert.equal(piped, { code: 0, stdout: '', stderr: '2 unchanged\n' });
  renameSync(file, moved);
  assert.is((await run('diff', '-f', moved, '--exit-code')).code, 0);
  assert.equal(await names(), ['a', 'b']);
});

test('a moved file without an owner makes no second copies, and is told what to write', async (context) => {
  const { run, file, moved, write, names } = context;
  write(TWO);
  await run('apply', '-f', file, '--yes');
  renameSync(file, moved);
  const { code, stdout, stderr } = await run('apply', '-f', moved, '--yes');
  assert.is(code, 1);
  assert.is(stdout, '');
  assert.match(stderr, `snitch: ${moved}:1: owner: is missing`);
  assert.match(stderr, 'write `owner: web` as its first line');
  assert.match(stderr, '`owner: servers`');
  assert.equal(await names(), ['a', 'b']);

  writeFileSync(moved, `owner: web\n${TWO}`);
  assert.is((await run('diff', '-f', moved, '--exit-code')).code, 0);
});

test('the same file by the standard input makes no second copies either', async (context) => {
  const { run, file, write, names, env } = context;
  write(TWO);
  await run('apply', '-f', file, '--yes');
  const { code, stderr } = await runSnitchWith(TWO, ['apply', '-f', '-', '--yes'], env);
  assert.is(code, 1);
  assert.match(stderr, 'snitch: stdin:1: owner: is missing');
  assert.match(stderr, 'write `owner: web` as its first line');
  assert.equal(await names(), ['a', 'b']);
});

test('files without an owner that were applied before go on working', async (context) => {
  const { run, file, write, names, env, owners } = context;
  assert.is((await runSnitchWith(TWO, ['apply', '-f', '-', '--yes'], env)).code, 0);
  write('snitches: [{name: c, interval: daily}]');
  assert.is((await run('apply', '-f', file, '--yes')).code, 0);
  assert.equal(await owners(), { a: 'stdin', b: 'stdin', c: 'web' });
  const less = 'snitches: [{name: a, interval: weekly}]';
  const pruned = await runSnitchWith(less, ['apply', '-f', '-', '--yes', '--prune', '--confirm', '1'], env);
  assert.is(pruned.code, 0, pruned.stderr);
  assert.equal(await names(), ['a', 'c']);
});

test('a second file may have the same names, and says that they are there twice', async (context) => {
  const { run, file, write, names } = context;
  write(`owner: one\n${TWO}`);
  await run('apply', '-f', file, '--yes');
  write('owner: two\nsnitches: [{name: a, interval: daily}]\n');
  const { code, stdout } = await run('apply', '-f', file, '--yes');
  assert.is(code, 0);
  assert.is(stdout, '+ create a (daily): a second one of this name, beside that of "one"\n');
  assert.equal(await names(), ['a', 'a', 'b']);
});

test('an owner is renamed by taking over from the old name', async (context) => {
  const { run, file, write, names, owners } = context;
  write(`owner: one\n${TWO}`);
  await run('apply', '-f', file, '--yes');
  write(`owner: two\n${TWO}`);
  const { code, stdout } = await run('apply', '-f', file, '--yes', '--take-over', 'one');
  assert.is(code, 0);
  assert.match(stdout, /^~ adopt a \(\w+\): taken over from "one"$/m);
  assert.equal(await names(), ['a', 'b']);
  assert.equal(await owners(), { a: 'two', b: 'two' });
  const again = await run('apply', '-f', file, '--yes', '--take-over', 'one');
  assert.equal(again, { code: 0, stdout: '', stderr: '2 unchanged\n' });
  write(`owner: three\n${TWO}`);
  const unknown = await run('diff', '-f', file, '--take-over', 'one');
  assert.is(unknown.code, 1);
  assert.match(unknown.stderr, 'no snitch is kept by "one"');
});

test('another file of the same owner is noticed before it prunes the first', async (context) => {
  const { run, file, moved, write, names } = context;
  write(`owner: fleet\n${TWO}`);
  await run('apply', '-f', file, '--yes');
  writeFileSync(moved, 'owner: fleet\nsnitches: [{name: c, interval: daily}]\n');
  const asked = await run('diff', '-f', moved, '--prune');
  assert.match(asked.stderr, 'none of the 2 snitches that "fleet" keeps is in this file');
  const refused = await run('apply', '-f', moved, '--yes', '--prune');
  assert.is(refused.code, 2);
  assert.match(refused.stderr, '--confirm=2');
  assert.equal(await names(), ['a', 'b']);
});

test('an export after an apply is no difference, whoever keeps what', async (context) => {
  const { run, file, write, env, moved, owners } = context;
  write(`owner: web\n${TWO}`);
  await run('apply', '-f', file, '--yes');
  await context.make('by-hand');
  writeFileSync(moved, 'owner: db\nsnitches: [{name: dump, interval: daily}]\n');
  await run('apply', '-f', moved, '--yes');
  const before = await owners();
  for (const flags of [[], ['--no-tokens'], ['--json'], ['--owner', 'db']]) {
    const exported = await run('export', ...flags);
    assert.is(exported.code, 0, exported.stderr);
    const diff = await runSnitchWith(exported.stdout, ['diff', '-f', '-', '--exit-code'], env);
    assert.is(diff.code, 0, `${flags}: ${diff.stdout}${diff.stderr}`);
    assert.is(diff.stdout, '');
    const applied = await runSnitchWith(exported.stdout, ['apply', '-f', '-', '--yes'], env);
    assert.is(applied.code, 0, applied.stderr);
  }
  assert.equal(await owners(), before);
});

test('a pipe whose writer takes its time is read to its end', async (context) => {
  const { run, file, write, env } = context;
  write(`owner: web\n${TWO}`);
  await run('apply', '-f', file, '--yes');
  const script = `"$0" export | { sleep 0.2; cat; sleep 0.2; } | "$0" diff -f - --exit-code && "$0" export | "$0" diff -f - --exit-code`;
  const piped = spawnSync('sh', ['-c', script, SNITCH], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    encoding: 'utf8',
  });
  assert.equal([piped.status, piped.stdout], [0, ''], piped.stderr);
});

test('an export brings who keeps what to another server', async (context) => {
  const { run, file, write } = context;
  write(`owner: web\n${TWO}`);
  await run('apply', '-f', file, '--yes');
  await context.make('by-hand');
  const { stdout } = await run('export');
  const other = await withDaemon();
  try {
    const applied = await runSnitchWith(stdout, ['apply', '-f', '-', '--yes'], other.env);
    assert.is(applied.code, 0, applied.stderr);
    assert.is((await other.run('export')).stdout, stdout);
  } finally {
    await other.end();
  }
});

test('an export of what no file keeps says so, and prunes nothing', async (context) => {
  const { run, file, write, names } = context;
  await context.make('by-hand');
  await context.make('other');
  const { stdout } = await run('export');
  assert.match(stdout, /^owner: null$/m);
  write(stdout);
  assert.is((await run('diff', '-f', file, '--exit-code')).code, 0);
  write('owner: null\nsnitches: [{name: by-hand, interval: daily}]\n');
  const { code, stderr } = await run('apply', '-f', file, '--yes', '--prune');
  assert.is(code, 2);
  assert.match(stderr, '--prune deletes what the owner of the file kept, and this one has none');
  assert.equal(await names(), ['by-hand', 'other']);
});

test('an export of before, without an owner, is told once what to do', async (context) => {
  const { run, file, moved, write } = context;
  const names = Array.from({ length: 30 }, (_, index) => `job-${index}`);
  write(`owner: web\nsnitches:\n${names.map((name) => `  - {name: ${name}, interval: daily}\n`).join('')}`);
  await run('apply', '-f', file, '--yes');
  const { stdout } = await run('export');
  writeFileSync(moved, stdout.replace(/^owner: .*\n/m, ''));
  const { code, stderr } = await run('diff', '-f', moved);
  assert.is(code, 1);
  assert.is(stderr.trimEnd().split('\n').length, 2, stderr);
  assert.match(stderr, '30 snitches of this file are kept by another, whose owner is "web"');
  assert.match(stderr, 'write `owner: web`');
});

test('an owner that is none is refused with its line', async ({ run, file, write }) => {
  write('snitches:\n  - {name: a, interval: daily}\n  - name: b\n    interval: daily\n    owner: [x]\n');
  const { code, stderr } = await run('diff', '-f', file);
  assert.is(code, 1);
  assert.match(stderr, 'web.yaml:5: owner: must be a name of at most 100 characters');
  write(`owner: ""\n${TWO}`);
  assert.match((await run('diff', '-f', file)).stderr, 'web.yaml:1: owner: must be a name');
});

test.run();
