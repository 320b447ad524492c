/** What runs must look like, by `export`, `diff` and `apply`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite<{ on: Commands; write(text: string): string }>('what runs must look like, in a file');

test.before.each(async (context) => {
  context.on = await withCase();
  const file = join(context.on.daemon.dataDir, 'case.yaml');
  context.write = (text) => {
    writeFileSync(file, text);
    return file;
  };
});
test.after.each(({ on }) => on.end());

const rulesOf = ({ name, min_runtime, failures_before_alert, expect }: WireSnitch) => ({
  name,
  min_runtime,
  failures_before_alert,
  expect,
});

test('export and apply bring them back, and nothing differs then', async ({ on, write }) => {
  const expected = ['--expect', 'bytes>=1M', '--expect', 'bytes=0.5x..3x', '--expect', 'rows?=..9'];
  await on.run(
    'create',
    'full',
    '-i',
    'daily',
    '--min-runtime',
    '5m',
    '--failures-before-alert',
    '3',
    ...expected,
  );
  await on.make('plain', { interval: 'hourly' });
  const before = await on.listed();
  const { stdout } = await on.run('export');
  assert.match(stdout, /min_runtime: 5m\n +failures_before_alert: 3\n +expect:\n +- bytes>=1000000\n/);
  const file = write(stdout);
  const diff = await on.run('diff', '-f', file, '--exit-code');
  assert.equal([diff.code, diff.stdout], [0, ''], diff.stderr);
  for (const { token } of before) await on.run('delete', token, '--force');
  const applied = await on.run('apply', '-f', file, '--yes');
  assert.is(applied.code, 0, applied.stderr);
  assert.equal((await on.listed()).map(rulesOf), before.map(rulesOf));
});

test('a file that names none leaves them as they are, and says so; one that changes them shows it', async ({
  on,
  write,
}) => {
  await on.run('create', 'kept', '-i', 'daily', '--expect', 'bytes>=1');
  const silent = write('snitches:\n  - name: kept\n    interval: daily\n');
  const kept = await on.run('apply', '-f', silent, '--yes');
  assert.match(
    kept.stderr,
    /left as it is, because the file does not say it: how the runs of "kept" must look/,
  );
  assert.is((await on.named('kept')).expect?.length, 1);
  const changing = write(
    'snitches:\n  - name: kept\n    interval: daily\n    expect: [{value: rows, max: 5}]\n',
  );
  assert.match(
    (await on.run('diff', '-f', changing)).stdout,
    /expect: \[\{"value":"bytes".* -> \[\{"value":"rows"/,
  );
  await on.run('apply', '-f', changing, '--yes');
  assert.is((await on.named('kept')).expect?.[0]?.max, 5);
  await on.run(
    'apply',
    '-f',
    write('snitches:\n  - name: kept\n    interval: daily\n    expect: null\n'),
    '--yes',
  );
  assert.is((await on.named('kept')).expect, null);
});

test('what is not understood is told with its line', async ({ on, write }) => {
  const file = write('snitches:\n  - name: wrong\n    interval: daily\n    expect: [bytes>1]\n');
  const { code, stderr } = await on.run('apply', '-f', file, '--yes');
  assert.is.not(code, 0);
  assert.match(stderr, /case\.yaml:4: .*expect/);
});

test.run();
