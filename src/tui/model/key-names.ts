/** Gives each key one name: `j`, `G`, `up`, `enter`, `ctrl+c`, `shift+tab`. */
import type { Key } from 'ink';
import { charactersOf } from '../../text/width.ts';

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

/** Several names if the terminal sent several characters at once, as it does when somebody types fast. */
export function keyNames(input: string, key: Key): string[] {
  if (key.tab) return [key.shift ? 'shift+tab' : 'tab'];
  const named = NAMED.find(([property]) => key[property]);
  if (named) return [named[1]];
  if (key.ctrl) return [`ctrl+${input}`];
  if (key.meta) return [];
  return charactersOf(input).map(nameOfCharacter);
}

/** Ink does not separate several keys in one chunk, so control characters among them are recognised here. */
function nameOfCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (character === ' ') return 'space';
  if (code === 9) return 'tab';
  if (code === 13 || code === 10) return 'enter';
  if (code === 127) return 'backspace';
  return code < 32 ? `ctrl+${String.fromCharCode(code + 96)}` : character;
}
