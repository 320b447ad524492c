/** How wide a text is on a terminal: for the tables of the command line and of the dashboard alike. */
import stringWidth from 'string-width';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  displayWidth,
  fit,
  fitRight,
  pad,
  takeColumns,
  toAscii,
  truncate,
  wrapWords,
} from '../../src/text/width.ts';
import { cases } from '../cases.ts';

const test = suite('the width of a text');

/** Fillers, which show nothing and which terminals give columns, and the later parts of a Korean syllable. */
const DISPUTED = /[\u115f\u1160-\u11ff\u3164\uffa0]/;

function* characters(): Generator<string> {
  for (let code = 0x20; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const isShown = !/[\p{C}\u2028\u2029]|\ufe0e|\ufe0f/u.test(character);
    if (isShown && !DISPUTED.test(character)) yield character;
  }
}

test('each character is as wide as a package that is slow to load says', () => {
  const all = [...characters()];
  const every = Math.max(1, Math.floor(all.length / cases(all.length)));
  const tried = all.filter((_, index) => index % every === 0);
  const wrong = tried.filter((character) => displayWidth(character) !== stringWidth(character));
  assert.equal(
    wrong.map((character) => character.codePointAt(0)?.toString(16)),
    [],
  );
});

test('characters of several parts', () => {
  const widths: [string, number][] = [
    ['e\u0301', 1],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['🇩', 1],
    ['각', 2],
    ['กำ', 2],
    ['क्ष', 2],
    ['夜間', 4],
  ];
  for (const [text, width] of widths) assert.is(displayWidth(text), width, text);
});

test('what is cut is never wider than it may be, and never halved', () => {
  const text = 'a夜👍🏽🇩🇪e\u0301각';
  for (let width = 0; width < 12; width += 1) {
    assert.ok(displayWidth(takeColumns(text, width)) <= width);
    assert.ok(displayWidth(truncate(text, width)) <= width);
    assert.is(displayWidth(fit(text, width)), width);
    assert.ok(text.startsWith(takeColumns(text, width)));
  }
  assert.is(takeColumns(text, 4), 'a夜');
  assert.is(takeColumns(text, 5), 'a夜👍🏽');
});

test('plain text is cut, padded and marked by its letters', () => {
  assert.equal([takeColumns('abc', 2), takeColumns('abc', -1), takeColumns('夜', -1)], ['ab', '', '']);
  assert.equal([truncate('abc', 3), truncate('abc', 2), truncate('abc', 1)], ['abc', 'a…', '…']);
  assert.equal([truncate('abc', 0), truncate('abc', 2, '~')], ['', 'a~']);
  assert.equal([pad('ab', 4), pad('ab', 4, 'right'), pad('ab', 1)], ['ab  ', '  ab', 'ab']);
  assert.equal([fit('ab', 4), fit('ab', 2), fit('abc', 2), fit('abc', 1)], ['ab  ', 'ab', 'a…', '…']);
  assert.equal([fit('abc', 0), fit('abc', -1), fit('夜夜', 3, '~')], ['', '', '夜~']);
  assert.is(fit('夜夜夜', 4, '~'), '夜 ~', 'half of a wide character is a blank');
  assert.equal([fitRight('ab', 4), fitRight('ab', 2), fitRight('abc', 2)], ['  ab', 'ab', 'a…']);
});

test('a sentence is broken between words, and a word where it must be', () => {
  assert.equal(wrapWords('one two three', 7), ['one two', 'three']);
  assert.equal(wrapWords('one two three', 6), ['one', 'two', 'three']);
  assert.equal(wrapWords('abcdefgh', 3), ['abc', 'def', 'gh']);
  assert.equal(wrapWords('abcdef', 3), ['abc', 'def']);
  assert.equal(wrapWords('x abcdef y', 3), ['x', 'abc', 'def', 'y']);
  assert.equal(wrapWords('夜間 夜', 4), ['夜間', '夜']);
  assert.equal(wrapWords('夜間', 1), ['夜', '間'], 'a wide character has a line that is too narrow');
  assert.equal(wrapWords('ab', 0), ['a', 'b']);
  assert.equal(wrapWords('', 5), ['']);
  assert.equal(wrapWords('abc ', 3), ['abc']);
});

test('a terminal that knows only ASCII shows as many columns', () => {
  const text = 'a夜👍🏽e\u0301ü✓';
  assert.is(toAscii(text), 'a?????' + '??');
  assert.is(displayWidth(toAscii(text)), displayWidth(text));
  assert.is(toAscii('plain'), 'plain');
  assert.is(toAscii('\u0301'), '?', 'a mark alone');
});

test.run();
