/** Measures how many columns of a terminal a text takes, and cuts or pads it. */

const ASCII = /^[\x20-\x7e]*$/;

/**
 * A character as a reader sees it: a flag, or a character with the accents and skin tones that follow it. There are no
 * joiners, because they are removed before text gets here. `Intl.Segmenter` knows more scripts, but takes longer to
 * load than the rest of a command, and packages that use it count an Indic syllable as one column, while terminals
 * draw each of its parts.
 */
const CHARACTER = /\p{Regional_Indicator}{2}|.[\p{Mn}\p{Me}\p{Emoji_Modifier}\u1160-\u11ff]*/gsu;

/**
 * Characters without a column of their own: marks on the previous character, and the later parts of a Korean syllable.
 */
const MARK = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}\u1160-\u11ff]/u;
/** Half a flag on its own is as narrow as a letter. */
const EMOJI = /^(?:\p{Regional_Indicator}{2}|(?!\p{Regional_Indicator})\p{Emoji_Presentation})/u;

/** The ranges that are "wide" or "fullwidth" in Unicode 17's East Asian Width, without emoji. */
const WIDE: readonly (readonly [from: number, to: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2630, 0x2637],
  [0x268a, 0x268f],
  [0x2e80, 0x303e],
  [0x3041, 0x3247],
  [0x3250, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4dc0, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18d1e],
  [0x18d80, 0x18df2],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d356],
  [0x1d360, 0x1d376],
  [0x1f200, 0x1f265],
  [0x20000, 0x2fffd],
  [0x30000, 0x3fffd],
];

/** @param text without control characters */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of charactersOf(text)) width += widthOf(character);
  return width;
}

/** The characters as a reader sees them. */
export function charactersOf(text: string): readonly string[] {
  return text.match(CHARACTER) ?? [];
}

/** The longest beginning of the text that takes at most `columns`. A wide character is never split. */
export function takeColumns(text: string, columns: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, columns));
  let taken = '';
  let used = 0;
  for (const character of charactersOf(text)) {
    used += widthOf(character);
    if (used > columns) break;
    taken += character;
  }
  return taken;
}

/** Cuts the text to at most `width` columns. An ellipsis of one column shows that something is missing. */
export function truncate(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? '' : takeColumns(text, width - 1) + ellipsis;
}

/** Pads the text to at least `width` columns. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + space : space + text;
}

/** Exactly `width` columns: padded on the right, or cut with `ellipsis` as its last column. */
export function fit(text: string, width: number, ellipsis = '…'): string {
  if (width <= 0) return '';
  if (displayWidth(text) <= width) return pad(text, width);
  return pad(takeColumns(text, width - 1), width - 1) + ellipsis;
}

/** Like `fit`, padded on the left. */
export function fitRight(text: string, width: number, ellipsis = '…'): string {
  return displayWidth(text) < width ? pad(text, width, 'right') : fit(text, width, ellipsis);
}

/** Breaks a sentence into lines of at most `room` columns, between words if possible, never within a character. */
export function wrapWords(text: string, room: number): string[] {
  const width = Math.max(1, room);
  const lines: string[] = [];
  let line = '';
  for (let word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    while (displayWidth(word) > width) {
      const part = takeColumns(word, width) || (charactersOf(word)[0] ?? '');
      lines.push(part);
      word = word.slice(part.length);
    }
    line = word;
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/** The text for a terminal that knows only ASCII: equally wide, with question marks for everything else. */
export function toAscii(text: string): string {
  if (ASCII.test(text)) return text;
  return charactersOf(text)
    .map((character) => (ASCII.test(character) ? character : '?'.repeat(Math.max(1, widthOf(character)))))
    .join('');
}

function widthOf(character: string): number {
  if (MARK.test(character)) return 0;
  return EMOJI.test(character) || isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
}

function isWide(code: number): boolean {
  return code >= 0x1100 && WIDE.some(([from, to]) => from <= code && code <= to);
}
