import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const snitches = suite('snitch commands');
let on: Commands;

snitches.before(async () => {
  on = await withCase();
});
snitches.after(() => on.end());

snitches('create prints all of the snitch, and -q its token alone', async () => {
  const made = await on.run('create', 'made', '-i', '15m', '-t', 'a', '-t', 'b', '--notes', 'two\nlines');
  assert.is(made.code, 0);
  assert.is(made.stderr, '');
  assert.match(made.stdout, /^Name: +made\nStatus: +pending\n/);
  assert.match(made.stdout, /\nInterval: +15_minute\n/);
  assert.match(made.stdout, /\nNotes: +two\n {14}lines\n/);
  const { code, stdout } = await on.run('create', 'quiet', '--interval', 'daily', '-q');
  assert.is(code, 0);
  assert.match(stdout, /^[a-z2-7]{26}\n$/);
});

snitches('JSON is the shape of the API', async () => {
  const made = await on.json<WireSnitch>('create', 'shape', '-i', 'weekly', '--alert-type', 'smart');
  const asked = await (await on.daemon.call('GET', `/v1/snitches/${made.token}`)).json();
  assert.equal(made, asked);
  assert.equal(await on.json('show', 'shape'), asked);
  const [listed] = (await on.json<WireSnitch[]>('list')).filter(({ name }) => name === 'shape');
  assert.equal(listed, asked as WireSnitch);
});

snitches('list has a line for each, with the word of its status and an ISO time', async () => {
  const { token } = await on.json<WireSnitch>('create', 'job 10', '-i', 'daily', '-t', 'listed');
  await on.run('create', 'job 9', '-i', 'hourly', '-t', 'listed', '-t', 'second');
  assert.is((await on.run('check-in', 'job 10')).code, 0);
  const { code, stdout, stderr } = await on.run('list', '-t', 'listed');
  assert.is(code, 0);
  assert.is(stderr, '');
  const [heading, ten, nine, ...rest] = stdout.split('\n');
  assert.match(heading as string, /^NAME +STATUS +LAST HEALTHY +INTERVAL +TAGS +TOKEN +LAST REPORT +DUE$/);
  assert.match(nine as string, /^job 9 +pending +never +hourly +listed, second +[a-z2-7]{26} +never +-$/);
  assert.match(
    ten as string,
    new RegExp(
      `^job 10 +healthy +\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z +daily +listed +${token} +\\d{4}-\\S+Z +\\d{4}-\\S+Z$`,
    ),
  );
  assert.equal(rest, ['']);
  assert.is((await on.run('list', '-t', 'listed', '--status', 'healthy', '-q')).stdout, `${token}\n`);
  assert.is((await on.run('list', '-t', 'listed', '-t', 'second', '-o', 'name')).stdout, 'job 9\n');
  assert.match((await on.run('list', '-t', 'listed', '-o', 'wide')).stdout, /CHECK-IN URL/);
});

snitches('an empty list is nothing on stdout, and a hint on stderr', async () => {
  const { code, stdout, stderr } = await on.run('list', '-t', 'nobody-has-this');
  assert.is(code, 0);
  assert.is(stdout, '');
  assert.is(stderr, 'no snitch has the tag "nobody-has-this": `snitch list` shows all there are\n');
  const { stderr: paused } = await on.run('list', '-t', 'x', '-s', 'paused,failed');
  assert.match(paused, 'no snitch has the tag "x" and is paused or failed');
  assert.is((await on.run('list', '-t', 'nobody-has-this', '--json')).stdout, '[]\n');
});

