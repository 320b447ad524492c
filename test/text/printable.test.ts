/** What comes from outside is shown whole, and steers nothing. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  editable,
  outputLines,
  printable,
  printableJson,
  printableLines,
  shorten,
  shortenFront,
} from '../../src/text/printable.ts';

const test = suite('text from outside');

test('what does not show is written as an escape, in one line or in several', () => {
  assert.is(printable('a\nb\tc\u001b[1m\u202e\u{e0041}'), 'a\\nb\\tc\\u001b[1m\\u202e\\u{e0041}');
  assert.equal(printableLines('a\r\nb\rc\td\u001b[1m'), ['a', 'b', 'c    d\\u001b[1m']);
  assert.is(printable('\ud800'), '\ufffd');
});

test('what a job printed loses its colours', () => {
  assert.equal(outputLines('one\r\n\t\u001b[1;31mtwo\u001b[K\u0000\nthree'), [
    'one',
    '    two\\u0000',
    'three',
  ]);
});

test('joiners go, and leave the characters that they joined', () => {
  assert.is(printable('👨‍👩‍👧 ❤️'), '👨👩👧 ❤');
  assert.is(editable('👨‍👩‍👧\n❤️\u0007'), '👨👩👧 ❤');
});

test('JSON keeps its value and its line breaks', () => {
  const json = JSON.stringify({ name: 'a\u202e\u009b\u{e0041}' }, null, 2);
  assert.match(printableJson(json), /\n {2}"name": "a\\u202e\\u009b\\udb40\\udc41"/);
  assert.equal(JSON.parse(printableJson(json)), JSON.parse(json));
});

test('no character is halved where a text is cut', () => {
  assert.is(shorten('abcdef', 6), 'abcdef');
  assert.is(shorten('abcdef', 4), 'abc…');
  assert.is(shorten('ab👍🏽cd', 6), 'ab…');
  assert.is(shorten('ab👍🏽cd', 7), 'ab👍🏽…');
  assert.is(shorten('ab', 1), '…');
  assert.is(shorten('e\u0301e\u0301e\u0301', 4), 'e\u0301…');
  assert.is(shortenFront('first line\nsecond and third', 20), '…\nsecond and third');
  assert.is(shortenFront('abcdef', 6), 'abcdef');
  assert.is(shortenFront('abcdefg', 6), '…\ncdefg');
  assert.is(
    shortenFront('0123456789\nabc', 10),
    '…\n56789\nabc',
    'more than half is not thrown away for that',
  );
  assert.is(shortenFront('0123456789\nabcdef', 10), '…\nabcdef');
});

test.run();
