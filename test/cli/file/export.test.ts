import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSnitchWith } from '../piped.ts';
import { type Commands, withCase, withDaemon } from '../with-daemon.ts';

const test = suite<{ one: Commands; other: Commands; file: string }>('snitch export');

test.before.each(async (context) => {
  const [one, other] = await Promise.all([withCase(), withDaemon()]);
  Object.assign(context, { one, other, file: join(one.daemon.dataDir, 'case.yaml') });
});
test.after.each(async ({ one, other }) => {
  await Promise.all([one.end(), other.end()]);
});

/** Names and notes that a careless file would not bring back as they were. */
const HARD = [
  'plain',
  '123',
  'true',
  'null',
  '~',
  '- dash: colon # hash',
  ' leading and trailing ',
  'émoji 🌙 👩‍👩‍👧',
  'rtl \u202e\u2066 x \ufeff',
  'quotes \' and "',
  'back\\slash \\u202e',
  '<<',
  '2026-01-01',
  '*alias &anchor !tag %x @y `z`',
  '{a: b}',
  '\u{e0001}tagged',
];

const NOTES = [
  'line one\nline two\n',
  '  indented\n\n\ntabs\t and \r\n returns  ',
  '\n',
  '# no comment',
  'x: |\n  y',
];

async function furnish({ daemon }: Commands): Promise<void> {
  const settings = { name: 'Müller & Co: #1', timezone: 'America/New_York', members: ['a@b.example'] };
  assert.is((await daemon.call('PATCH', '/v1/case', { ...settings, reminders: 'daily' })).status, 200);
  await daemon.call('POST', '/v1/webhooks', { url: 'https://user:s3cr3t@hook.example.com/' });
  for (const [index, name] of [...HARD, 'plain'].entries()) {
    const notes = NOTES[index % NOTES.length];
    const alert_email = index % 2 ? ['x@example.com', 'y@example.com'] : [];
    const snitch = {
      name,
      interval: 'hourly',
      alert_type: 'smart',
      notes,
      alert_email,
      tags: [name.trim(), 'yes'],
    };
    assert.is((await daemon.call('POST', '/v1/snitches', snitch)).status, 200, name);
  }
}

async function contentOf(commands: Commands) {
  const { id: _id, created_at: _at, ...settings } = await commands.json('case', 'show');
  const snitches = await commands.listed();
  const own = snitches.map(({ created_at: _created, check_in_url: _url, ...same }) => same);
  return { settings, snitches: own.sort((a, b) => (a.token < b.token ? -1 : 1)) };
}

test('an export applied to an empty case gives the same case, tokens included', async ({
  one,
  other,
  file,
}) => {
  await furnish(one);
  const { code, stdout, stderr } = await one.run('export');
  assert.is(code, 0, stderr);
  assert.not.match(stdout, /s3cr3t|whsec_|snk_/);
  assert.not.match(stdout, /[\u202e\u2066\ufeff\u2028\r\t]/);
  writeFileSync(file, stdout);
  const applied = await other.run('apply', '-f', file, '--yes');
  assert.is(applied.code, 0, applied.stderr);
  assert.equal(await contentOf(other), await contentOf(one));
  assert.is((await other.run('export')).stdout, stdout);
  assert.is((await other.run('diff', '-f', file, '--exit-code')).code, 0);
});

test('webhooks are not in the file, and whoever exports is told', async ({ one }) => {
  assert.is((await one.run('export')).stderr, '');
  await one.run('webhook', 'add', 'https://user:s3cr3t@hooks.example.com/x');
  const { stdout, stderr } = await one.run('export');
  assert.not.match(stdout, /hooks\.example\.com|whsec_/);
  assert.match(stderr, /^1 webhook is not in the file, because .*snitch webhook add URL/);
  assert.is((await one.run('export', '-q')).stderr, '');
});

test('an export applied to its own case changes nothing', async ({ one, file }) => {
  await furnish(one);
  const before = await contentOf(one);
  writeFileSync(file, (await one.run('export')).stdout);
  const applied = await one.run('apply', '-f', file, '--yes');
  assert.equal(applied, { code: 0, stdout: '', stderr: `${HARD.length + 1} unchanged\n` });
  assert.equal(await contentOf(one), before);
});

test('one file’s snitches are exported alone, and without tokens if wanted', async ({ one, file }) => {
  await one.make('by-hand');
  writeFileSync(file, 'owner: web\nsnitches: [{name: a, interval: hourly, token: c2354d53d2}]\n');
  await one.run('apply', '-f', file, '--yes');
  const { stdout } = await one.run('export', '--owner', 'web', '--no-tokens');
  assert.is(
    stdout,
    [
      '# Made by `snitch export`; `snitch diff -f` and `snitch apply -f` read it.',
      '',
      'owner: web',
      'case:',
      '  name: default',
      '  timezone: UTC',
      '  members: []',
      '  reminders: period',
      'snitches:',
      '  - name: a',
      '    interval: hourly',
      '',
    ].join('\n'),
  );
  assert.is((await one.run('export', '--owner', 'db')).code, 3);
  const { owner, snitches } = await one.json<{ owner: string; snitches: unknown }>(
    'export',
    '--owner',
    'web',
  );
  assert.equal([owner, snitches], ['web', [{ name: 'a', interval: 'hourly', token: 'c2354d53d2' }]]);
});

test('a token that another case has is told with its line, and nothing is applied', async ({ one, file }) => {
  await one.make('mine');
  const exported = (await one.run('export')).stdout;
  writeFileSync(file, exported);
  const { daemon } = one;
  const made = await daemon.call('POST', '/v1/cases', { name: 'second' }, daemon.adminKey);
  const { id } = (await made.json()) as { id: string };
  const answer = await daemon.call('POST', `/v1/cases/${id}/api_keys`, { name: 'k' }, daemon.adminKey);
  const { key } = (await answer.json()) as { key: string };
  const keyFile = join(daemon.dataDir, 'second.key');
  writeFileSync(keyFile, key);
  const { code, stderr } = await one.run('apply', '-f', file, '--yes', '--api-key-file', keyFile);
  assert.is(code, 1);
  assert.match(stderr, /case\.yaml:\d+: mine: token: is taken/);
  assert.equal(await one.json('list', '--api-key-file', keyFile), []);
});

test('export and apply are joined by a pipe', async ({ one, other }) => {
  await one.make('nightly');
  const { stdout } = await one.run('export');
  const applied = await runSnitchWith(stdout, ['apply', '-f', '-', '--yes'], other.env);
  assert.is(applied.code, 0, applied.stderr);
  assert.equal((await contentOf(other)).snitches, (await contentOf(one)).snitches);
});

test.run();
