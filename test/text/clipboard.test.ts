import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clipboardSequence } from '../../src/text/clipboard.ts';

const test = suite('the clipboard of the terminal');

const PLAIN = '\u001b]52;c;aGk=\u0007';

test('a text is copied by OSC 52', () => {
  assert.is(clipboardSequence('hi', {}), PLAIN);
  assert.is(clipboardSequence('é', {}), '\u001b]52;c;w6k=\u0007');
});

test('in tmux both ways are tried, because only one of them works', () => {
  const wrapped = '\u001bPtmux;\u001b\u001b]52;c;aGk=\u0007\u001b\\';
  assert.is(clipboardSequence('hi', { TMUX: '/tmp/tmux-0/default,1,0' }), PLAIN + wrapped);
});

test('GNU screen passes on what is wrapped for it, in parts that fit its buffer', () => {
  assert.is(clipboardSequence('hi', { STY: '1' }), `\u001bP${PLAIN}\u001b\\`);
  const text = 'long '.repeat(400);
  const parts = String(clipboardSequence(text, { STY: '1' })).split('\u001b\\');
  assert.is(parts.pop(), '');
  assert.ok(parts.length > 4 && parts.every((part) => part.startsWith('\u001bP') && part.length <= 600));
  assert.is(parts.map((part) => part.slice(2)).join(''), clipboardSequence(text, {}));
});

test('a text that terminals would drop is refused', () => {
  assert.is.not(clipboardSequence('x'.repeat(56_000), {}), null);
  assert.is(clipboardSequence('x'.repeat(57_000), {}), null);
});

test.run();
