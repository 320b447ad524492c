/** One line of text that somebody is typing. */
import { editable } from '../../text/printable.ts';
import { charactersOf, displayWidth, takeColumns } from '../../text/width.ts';

export interface TextField {
  text: string;
  /** Index into `text`, always between two characters. */
  caret: number;
}

export function fieldWith(text: string): TextField {
  return { text, caret: text.length };
}

/** Null if the key does nothing in a text. */
export function typeInto(field: TextField, key: string): TextField | null {
  const { text, caret } = field;
  const before = charactersOf(text.slice(0, caret)).at(-1)?.length ?? 0;
  const after = charactersOf(text.slice(caret))[0]?.length ?? 0;
  switch (key) {
    case 'left':
      return { text, caret: caret - before };
    case 'right':
      return { text, caret: caret + after };
    case 'home':
    case 'ctrl+a':
      return { text, caret: 0 };
    case 'end':
    case 'ctrl+e':
      return { text, caret: text.length };
    case 'backspace':
      return { text: text.slice(0, caret - before) + text.slice(caret), caret: caret - before };
    case 'delete':
      return { text: text.slice(0, caret) + text.slice(caret + after), caret };
    case 'ctrl+u':
      return { text: text.slice(caret), caret: 0 };
    case 'ctrl+w':
      return deleteWord(field);
    case 'space':
      return insert(field, ' ');
    default:
      return charactersOf(key).length === 1 ? insert(field, key) : null;
  }
}

/** Inserts a pasted text, in which line ends become spaces. */
export function insert({ text, caret }: TextField, added: string): TextField {
  const safe = editable(added);
  return { text: text.slice(0, caret) + safe + text.slice(caret), caret: caret + safe.length };
}

function deleteWord({ text, caret }: TextField): TextField {
  const kept = text.slice(0, caret).replace(/\S*\s*$/, '');
  return { text: kept + text.slice(caret), caret: kept.length };
}

/** The part of a long text around the caret that fits into this many columns. */
export function aroundCaret({ text, caret }: TextField, room: number): TextField {
  if (displayWidth(text) < room) return { text, caret };
  let start = caret;
  let width = 0;
  for (const character of charactersOf(text.slice(0, caret)).toReversed()) {
    width += displayWidth(character);
    if (width >= room - 1) break;
    start -= character.length;
  }
  return { text: takeColumns(text.slice(start), room), caret: caret - start };
}
