/** The mouse is taken out of the input; everything else reaches Ink as it was. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookOf } from '../../../src/tui/terminal/capabilities.ts';
import { createMouseReader, type MouseEvent } from '../../../src/tui/terminal/mouse-input.ts';

const test = suite('mouse and terminal');

test('clicks and the wheel are read, across any cuts, and keys pass', () => {
  const text = 'a\u001b[<0;10;5M\u001b[<0;10;5mb\u001b[A\u001b[<64;1;1M\u001b[<65;1;1Mc';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const events: MouseEvent[] = [];
    const read = createMouseReader((event) => events.push(event));
    const rest = read(text.slice(0, cut)) + read(text.slice(cut));
    // A cut right after an escape looks like the escape key; what follows is then not a mouse report.
    if (text[cut - 1] === '\u001b') continue;
    assert.is(rest, 'ab\u001b[Ac', `cut at ${cut}`);
    assert.equal(
      events,
      [
        { kind: 'click', column: 9, row: 4 },
        { kind: 'wheel', by: -1 },
        { kind: 'wheel', by: 1 },
      ],
      `cut at ${cut}`,
    );
  }
});

test('the escape key is not held back', () => {
  const read = createMouseReader(() => assert.unreachable());
  assert.is(read('\u001b'), '\u001b');
});

test('the environment says what the terminal can show', () => {
  assert.is(lookOf({ LANG: 'de_DE.UTF-8' }).glyphs.unicode, true);
  assert.is(lookOf({ LANG: 'C' }).glyphs.unicode, false);
  assert.is(lookOf({ LANG: 'en_US.UTF-8', LC_ALL: 'C' }).glyphs.unicode, false);
  assert.is(lookOf({ LANG: 'C.utf8' }).styling, 'color');
  assert.is(lookOf({ NO_COLOR: '1' }).styling, 'plain');
});

test.run();
