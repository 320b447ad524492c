/** Questions below the table, on small terminals and with long answers. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { displayWidth } from '../../../src/text/width.ts';
import { ASCII, UNICODE } from '../../../src/tui/drawing/glyphs.ts';
import type { Line } from '../../../src/tui/drawing/line.ts';
import { layoutOf } from '../../../src/tui/model/layout.ts';
import { promptLines } from '../../../src/tui/model/prompt-lines.ts';
import type { State } from '../../../src/tui/model/state.ts';
import { after, beginning, FLEET, keys, read, typed } from '../samples.ts';

const test = suite('questions of the dashboard');

const textOf = (line: Line) => line.map(({ text }) => text).join('');

/** The lines that there is room for. */
function shown(state: State): string[] {
  return promptLines(state, UNICODE).slice(0, layoutOf(state).promptHeight).map(textOf);
}

test('the choice is on the screen, and so is what is typed and what is wrong with it', () => {
  const low = after(beginning(40, 12), read(FLEET));
  for (const key of ['p', 'z', 'Y']) {
    let asking = after(low, ...keys(key));
    for (let pressed = 0; pressed < 8; pressed += 1) {
      assert.is(
        shown(asking).filter((line) => line.startsWith(UNICODE.cursor)).length,
        1,
        `${key} ${pressed}`,
      );
      asking = after(asking, ...keys('down'));
    }
  }
  const other = after(low, ...keys('p', 'up'), ...typed('sometime'));
  assert.ok(shown(other).some((line) => line.includes('another time: sometime')));
  const wrong = after(other, ...keys('enter'));
  const { overlay } = wrong;
  assert.ok(overlay?.kind === 'pause' && overlay.problem !== null);
  assert.ok(shown(wrong).join(' ').includes(overlay.problem.split(' ').slice(-3).join(' ')));
});

test('the end of a long text is on the screen while it is typed', () => {
  const text = `${'夜 a '.repeat(60)}the end`;
  for (const open of [['/'], ['#'], ['a'], ['p', 'up'], ['z', 'up']]) {
    const state = after(beginning(), read(FLEET), ...keys(...open), { kind: 'paste', text });
    for (const glyphs of [UNICODE, ASCII]) {
      const lines = promptLines(state, glyphs).map(textOf);
      assert.ok(
        lines.some((line) => line.trimEnd().endsWith('the end')),
        open.join(),
      );
      for (const line of lines) assert.ok(displayWidth(line) <= 100, line);
    }
    const back = after(state, ...keys('home'));
    assert.ok(
      promptLines(back, UNICODE).some((line) => textOf(line).includes('夜 a 夜')),
      open.join(),
    );
  }
});

test.run();
