/** Cuts text to the length a service accepts, after escaping everything in it that the service would read as markup. */
import { codePoints } from '../../text/code-points.ts';

export interface Fitting {
  /** What stands for one character of the text: an entity, a backslash and the character, or the character itself. */
  spell?: (character: string) => string;
  /** What the service counts. */
  size?: (text: string) => number;
}

/** The size of a text in UTF-8. */
export function bytes(text: string): number {
  return Buffer.byteLength(text);
}

/** The size of a text within JSON in UTF-8, with all that is escaped there. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/**
 * The escaped text, of at most `limit` in size, including the `…` at the end if it was cut. It is cut between
 * characters of the original text, so never within an entity, an escape or a surrogate pair.
 */
export function fitted(
  text: string,
  limit: number,
  { spell = itself, size = codePoints }: Fitting = {},
): string {
  const room = limit - size('…');
  let shown = '';
  let whole = 0;
  let used = 0;
  for (const character of text.toWellFormed()) {
    const piece = spell(character);
    used += size(piece);
    if (used > limit) return `${shown.slice(0, whole)}…`;
    shown += piece;
    if (used <= room) whole = shown.length;
  }
  return shown;
}

function itself(character: string): string {
  return character;
}
