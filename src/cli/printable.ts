/** Text from outside (names, messages, answers of servers), made safe to show on a terminal. */

/** Control and format characters (bidirectional marks among them) and the line separators of Unicode. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Joiners and variation selectors only choose a glyph, and terminals disagree about the width of what they make. */
const GLYPH_CHOICE = /\u200c|\u200d|\ufe0e|\ufe0f/g;

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** `text` in one line; every character that could steer a terminal or hide is written as an escape. */
export function printable(text: string): string {
  // Names are nearly always plain, and this is asked for every cell.
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.toWellFormed().replace(GLYPH_CHOICE, '').replace(UNPRINTABLE, escapeCharacter);
}

/** As `printable`, for text that may have lines of its own. */
export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => printable(line.replaceAll('\t', '    ')));
}

function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return NAMED[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
}
