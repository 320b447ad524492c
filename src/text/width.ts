/** How many columns of a terminal a text takes, and how to make it take fewer or more. */

const ASCII = /^[\x20-\x7e]*$/;

/**
 * A character as a reader sees it: a flag, or something with the accents and skin tones that follow it. Joiners are
 * no part of it, because text from outside has none when it gets here. `Intl.Segmenter` knows more scripts, and
 * takes longer to load than the rest of a command.
 */
const CHARACTER = /\p{Regional_Indicator}{2}|.[\p{Mn}\p{Me}\p{Emoji_Modifier}]*/gsu;

/** No column of their own: marks that sit on the character before, and the later parts of a Korean syllable. */
const MARK = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}\u1160-\u11ff]/u;
const EMOJI = /^\p{Emoji_Presentation}/u;

/** The ranges of Unicode's East Asian Width "wide" and "fullwidth" that are no emoji. */
const WIDE: readonly (readonly [from: number, to: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
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

/** Cuts between characters as a reader sees them, and says with an ellipsis of one column that something is missing. */
export function truncate(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const character of charactersOf(text)) {
    used += widthOf(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width < 1 ? '' : kept + ellipsis;
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + space : space + text;
}

function charactersOf(text: string): readonly string[] {
  return text.match(CHARACTER) ?? [];
}

function widthOf(character: string): number {
  if (MARK.test(character)) return 0;
  return EMOJI.test(character) || isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
}

function isWide(code: number): boolean {
  return code >= 0x1100 && WIDE.some(([from, to]) => from <= code && code <= to);
}
