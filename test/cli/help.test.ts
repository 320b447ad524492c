import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ENTRIES, TASKS } from '../../src/cli/catalogue.ts';
import { runSnitch } from './snitch-process.ts';

const help = suite('help');

help('every command explains itself, beginning with examples of its own', async () => {
  for (const { name } of ENTRIES) {
    const { code, stdout, stderr } = await runSnitch(['help', name]);
    assert.equal([code, stderr], [0, ''], name);
    assert.is((await runSnitch([name, '--help'])).stdout, stdout, name);
    if (name === 'version') continue;
    assert.ok(stdout.startsWith('Examples:\n'), name);
    assert.match(stdout, `snitch ${name}`);
  }
});

help('the short help names every command by its task, the long one has a line for each', async () => {
  const short = (await runSnitch(['help'])).stdout;
  const long = (await runSnitch(['help', '--all'])).stdout;
  for (const { title, entries } of TASKS) {
    assert.match(short, title);
    for (const { name, summary } of entries) {
      assert.match(short, name);
      assert.match(long, summary);
    }
  }
  assert.is((await runSnitch(['--help'])).stdout, short);
  for (const line of long.split('\n')) assert.ok(line.length <= 80, line);
});

help('no command at all is a usage error that shows the help', async () => {
  const { code, stdout, stderr } = await runSnitch([]);
  assert.equal([code, stdout], [2, '']);
  assert.match(stderr, 'Usage: snitch COMMAND');
});

help('what is meant is guessed: commands, subcommands, options', async () => {
  for (const [args, guess] of [
    [['unpuase', 'x'], 'unpause'],
    [['check_in', 'x'], 'check-in'],
    [['tag', 'ad', 'x', 'y'], 'add'],
    [['list', '--statsu', 'failed'], '--status'],
    [['help', 'explian'], 'explain'],
  ] as const) {
    const { code, stdout, stderr } = await runSnitch(args);
    assert.equal([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, guess);
    assert.match(stderr, /[Dd]id you mean/);
  }
});

help('names that other programs have for a command are understood as a question', async () => {
  for (const [given, here] of [
    ['ls', 'list'],
    ['status', 'list'],
    ['rm', 'delete'],
    ['logs', 'history'],
  ] as const) {
    const { code, stderr } = await runSnitch([given, 'x']);
    assert.is(code, 2);
    assert.match(stderr, `unknown command "${given}". Here it is: snitch ${here}\n`);
  }
  assert.not.match((await runSnitch(['constructor'])).stderr, 'Here it is');
});

help('a mistyped option is told before the one that is missing', async () => {
  for (const [args, guess] of [
    [['create', 'x', '--intervall', 'daily'], '--interval'],
    [['apply', '--fiel', 'x'], '--file'],
  ] as const) {
    const { code, stderr } = await runSnitch(args);
    assert.is(code, 2);
    assert.match(stderr, `Did you mean ${guess}`);
  }
  const missing = await runSnitch(['create', 'x']);
  assert.equal(
    [missing.code, missing.stderr],
    [2, 'snitch: give --interval, or one of --cron, --calendar and --every\n'],
  );
  assert.match((await runSnitch(['diff'])).stderr, '--file is missing');
});

help('an error of a subcommand points at its own help', async () => {
  assert.match((await runSnitch(['key', 'create'])).stderr, 'See `snitch help key create`.');
  assert.match((await runSnitch(['list', '--nonsense'])).stderr, 'See `snitch help list`.');
  assert.match((await runSnitch(['help', 'key', 'create'])).stdout, 'make a key, and print it');
});

help.run();
