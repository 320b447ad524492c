/** Text from outside, made safe to show in a line of mail or of the log. */

/** Control and format characters (bidirectional marks among them) and the line separators of Unicode. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const UNPRINTABLE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** `text` in one line, every character that does not show written as an escape, cut to `limit` characters. */
export function printable(text: string, limit: number): string {
  return shorten(text.toWellFormed().replace(UNPRINTABLE, escapeCharacter), limit);
}

/** As `printable`, but line breaks and tabs stay. */
export function printableLines(text: string, limit: number): string {
  const lines = text.toWellFormed().replaceAll('\r\n', '\n').replace(UNPRINTABLE_IN_LINES, escapeCharacter);
  return shorten(lines, limit);
}

/** Cuts between characters as a reader sees them, so that an emoji or an accent is never halved. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(text.slice(0, limit))) {
    if (index + segment.length > limit - 1) break;
    end = index + segment.length;
  }
  return `${text.slice(0, end)}…`;
}

/** Keeps the end, and begins it with a whole line where there is one. */
export function shortenFront(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.slice(1 - limit).toWellFormed();
  const line = end.indexOf('\n') + 1;
  return `…\n${end.slice(line < limit / 2 ? line : 0)}`;
}

function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return NAMED[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
}
