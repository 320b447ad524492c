/** Changes in the texts that nodes send each other. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Change } from '../../../../src/store/change.ts';
import { heardIn, textsOf } from '../../../../src/store/postgres/changes/messages.ts';

const test = suite('messages between nodes');

/** The server refuses one byte more. */
const MOST_BYTES = 7_999;

const snitch = (token: string): Change => ({ kind: 'snitch', caseId: 'case_a', token });

const EVERY_KIND: Change[] = [
  { kind: 'deliveries' },
  { kind: 'deliveries', channels: ['email'] },
  {
    kind: 'alert',
    alertId: 'a',
    type: 'snitch.missing',
    token: 't',
    name: 'nächtlich 🎈 "x"',
    deliveries: 2,
  },
  snitch('t'),
  { kind: 'silences', caseId: 'c' },
  { kind: 'access', caseId: 'c', keyId: null },
  { kind: 'access', caseId: 'c', keyId: 'k' },
];

test('every kind of change arrives as it was sent, at the others alone', () => {
  const [text = '', ...more] = textsOf('a', EVERY_KIND, false);
  assert.equal(more, []);
  assert.equal(heardIn(text, 'b'), { changes: EVERY_KIND });
  assert.is(heardIn(text, 'a'), null);
});

test('what was said twice is sent once', () => {
  const [text = ''] = textsOf('a', [snitch('t'), snitch('u'), snitch('t')], false);
  assert.equal(heardIn(text, 'b'), { changes: [snitch('t'), snitch('u')] });
  assert.equal(textsOf('a', [], false), []);
});

test('many are split where the server takes no more, and none is lost', () => {
  for (const name of ['x', 'ä🎈']) {
    const changes = Array.from({ length: 2_000 }, (_, index) => snitch(`${name}${index}`));
    const texts = textsOf('a', changes, false);
    assert.ok(texts.length > 10);
    assert.ok(texts.every((text) => Buffer.byteLength(text) <= MOST_BYTES));
    const heard = texts.flatMap((text) => {
      const one = heardIn(text, 'b');
      return one && one !== 'reset' ? one.changes : [];
    });
    assert.equal(heard, changes);
  }
});

test('a text is filled to the last byte, and one more begins the next', () => {
  const empty = Buffer.byteLength(textsOf('a', [snitch('')], false)[0] ?? '');
  const fits = textsOf('a', [snitch('x'.repeat(MOST_BYTES - empty))], false);
  assert.equal(
    fits.map((text) => Buffer.byteLength(text)),
    [MOST_BYTES],
  );
  assert.is.not(heardIn(fits[0] ?? '', 'b'), 'reset');
  const [reset = ''] = textsOf('a', [snitch('x'.repeat(MOST_BYTES - empty + 1))], false);
  assert.is(heardIn(reset, 'b'), 'reset');
});

test('too many, or some that were lost before, are one reset', () => {
  const many = Array.from({ length: 40_000 }, (_, index) => snitch(`token-${index}`));
  for (const texts of [
    textsOf('a', many, false),
    textsOf('a', [snitch('t')], true),
    textsOf('a', [], true),
  ]) {
    assert.is(texts.length, 1);
    assert.is(heardIn(texts[0] ?? '', 'b'), 'reset');
    assert.is(heardIn(texts[0] ?? '', 'a'), null);
  }
});

test('what cannot be read, or is known to newer nodes alone, is a reset and no error', () => {
  for (const text of [
    '',
    '{',
    '{}',
    '7',
    '["a",7]',
    '["a",{"kind":"snitch"}]',
    '["a",{"kind":"snitch","caseId":7,"token":"t"}]',
    '["a",{"kind":"of later","caseId":"c"}]',
    '["a",{"kind":"toString"}]',
    '["a",{"kind":"deliveries","channels":"email"}]',
    '["a",[]]',
  ])
    assert.is(heardIn(text, 'b'), 'reset', text);
  assert.equal(heardIn('["a"]', 'b'), { changes: [] });
});

test.run();
