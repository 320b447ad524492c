/** `--needs` of `create` and `edit`, and how `show` and `explain` tell of it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite<{ on: Commands }>('needs on the command line');

test.before.each(async (context) => {
  context.on = await withCase();
});
test.after.each(({ on }) => on.end());

test('names become tokens, tags stay, and --no-needs takes all back', async ({ on }) => {
  const host = await on.make('db1', { interval: 'hourly' });
  const made = await on.json<WireSnitch>(
    'create',
    'job',
    '-i',
    'daily',
    '--needs',
    'db1',
    '--needs',
    'tag:net',
  );
  assert.equal([made.needs, made.held], [[host.token, 'tag:net'], null]);
  const explained = await on.run('explain', 'job');
  assert.match(
    explained.stdout,
    /It needs db1 and whatever has the tag net: while any of that is down or silenced, nobody/,
  );
  const edited = await on.json<WireSnitch>('edit', 'job', '--needs', host.token);
  assert.equal(edited.needs, [host.token]);
  assert.match((await on.run('show', 'job')).stdout, new RegExp(`Needs:? +db1 \\(${host.token}\\)`));
  const log = await on.run('log', 'job');
  assert.match(log.stdout, /changed job: needs -tag:net$/m);
  assert.equal((await on.json<WireSnitch>('edit', 'job', '--no-needs')).needs, []);
  assert.match((await on.run('log', 'job')).stdout, /changed job: needs -db1$/m);
});

test('an unknown name, a circle and "none" are refused with what to do', async ({ on }) => {
  await on.make('db1', { interval: 'hourly' });
  const unknown = await on.run('create', 'job', '-i', 'daily', '--needs', 'db2');
  assert.match(unknown.stderr, /no snitch has the token or the name "db2"\n.*did you mean "db1"\?/);
  await on.run('create', 'job', '-i', 'daily', '--needs', 'db1');
  const circle = await on.run('edit', 'db1', '--needs', 'job');
  assert.match(circle.stderr, /would go in a circle: db1 needs job, which needs db1/);
  assert.match((await on.run('edit', 'job', '--needs', 'none')).stderr, /--no-needs/);
});

test.run();
