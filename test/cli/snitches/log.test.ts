/** `snitch log`: who changed what. Time limit: 120 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireLogEntry } from '../../../src/api/log.ts';
import { displayWidth } from '../../../src/text/width.ts';
import { onTerminal, plain } from '../on-terminal.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withDaemon } from '../with-daemon.ts';

const test = suite('snitch log');
let on: Commands;

test.before(async () => {
  on = await withDaemon();
  const key = (await on.run('key', 'create', 'ops-key', '-q')).stdout.trim();
  const ops = { SNITCH_URL: on.daemon.url, SNITCH_API_KEY: key, TZ: 'UTC' };
  await on.make('nightly-backup');
  await on.run('check-in', 'nightly-backup');
  await runSnitch(['pause', 'nightly-backup', '--until', '2h'], ops);
  await runSnitch(
    ['edit', 'nightly-backup', '--interval', 'weekly', '--notes', 'the password is s3cret'],
    ops,
  );
  await on.make('gone');
  await runSnitch(['delete', 'gone', '-f'], ops);
});
test.after(() => on.end());

test('who did what, the newest last, a line for each', async () => {
  const { code, stdout, stderr } = await on.run('log');
  assert.equal([code, stderr], [0, '']);
  const lines = stdout.trimEnd().split('\n');
  const iso = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';
  assert.match(lines.at(-1) ?? '', new RegExp(`^${iso} ops-key deleted gone$`));
  assert.ok(
    lines.some((line) => new RegExp(`^${iso} ops-key paused nightly-backup until ${iso}$`).test(line)),
  );
  assert.ok(
    lines.some((line) => / ops-key changed nightly-backup: .*interval from daily to weekly/.test(line)),
  );
  assert.match(lines[0] ?? '', /the server made the case default$/);
  assert.not.match(stdout, 's3cret');
});

test('of one snitch, also one that is deleted; of one that never was, with exit code 3', async () => {
  const own = await on.json<WireLogEntry[]>('log', 'nightly-backup');
  assert.equal(
    own.map(({ action }) => action),
    ['snitch.changed', 'snitch.paused', 'snitch.created'],
  );
  const gone = await on.json<WireLogEntry[]>('log', 'gone');
  assert.equal(
    gone.map(({ action, by }) => [action, by.name]),
    [
      ['snitch.deleted', 'ops-key'],
      ['snitch.created', 'first start'],
    ],
  );
  assert.equal(await on.json('log', gone[0]?.subject.id ?? ''), gone);
  const never = await on.run('log', 'nightly-backpu');
  assert.is(never.code, 3);
  assert.match(never.stderr, 'did you mean "nightly-backup"?');
});

test('since a time, so many, and of one kind', async () => {
  assert.is((await on.json<WireLogEntry[]>('log', '-n', '2')).length, 2);
  const paused = await on.json<WireLogEntry[]>('log', '--since', '2d', '--action', 'snitch.paused');
  assert.is(paused.length, 1);
  assert.ok((await on.json<WireLogEntry[]>('log', '--since', '2020-01-01')).length > 5);
  const later = await on.run('log', '--since', '2099-01-01');
  assert.equal([later.code, later.stdout], [0, '']);
  assert.match(later.stderr, 'nobody changed anything since 2099-01-01');
  for (const args of [
    ['--since', 'yesterday'],
    ['--since', '-2d'],
    ['-n', '0'],
    ['--admin', 'x'],
  ]) {
    assert.is((await on.run('log', ...args)).code, 2, args.join(' '));
  }
  const unknown = await on.run('log', '--action', 'snitch.eaten');
  assert.is(unknown.code, 1);
  assert.match(unknown.stderr, 'must be one of snitch.created');
  const noDay = await on.run('log', '--since', '2026-02-30');
  assert.equal([noDay.code, noDay.stdout], [2, '']);
});

test('what was done to the server, with the admin key', async () => {
  const entries = await on.json<WireLogEntry[]>('log', '--admin');
  assert.ok(entries.some(({ action, by }) => action === 'case.created' && by.name === 'the server'));
});

test('forty columns are enough, and no name moves the cursor', async () => {
  const name = `\u202eeve \u{e0041}${'long '.repeat(30)}日本語`;
  const { status } = await on.daemon.call('POST', '/v1/snitches', {
    name,
    interval: 'daily',
    tags: ['a\u200b'],
  });
  assert.is(status, 200);
  const made = await on.daemon.call('POST', '/v1/api_keys', { name: 'k\u202eey', scope: 'read' });
  assert.is(made.status, 200);
  for (const columns of [40, 60, 200]) {
    const { screen, code } = await onTerminal(['log', '-n', '4'], { columns, env: on.env });
    assert.is(code, 0);
    const lines = plain(screen).trimEnd().split('\n');
    for (const line of lines) {
      assert.not.match(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u);
      assert.ok(displayWidth(line) <= columns, line);
    }
    assert.match(lines[0] ?? '', /^(\d\d-\d\d )?\d\d:\d\d /);
  }
});

test('explain and show name who paused it, and show says until when', async () => {
  const { stdout } = await on.run('explain', 'nightly-backup');
  assert.match(stdout, /ops-key paused it at \d{4}-/);
  const time = '\\d{4}-\\d\\d-\\d\\d\\S* ?\\S* ?\\S*';
  const shown = await on.run('show', 'nightly-backup');
  assert.match(shown.stdout, new RegExp(`\nPaused: +until ${time}\n +by ops-key at ${time}\n`));
  assert.is((await on.run('pause', 'nightly-backup')).code, 0);
  assert.match(
    (await on.run('show', 'nightly-backup')).stdout,
    /\nPaused: +until its next healthy check-in\n/,
  );
  assert.is((await on.run('unpause', 'nightly-backup')).code, 0);
  assert.not.match((await on.run('show', 'nightly-backup')).stdout, /Paused/);
});

test.run();
