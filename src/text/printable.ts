/** Text from outside (names, messages, answers of servers), made safe to show on a terminal, in a mail and in the log. */
import { charactersOf } from './width.ts';

/** Control and format characters (bidirectional marks among them) and the line separators of Unicode. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const UNPRINTABLE_IN_LINES = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Joiners and variation selectors only choose a glyph, and terminals disagree about the width of what they make. */
const GLYPH_CHOICE = /\u200c|\u200d|\ufe0e|\ufe0f/g;

/** Names are nearly always plain, and this is asked for every cell of a table. */
const PLAIN = /^[\x20-\x7e]*$/;

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** `text` in one line; every character that could steer a terminal or hide is written as an escape. */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.toWellFormed().replace(GLYPH_CHOICE, '').replace(UNPRINTABLE, escapeCharacter);
}

/** As `printable`, for text that may have lines of its own; tabs become spaces. */
export function printableLines(text: string): string[] {
  return text.split(/\r\n|[\n\r]/).map((line) => printable(line.replaceAll('\t', '    ')));
}

/** Sequences for colours and the like, which jobs print for a terminal of their own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with an escape.
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** As `printableLines`, for what a job printed: without its colours. */
export function outputLines(text: string): string[] {
  return printableLines(text.replace(SEQUENCES, ''));
}

/** What of `text` can be edited in a field of one line: line ends and tabs become spaces, what does not show goes. */
export function editable(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(GLYPH_CHOICE, '')
    .replace(UNPRINTABLE, '');
}

/**
 * Writes what JSON leaves as it is, and what could still steer a terminal or hide, as JSON's own escapes: the value
 * stays the same. Line breaks stay too.
 */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE_IN_LINES, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(''),
  );
}

/** Cut to `limit` characters (UTF-16), but between those that a reader sees: no emoji and no accent is halved. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let kept = '';
  for (const character of charactersOf(text.slice(0, limit))) {
    if (kept.length + character.length > limit - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Keeps the end, and begins it with a whole line where there is one. */
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
