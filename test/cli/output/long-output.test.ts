/** Commands with more output than one piece, read slowly, or by a reader that stops early. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import type { ImportedSnitch } from '../../../src/store/ownership.ts';
import { compileCache } from '../../compile-cache.ts';
import { startFixture } from '../../http/fixture.ts';

const SNITCH = fileURLToPath(new URL('../../../bin/snitch', import.meta.url));

/** More than two pieces. */
const COUNT = 2_300;
const NAMES = Array.from({ length: COUNT }, (_, index) => `job ${String(index).padStart(4, '0')}`);

interface Context {
  run(program: string, ...args: string[]): ChildProcessByStdio<null, Readable, Readable>;
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
  Object.assign(context, { run, close });
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

test.run();
