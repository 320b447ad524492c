/** One name per key: `j`, `G`, `up`, `enter`, `ctrl+c`, `shift+tab`. */
import type { Key } from 'ink';
import { charactersOf } from './text.ts';

const NAMED = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageDown', 'pagedown'],
  ['pageUp', 'pageup'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
] as const satisfies readonly (readonly [keyof Key, string])[];

/** Several names where a terminal sent several characters at once, as it does when somebody types fast. */
export function keyNames(input: string, key: Key): string[] {
  if (key.tab) return [key.shift ? 'shift+tab' : 'tab'];
  const named = NAMED.find(([property]) => key[property]);
  if (named) return [named[1]];
  if (key.ctrl) return [`ctrl+${input}`];
  if (key.meta) return [];
  return charactersOf(input).map((character) => {
    if (character === ' ') return 'space';
    return character === '\r' || character === '\n' ? 'enter' : character;
  });
}
