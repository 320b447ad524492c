import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSilence } from '../../../src/api/wire-kept-back.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('snitch silence');
let on: Commands;

test.before(async () => {
  on = await withCase();
});
test.after(() => on.end());
test.after.each(async () => {
  for (const { id } of await on.json<WireSilence[]>('silences')) await on.run('silence', '--end', id, '-q');
});

/** How long it lasts, in seconds. */
function lengthOf({ from, to }: WireSilence): number {
  return (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1_000;
}

test('a maintenance script silences a tag and ends that, with nothing in its environment but cron has', async () => {
  await on.make('web1-backup', { tags: ['web1'] });
  const made = await on.run('silence', '-q', '--tag', 'web1', '30m', '-m', 'kernel');
  assert.is(made.code, 0, made.stderr);
  assert.match(made.stdout, /^sil_[a-z2-7]{16}\n$/);
  assert.is(made.stderr, '');
  const [one] = await on.json<WireSilence[]>('silences');
  assert.equal([one?.tags, one?.note, one?.active, one && lengthOf(one)], [['web1'], 'kernel', true, 1_800]);
  const shown = await on.run('show', 'web1-backup');
  assert.match(shown.stdout, /Silenced: +until .* by .*: kernel/);
  const listed = await on.run('silences');
  assert.match(listed.stdout, /STATE +COVERS[\s\S]*active +tag web1 .*kernel/);
  const ended = await on.run('silence', '--end', '--tag', 'web1');
  assert.match(ended.stderr, `${one?.id}: ended (tag web1)`);
  assert.equal(await on.json('silences'), []);
  const again = await on.run('silence', '--end', '--tag', 'web1');
  assert.equal([again.code, again.stderr], [0, 'there is no such silence, now or later\n']);
  assert.is((await on.run('silence', '--end', one?.id ?? '')).code, 0, 'one that is over is no error');
});

test('a recurring one that covers every run of a job says that nobody would hear of it', async () => {
  const fields = { schedule: { cron: '30 3 * * *' }, tags: ['night'] };
  const [first, second] = [await on.make('dump', fields), await on.make('copy', fields)];
  await on.make('waits for its first check-in', fields);
  const noon = await on.make('at noon', { schedule: { cron: '0 12 * * *' }, tags: ['night'] });
  for (const { token } of [first, second, noon]) assert.is((await on.run('check-in', token)).code, 0);
  const nightly = ['--cron', '0 3 * * *', '--for', '1h'];
  const { stderr } = await on.run('silence', '--tag', 'night', ...nightly);
  assert.match(
    stderr,
    'nobody will be told if these are gone, because silences cover all of their runs: dump, copy\n',
  );
  const [made] = await on.json<WireSilence[]>('silences');
  await on.run('silence', '--end', made?.id ?? '', '-q');
  for (const others of [
    ['--tag', 'night', '--cron', '0 5 * * *', '--for', '1h'],
    ['--tag', 'night', '1h'],
    ['at noon', ...nightly],
    ['-q', '--all', ...nightly],
  ]) {
    const { code, stderr: said } = await on.run('silence', ...others);
    assert.is(code, 0, said);
    assert.not.match(said, 'nobody', others.join(' '));
    for (const { id } of await on.json<WireSilence[]>('silences')) await on.run('silence', '--end', id, '-q');
  }
});

test('names, all, and times in all forms', async () => {
  await on.make('a');
  await on.make('b');
  const two = await on.json<WireSilence>('silence', 'a', 'b', '2h');
  assert.equal([two.tokens?.length, lengthOf(two)], [2, 7_200]);
  const from = await on.json<WireSilence>('silence', '--all', '--from', 'tomorrow', '--until', '04:00');
  assert.equal([from.all, from.active, lengthOf(from)], [true, false, 4 * 3_600]);
  const to = await on.json<WireSilence>('silence', '--all', '--from', 'tomorrow', '--to', '90m');
  assert.is(lengthOf(to), 5_400);
  const recurring = await on.json<WireSilence>(
    ...['silence', '--all', '--cron', '0 3 * * 0', '--for', '2h', '--timezone', 'Europe/Berlin'],
  );
  assert.equal(
    [recurring.schedule, recurring.duration, recurring.timezone],
    [{ cron: '0 3 * * 0' }, 7_200, 'Europe/Berlin'],
  );
  const listed = (await on.run('silences')).stdout;
  assert.match(listed, /recurring +all snitches .*0 3 \* \* 0 Europe\/Berlin for 2 h/);
  assert.match(listed, /active +a and b/);
  // A recurring silence can only be ended by its id.
  await on.run('silence', '--end', '--all');
  const again = await on.run('silence', '--end', '--all');
  assert.equal(
    [again.code, again.stderr],
    [0, `nothing was ended: a recurring silence is ended by its id: snitch silence --end ${recurring.id}\n`],
  );
  assert.equal(
    (await on.json<WireSilence[]>('silences')).map(({ id }) => id),
    [recurring.id, two.id],
  );
});

test('an unknown id of a silence is reported as unknown', async () => {
  const { code, stderr } = await on.run('silence', '--end', 'sil_aaaaaaaaaaaaaaaa');
  assert.is(code, 3);
  assert.match(stderr, 'snitch: no silence has the id "sil_aaaaaaaaaaaaaaaa"');
  const retried = await on.run('deliveries', 'retry', '998', '999');
  assert.is(retried.code, 3);
  assert.match(retried.stderr, 'snitch: no delivery has the id "998" or "999"');
});

test('a silence of several is told by their names, and who ends another one hears of it', async () => {
  for (const name of ['db1', 'db2', 'db3', 'db4', 'db5']) {
    await on.make(name, { tags: [name] });
  }
  const five = await on.json<WireSilence>('silence', 'db1', 'db2', 'db3', 'db4', 'db5', '2h');
  assert.match((await on.run('silences')).stdout, /active +db1, db2, db3 and 2 more/);
  const log = await on.run('log');
  assert.match(log.stdout, /silenced db1, db2, db3 and 2 more until/);
  const tagged = await on.json<WireSilence>('silence', '--tag', 'db1', '--tag', 'db2', '2h');
  const other = await on.run('silence', '--end', '--tag', 'db1');
  assert.is(other.code, 0);
  assert.equal(other.stderr.split('\n').slice(0, -1), [
    'nothing was ended: no silence is for exactly these, and the following cover only some of them or more than them',
    `${tagged.id} (tag db1 or db2) holds: snitch silence --end ${tagged.id}`,
  ]);
  const part = await on.run('silence', '--end', 'db4');
  assert.match(part.stderr, `${five.id} (db1, db2, db3 and 2 more) holds: snitch silence --end ${five.id}`);
  assert.is((await on.json<WireSilence[]>('silences')).length, 2);
});

test('what is unknown or contradicts itself is said, and nothing is made', async () => {
  const wrong: [string[], number, RegExp][] = [
    [['30m'], 2, /say which snitches/],
    [['--tag', 'x'], 2, /say for how long, such as 30m/],
    [['--tag', 'x', '--all', '30m'], 2, /use only one of names/],
    [['--tag', 'x', '30'], 2, /"30" has no unit: write 30m for minutes/],
    [['nightly', '30'], 2, /"30" has no unit/],
    [['30m', 'nightly'], 2, /after the names: snitch silence NAME 30m/],
    [['--tag', 'x', '--until', '1h', '30m'], 2, /with 30m or with an option, not both/],
    [['nowhere', '30m'], 3, /nowhere/],
    [['--all', '--until', '1h', '--for', '1h'], 2, /with only one of --until, --to and --for/],
    [['--all', '--until', 'healthy'], 2, /--until: "healthy" is not understood/],
    [['--all', '--until', '2020-01-01T00:00'], 2, /in the past/],
    [['--all', '--cron', '0 3 * * *'], 2, /how long it lasts each time/],
    [['--all', '--cron', '0 3 * * *', '--for', '2d'], 1, /must be shorter than/],
    [['--all', '--cron', 'x', '--for', '2h'], 1, /schedule/],
    [['--all', '--timezone', 'UTC', '2h'], 2, /only for --cron/],
    [['--all', '40d'], 1, /31 days/],
    [['--end'], 2, /say which snitches/],
    [['--end', 'sil_aaaaaaaaaaaaaaaa'], 3, /./],
  ];
  for (const [args, code, pattern] of wrong) {
    const ended = await on.run('silence', ...args);
    assert.is(ended.code, code, `${args.join(' ')}: ${ended.stderr}`);
    assert.match(ended.stderr, pattern);
  }
  assert.equal(await on.json('silences'), []);
  const unknown = await on.run('silence', '--tag', 'none', '30m');
  assert.is(unknown.code, 0);
  assert.match(unknown.stderr, 'no snitch has the tag "none" now');
});

test.run();
