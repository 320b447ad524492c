/** How wide a text is on a terminal: for the tables of the command line and of the dashboard alike. */
import stringWidth from 'string-width';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { displayWidth, fit, takeColumns, truncate } from '../../src/text/width.ts';

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
  const wrong = [...characters()].filter((character) => displayWidth(character) !== stringWidth(character));
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

test.run();
