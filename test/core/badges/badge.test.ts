import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type BadgeState, labelOf, worstOf } from '../../../src/core/badges/badge.ts';
import { validateNewBadge } from '../../../src/core/badges/input.ts';
import type { PublicState } from '../../../src/core/status-page/state.ts';

const test = suite('what a badge says');

test('a badge of several snitches shows the worst status, and paused counts least', () => {
  const cases: [PublicState[], BadgeState][] = [
    [[], 'unknown'],
    [['paused'], 'paused'],
    [['paused', 'pending'], 'pending'],
    [['paused', 'pending', 'planned'], 'planned'],
    [['paused', 'planned', 'well'], 'well'],
    [['well', 'error', 'paused'], 'error'],
    [['well', 'error', 'missing', 'pending'], 'missing'],
  ];
  for (const [statuses, worst] of cases) assert.is(worstOf(new Set(statuses)), worst, statuses.join());
});

test('the label is the one given, else the current name or the tag, on one visible line', () => {
  const snitch = { kind: 'snitch', token: 'x', name: 'nightly', publicName: null } as const;
  const tag = { kind: 'tag', tag: 'web 1' } as const;
  assert.is(labelOf({ label: null, subject: snitch }), 'nightly');
  assert.is(labelOf({ label: null, subject: { ...snitch, publicName: 'Backup' } }), 'Backup');
  assert.is(labelOf({ label: 'ours', subject: snitch }), 'ours');
  assert.is(labelOf({ label: null, subject: { ...snitch, name: '\u202e\u200b' } }), '(no name)');
  assert.is(labelOf({ label: null, subject: tag }), 'web 1');
  assert.is(labelOf({ label: ' a\t\u202e\u0000b\ufffe \ud800 c', subject: tag }), 'a b \ufffd c');
  const long = labelOf({ label: 'x'.repeat(300), subject: tag });
  assert.is(long, `${'x'.repeat(99)}…`);
});

test('a badge is for one snitch or one tag, and a tag is checked as those of snitches are', () => {
  const value = (body: object) => validateNewBadge(body).value;
  const refused = (body: object) =>
    validateNewBadge(body).validations?.map(({ attribute, message }) => `${attribute} ${message}`);
  assert.equal(value({ token: 'abc', label: 'ours' }), {
    subject: { kind: 'snitch', token: 'abc' },
    label: 'ours',
  });
  assert.equal(value({ tag: 'web', label: ' ' }), { subject: { kind: 'tag', tag: 'web' }, label: null });
  assert.equal(refused({ token: 'abc', tag: 'web' }), ['tag excludes "token": make a badge for each']);
  assert.equal(refused({}), ['token is missing: say of what, by "token" or by "tag"']);
  for (const body of [null, 'web', [], 7])
    assert.equal(
      validateNewBadge(body).validations?.map(({ attribute }) => attribute),
      ['body'],
    );
  assert.equal(refused({ token: 5 }), ['token must be a string']);
  assert.equal(refused({ tag: ' ' }), ["tag can't be blank"]);
  for (const tag of [7, 'x'.repeat(300), 'a\nb']) {
    assert.match(String(refused({ tag, label: 5 })), /^tag .+,label must be a string$/);
  }
});

test.run();
