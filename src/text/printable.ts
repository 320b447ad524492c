/** Makes text from outside (names, messages, answers) safe to show on a terminal, in mails and in the log. */
import { charactersOf } from './width.ts';

/** Control and format characters, including bidirectional marks, and the line separators of Unicode. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const UNPRINTABLE_IN_LINES = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Joiners and variation selectors only choose a glyph, and terminals disagree about the width of the result. */
const GLYPH_CHOICE = /\u200c|\u200d|\ufe0e|\ufe0f/g;

/** Nearly all text is plain, and this is checked for every cell of a table. */
const PLAIN = /^[\x20-\x7e]*$/;

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text in one line. Characters that control a terminal or are invisible become escapes. */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.toWellFormed().replace(GLYPH_CHOICE, '').replace(UNPRINTABLE, escapeCharacter);
}

/** Like `printable`, for text that may have several lines. Tabs become spaces. */
export function printableLines(text: string): string[] {
  return text.split(/\r\n|[\n\r]/).map((line) => printable(line.replaceAll('\t', '    ')));
}

/** Sequences for colours and the like, which jobs print for a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with an escape.
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** Like `printableLines`, for the output of a job: without its colours. */
export function outputLines(text: string): string[] {
  return printableLines(text.replace(SEQUENCES, ''));
}

/** The text as it can be edited in one line: line ends and tabs become spaces, invisible characters are removed. */
export function editable(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(GLYPH_CHOICE, '')
    .replace(UNPRINTABLE, '');
}

/**
 * Escapes characters that control a terminal or are invisible, as far as JSON itself does not. The value stays the
 * same, and so do line breaks between the lines of JSON.
 */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE_IN_LINES, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(''),
  );
}

/** Cuts the text to `limit` characters (UTF-16) without splitting an emoji, or a letter from its accent. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let kept = '';
  for (const character of charactersOf(text.slice(0, limit))) {
    if (kept.length + character.length > limit - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Keeps the end of the text, from the beginning of a line if that does not lose too much. */
export function shortenFront(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.slice(1 - limit).toWellFormed();
  const line = end.indexOf('\n') + 1;
  return `…\n${end.slice(line < limit / 2 ? line : 0)}`;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return NAMED[character] ?? (code > 0xffff ? `\\u{${code.toString(16)}}` : escapeUnit(code));
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
