import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireBadge } from '../../../src/api/wire-badge.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('snitch badge');
let on: Commands;

test.before.each(async () => {
  on = await withCase();
});
test.after.each(() => on.end());
test.after(async () => {
  await on.daemon.end();
});

test('add prints what to paste, and the picture is there', async () => {
  const name = 'a]*"<b>';
  await on.make(name);
  const { code, stdout, stderr } = await on.run('badge', 'add', name);
  assert.is(code, 0, stderr);
  const [badge] = await on.json<WireBadge[]>('badge', 'list');
  const { url = '', id = '' } = badge ?? {};
  assert.equal(stdout.split('\n').slice(-4), [
    `![a\\]\\*"\\<b\\>](${url})`,
    `<img alt="a]*&quot;&lt;b&gt;" src="${url}">`,
    url,
    '',
  ]);
  const picture = await fetch(url);
  assert.is(picture.status, 200);
  assert.match(await picture.text(), 'pending</text>');
  const listed = await on.run('badge');
  assert.match(listed.stdout, id);
  assert.is((await on.run('badge', 'delete', url)).code, 2, 'without a terminal nobody is asked');
  assert.is((await on.run('badge', 'delete', url, '--force')).code, 0);
  assert.equal(await on.json('badge', 'list'), []);
  assert.is((await on.run('badge', 'delete', id, '--force')).code, 3);
});

test('a badge of a tag, with a label of its own', async () => {
  const made = await on.json<WireBadge>('badge', 'add', '--tag', 'web', '--label', 'our site');
  assert.equal([made.tag, made.label, made.name, made.token], ['web', 'our site', null, null]);
  const quiet = await on.run('badge', 'add', '--tag', 'web', '-q');
  assert.match(quiet.stdout, /^badge_[a-z2-7]{16}\n$/);
  assert.is(quiet.stderr, '');
  const mistaken = await on.run('badge', 'add', '--tag', 'wbe');
  assert.is(mistaken.stderr, 'no snitch has the tag "wbe" now: the badge says "unknown" until one has\n');
  await on.make('shop', { tags: ['wbe'] });
  assert.is((await on.run('badge', 'add', '--tag', 'wbe')).stderr, '');
});

test('what cannot be is said before anything is made', async () => {
  for (const words of [[], ['x', '--tag', 'y']]) {
    const { code, stderr } = await on.run('badge', 'add', ...words);
    assert.is(code, 2);
    assert.match(stderr, '--tag TAG');
  }
  assert.is((await on.run('badge', 'add', 'nobody')).code, 3);
  const long = await on.run('badge', 'add', '--tag', 'web', '--label', 'x'.repeat(101));
  assert.is(long.code, 1);
  assert.match(long.stderr, 'label');
  assert.equal(await on.json('badge', 'list'), []);
});

test.run();