snitches('a snitch is found by its check-in address as well, however it was pasted', async () => {
  const { token, check_in_url: address } = await on.make('pasted');
  const { origin } = new URL(address);
  for (const pasted of [
    address,
    `${address}/`,
    `${address}?m=done&s=0`,
    `${origin}/ping/${token}/fail`,
    `https://snitch.example.com/c/${token}/start?rid=1`,
  ]) {
    assert.is((await on.json<WireSnitch>('show', pasted)).name, 'pasted', pasted);
  }
  assert.is((await on.run('pause', address, `${origin}/ping/${token}`)).code, 1, 'pending, but found');
  const { code, stderr } = await on.run('show', `${origin}/c/aaaabbbbccccddddeeeeffff22?m=x`);
  assert.is(code, 3);
  assert.match(stderr, /no snitch has the check-in address .*\/c\/aaaabbbbccccddddeeeeffff22"/);
  const withKey = await on.run('show', `${origin}/c/snk_${'k'.repeat(40)}/pasted`);
  assert.is(withKey.code, 2);
  assert.not.match(withKey.stderr, /kkkk/);
  assert.is((await on.run('delete', '--force', `${address}/`)).code, 0);
});

snitches('edit changes what is named and leaves the rest', async () => {
  await on.run(
    'create',
    'edited',
    '-i',
    'daily',
    '-t',
    'kept',
    '--notes',
    'n',
    '--alert-email',
    'a@example.com',
  );
  const changed = await on.json<WireSnitch>('edit', 'edited', '--interval', '2 hours', '--no-alert-email');
  assert.is(changed.interval, '2_hour');
  assert.equal([changed.tags, changed.notes, changed.alert_email], [['kept'], 'n', []]);
  assert.equal((await on.json<WireSnitch>('edit', 'edited', '--no-tags', '--notes', '')).tags, []);
  const nothing = await on.run('edit', 'edited');
  assert.is(nothing.code, 2);
  assert.match(nothing.stderr, 'nothing to change');
});

snitches('tags are added and removed, whatever they are called', async () => {
  await on.run('create', 'tagged', '-i', 'daily', '-t', 'one');
  assert.is(
    (await on.run('tag', 'add', 'tagged', 'two words', '..', 'a/b')).stdout,
    'one\ntwo words\n..\na/b\n',
  );
  assert.is((await on.run('tag', 'remove', 'tagged', '..', 'a/b')).stdout, 'one\ntwo words\n');
  assert.equal(await on.json('tag', 'remove', 'tagged', 'two words'), ['one'] as unknown as Record<
    string,
    unknown
  >);
  assert.is((await on.run('show', 'tagged')).code, 0);
});

snitches('check-in reports health, or an error with its status; history tells both', async () => {
  const { token } = await on.json<WireSnitch>('create', 'checked', '-i', 'daily');
  assert.equal(await on.run('check-in', token, '-m', 'all good'), { code: 0, stdout: '', stderr: '' });
  assert.is((await on.run('check-in', 'checked', '-s', '3', '-m', 'disk full')).code, 0);
  const { stdout } = await on.run('history', 'checked');
  const [, error, healthy] = stdout.split('\n');
  assert.match(error as string, /^\d{4}-\S+Z +error +3 +- +disk full +127\.0\.0\.1$/);
  assert.match(healthy as string, /^\d{4}-\S+Z +healthy +- +- +all good +127\.0\.0\.1$/);
  assert.is((await on.run('history', 'checked', '-n', '1', '-q')).stdout.split('\n').length, 2);
  assert.is((await on.json<WireSnitch>('show', 'checked')).status, 'errored');
});

snitches('check-in needs no key where the token is given', async () => {
  const { token } = await on.json<WireSnitch>('create', 'keyless', '-i', 'daily');
  const { runSnitch } = await import('../snitch-process.ts');
  const elsewhere = { SNITCH_URL: on.daemon.url, SNITCH_DATA_DIR: '/nonexistent' };
  assert.is((await runSnitch(['check-in', token], elsewhere)).code, 0);
  assert.is((await on.json<WireSnitch>('show', token)).status, 'healthy');
  const unknown = await runSnitch(['check-in', 'a'.repeat(26)], elsewhere);
  assert.is(unknown.code, 3);
  assert.match(unknown.stderr, 'no snitch has the token');
});

snitches('pause takes a length, a time or a word; unpause ends it', async () => {
  await on.run('create', 'muted', '-i', 'daily');
  const pending = await on.run('pause', 'muted');
  assert.is(pending.code, 1);
  assert.match(pending.stderr, 'a pending snitch cannot be paused');
  await on.run('check-in', 'muted');
  const paused = await on.run('pause', 'muted', '--until', '2h');
  assert.is(paused.code, 0);
  assert.is(paused.stdout, '');
  assert.match(paused.stderr, /^muted: paused until \d{4}-\S+ \S+ \+00:00 \(in 2h\)\n$/);
  assert.is((await on.json<WireSnitch>('show', 'muted')).status, 'paused');
  assert.equal(await on.run('pause', 'muted', '--until', 'unpaused', '-q'), {
    code: 0,
    stdout: '',
    stderr: '',
  });
  assert.is((await on.run('unpause', 'muted')).code, 0);
  assert.is((await on.json<WireSnitch>('show', 'muted')).status, 'healthy');
  assert.is((await on.run('pause', 'muted', '--until', '2020-01-01')).code, 2);
  assert.is((await on.run('pause', 'muted', '--until', 'someday')).code, 2);
});

snitches('explain tells the deadline, the next alert and who would be told', async () => {
  await on.run('create', 'explained', '-i', 'hourly', '--alert-email', 'ops@example.com');
  await on.run('check-in', 'explained');
  const { code, stdout } = await on.run('explain', 'explained');
  assert.is(code, 0);
  assert.match(stdout, /^explained: healthy\n {2}\S/);
  assert.match(stdout, /\nDeadline: +\d{4}-\d\d-\d\d [\d:]+\nNext alert: /);
  assert.match(stdout, /\nEmails to: +ops@example\.com\n/);
});

snitches(
  'an error is the last report, with its exit status and message, beside the last healthy',
  async () => {
    await on.run('create', 'erring', '-i', 'daily', '-t', 'erring');
    await on.run('check-in', 'erring', '-s', '3', '-m', 'disk\u001bfull');
    const { stdout: listed } = await on.run('list', '-t', 'erring');
    assert.match(
      listed,
      /\nerring +errored +never +daily .* \d{4}-\S+Z, error, exit status 3: disk\\u001bfull +\d{4}-\S+Z\n$/,
    );
    const { stdout: shown } = await on.run('show', 'erring');
    assert.match(
      shown,
      /\nLast healthy: +never\nLast report: +\d{4}-\S+Z\n +error, exit status 3: disk\\u001bfull\n/,
    );
  },
);

snitches('explain has all times in the zone of the case, named once, or in UTC', async () => {
  await on.json('case', 'edit', '--timezone', 'asia/kolkata');
  try {
    await on.run('create', 'zoned', '-i', 'hourly');
    await on.run('check-in', 'zoned', '-s', '2');
    const zoned = (await on.run('explain', 'zoned')).stdout;
    assert.is(zoned.split('Asia/Kolkata').length, 2, zoned);
    assert.match(zoned, /\nTimes in: +Asia\/Kolkata\n/);
    assert.not.match(zoned, /\dZ|UTC/);
    const utc = (await on.run('explain', 'zoned', '--utc')).stdout;
    assert.match(utc, /\nTimes in: +UTC\n/);
    assert.not.match(utc, 'Kolkata');
    const { deadline } = await on.json<{ deadline: { at: string } }>('explain', 'zoned');
    const plain = deadline.at.replace('T', ' ').slice(0, 19);
    assert.is(utc.split(plain).length, 4, 'as deadline, as next alert and in a sentence');
  } finally {
    await on.json('case', 'edit', '--timezone', 'UTC');
  }
});

snitches('a second snitch of the same name is made, and said', async () => {
  const first = await on.json<WireSnitch>('create', 'again', '-i', 'daily');
  const { code, stderr } = await on.run('create', 'again', '-i', 'daily');
  assert.is(code, 0);
  assert.match(stderr, `another snitch has the name "again": ${first.token}\n`);
  assert.match(stderr, /to undo it, if you did not mean that: snitch delete [a-z2-7]{26}\n/);
  assert.is((await on.run('create', 'again', '-i', 'daily', '-q')).stderr, '');
});

snitches('delete needs --force where nobody can be asked', async () => {
  await on.run('create', 'doomed', '-i', 'daily');
  await on.run('create', 'doomed too', '-i', 'daily');
  const refused = await on.run('delete', 'doomed');
  assert.is(refused.code, 2);
  assert.match(refused.stderr, '--force');
  assert.is((await on.run('delete', '--force', 'doomed', 'no such')).code, 3);
  assert.is((await on.run('show', 'doomed')).code, 0, 'nothing is deleted unless all are found');
  const deleted = await on.run('delete', '--force', 'doomed', 'doomed too');
  assert.equal(deleted, { code: 0, stdout: '', stderr: 'doomed: deleted\ndoomed too: deleted\n' });
  assert.is((await on.run('show', 'doomed')).code, 3);
});

snitches('a snitch is named by token or name; a name of two is refused with their tokens', async () => {
  const first = await on.json<WireSnitch>('create', 'twin', '-i', 'daily');
  const second = await on.json<WireSnitch>('create', 'twin', '-i', 'daily');
  assert.is((await on.json<WireSnitch>('show', second.token)).token, second.token);
  const { code, stderr } = await on.run('show', 'twin');
  assert.is(code, 2);
  assert.match(stderr, first.token);
  assert.match(stderr, second.token);
});

snitches('a mistyped name is answered with what was perhaps meant', async () => {
  await on.run('create', 'nightly-backup', '-i', 'daily');
  const { code, stdout, stderr } = await on.run('show', 'nihgtly-backup');
  assert.is(code, 3);
  assert.is(stdout, '');
  assert.match(stderr, 'did you mean "nightly-backup"?');
});

snitches('an unknown interval is a usage error that lists those there are', async () => {
  const { code, stderr } = await on.run('create', 'x', '--interval', 'dayly');
  assert.is(code, 2);
  assert.match(stderr, 'Did you mean daily?');
  assert.match(stderr, '12_hour');
  assert.is((await on.run('create', 'x')).code, 2);
});

snitches.run();
