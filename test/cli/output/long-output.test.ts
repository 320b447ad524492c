/** Commands with more output than one piece, read slowly, by a reader that stops early, or by nobody. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import type { ImportedSnitch } from '../../../src/store/ownership.ts';
import { compileCache } from '../../compile-cache.ts';
import { startFixture } from '../../http/fixture.ts';
import { temporaryDirectory } from '../snitch-process.ts';

const SNITCH = fileURLToPath(new URL('../../../bin/snitch', import.meta.url));

/** More than two pieces. */
const COUNT = 2_300;
const NAMES = Array.from({ length: COUNT }, (_, index) => `job ${String(index).padStart(4, '0')}`);

interface Context {
  run(program: string, ...args: string[]): ChildProcessByStdio<null, Readable, Readable>;
  url: string;
  close(): Promise<void>;
}

const test = suite<Context>('long output');

test.before(async (context) => {
  const { acme, store, clock, port, close } = await startFixture();
  const imported = NAMES.map(
    (name): ImportedSnitch => ({
      ...{ name, notes: 'x'.repeat(100), tags: [], alertEmail: [] },
      ...{ interval: 'daily', alertType: 'basic', token: null },
    }),
  );
  await store.importSnitches(acme.id, { imported, owner: null }, clock.now);
  const env = {
    ...{ PATH: process.env.PATH, HOME: '/nonexistent', ...compileCache() },
    ...{ SNITCH_URL: `http://127.0.0.1:${port}`, SNITCH_API_KEY: acme.write.key ?? '' },
  };
  const run = (program: string, ...args: string[]) =>
    spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  Object.assign(context, { run, close, url: env.SNITCH_URL });
});
test.after(({ close }) => close());

/** What a reader gets that begins only when all that the command still has to do is print. */
async function slowly({ run }: Context, ...args: string[]): Promise<string> {
  const child = run('bash', '-o', 'pipefail', '-c', '"$@" | { sleep 1; cat; }', 'bash', SNITCH, ...args);
  const [[code], printed, errors] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  assert.equal([code, errors], [0, '']);
  return printed;
}

const linesOf = (printed: string) => printed.split('\n');
const namesIn = (snitches: { name: string }[]) => snitches.map(({ name }) => name);

test('a slow reader gets all of it, in order and once', async (context) => {
  const [table = [], wide = [], ids = [], names = []] = (
    await Promise.all(
      [['--sort', 'name'], ['-o', 'wide'], ['-q'], ['-o', 'name']].map((args) =>
        slowly(context, 'list', ...args),
      ),
    )
  ).map(linesOf);
  const nameOf = (line: string) => line.slice(0, 'job 0000'.length);
  assert.equal(table.map(nameOf), ['NAME    ', ...NAMES, '']);
  assert.equal(wide.map(nameOf).toSorted(), ['', 'NAME    ', ...NAMES]);
  assert.is(new Set(ids).size, COUNT + 1);
  assert.equal(names, [...NAMES, '']);
});

test('its JSON and its YAML are whole', async (context) => {
  const [list, exported, yaml] = await Promise.all(
    [['list', '--json'], ['export', '--json'], ['export']].map((args) => slowly(context, ...args)),
  );
  assert.equal(namesIn(JSON.parse(list ?? '')), NAMES);
  assert.is(list, `${JSON.stringify(JSON.parse(list ?? ''), null, 2)}\n`);
  assert.equal(namesIn(JSON.parse(exported ?? '').snitches), NAMES);
  assert.equal(parse(yaml ?? ''), JSON.parse(exported ?? ''));
});

for (const args of [
  ['list'],
  ['list', '-q'],
  ['list', '--json'],
  ['export'],
  ['export', '--json'],
  ['dashboard'],
]) {
  test(`who has seen enough of \`${args.join(' ')}\` ends it without a word`, async ({ run }) => {
    using child = run(SNITCH, ...args);
    const ended = once(child, 'close');
    const errors = text(child.stderr);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    assert.equal([(await ended)[0], await errors], [0, '']);
  });
}

/** Runs a command whose readers are gone before it prints anything. */
async function unread({ run }: Context, ...args: string[]): Promise<number> {
  const child = run(SNITCH, ...args);
  child.stdout.destroy();
  child.stderr.destroy();
  return (await once(child, 'exit'))[0] as number;
}

async function listed({ run }: Context, ...args: string[]): Promise<unknown> {
  return JSON.parse(await text(run(SNITCH, ...args, '--json').stdout));
}

test('what is to be changed is changed, also if nobody reads what a command says about it', async (context) => {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'more.yaml');
  const added = Array.from({ length: 3_000 }, (_, index) => `new ${String(index).padStart(4, '0')}`);
  const entries = added.map((name) => `  - {name: ${name}, interval: daily}\n`);
  writeFileSync(file, `owner: more\nsnitches:\n${entries.join('')}`);
  assert.is(await unread(context, 'apply', '-f', file, '--yes'), 0);
  const all = (await listed(context, 'list')) as { name: string; token: string; status: string }[];
  assert.equal(namesIn(all), [...NAMES, ...added]);

  const [first, second, third] = all.map(({ token }) => token);
  const address = `${context.url}/c/${first}`;
  assert.is(await unread(context, 'check-in', address, '-v', 'no number', '-m', 'heard'), 0);
  const [newest] = (await listed(context, 'history', first ?? '')) as { message: string }[];
  assert.is(newest?.message, 'heard');
  assert.is(await unread(context, 'delete', '--force', ...[first, second, third].map(String)), 0);
  assert.equal(namesIn((await listed(context, 'list')) as { name: string }[]), [...NAMES.slice(3), ...added]);
});

test.run();
