/** Text from outside, made safe for a terminal and measured in its columns. */
import stringWidth from 'string-width';

const PLAIN = /^[\x20-\x7e]*$/;

/** Controls and invisible formatting; variation selectors too, on whose width terminals disagree. */
const UNSAFE = /\ufe0e|\ufe0f|[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const graphemes = new Intl.Segmenter();

/** One line without anything a terminal could obey. Tabs and line ends become spaces, so that words stay apart. */
export function clean(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(/[\t\r\n]+/g, ' ').replace(UNSAFE, '');
}

/** Sequences for colours and the like, which jobs print for a terminal of their own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with an escape.
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** The lines of a longer text, each safe and without colours; tabs are kept as four spaces. */
export function cleanLines(text: string): string[] {
  return text
    .replace(SEQUENCES, '')
    .split(/\r\n|[\n\r]/)
    .map((line) => clean(line.replaceAll('\t', '    ')));
}

/** What a terminal that knows only ASCII shows of it. */
export function toAscii(text: string): string {
  if (PLAIN.test(text)) return text;
  let ascii = '';
  for (const { segment } of graphemes.segment(text)) {
    ascii += PLAIN.test(segment) ? segment : '?'.repeat(Math.max(1, stringWidth(segment)));
  }
  return ascii;
}

/** How many columns it takes. */
export function widthOf(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

/** Exactly `width` columns: padded on the right, or cut with `ellipsis` as its last column. */
export function fit(text: string, width: number, ellipsis = '…'): string {
  if (width <= 0) return '';
  const actual = widthOf(text);
  if (actual <= width) return text + ' '.repeat(width - actual);
  const cut = takeColumns(text, width - 1);
  return `${cut}${' '.repeat(width - 1 - widthOf(cut))}${ellipsis}`;
}

/** Like `fit`, padded on the left. */
export function fitRight(text: string, width: number, ellipsis = '…'): string {
  const actual = widthOf(text);
  return actual < width ? ' '.repeat(width - actual) + text : fit(text, width, ellipsis);
}

/** The longest beginning of `text` that takes at most `columns`; a wide character is never split. */
export function takeColumns(text: string, columns: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, columns));
  let taken = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += widthOf(segment);
    if (used > columns) break;
    taken += segment;
  }
  return taken;
}

/** Breaks a sentence into lines of at most `room` columns, between words where it can; a character takes its own. */
export function wrapWords(text: string, room: number): string[] {
  const width = Math.max(1, room);
  const lines: string[] = [];
  let line = '';
  for (let word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (widthOf(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    while (widthOf(word) > width) {
      const part = takeColumns(word, width) || (charactersOf(word)[0] ?? '');
      lines.push(part);
      word = word.slice(part.length);
    }
    line = word;
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/** Its user-perceived characters. */
export function charactersOf(text: string): string[] {
  return PLAIN.test(text) ? [...text] : Array.from(graphemes.segment(text), ({ segment }) => segment);
}
