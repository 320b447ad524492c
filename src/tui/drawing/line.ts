/** A line on the screen is made of stretches of text, each in one style. */
import { displayWidth, takeColumns, toAscii } from '../../text/width.ts';
import type { Color } from './glyphs.ts';

/** A stretch of text in one style. */
export interface Span {
  text: string;
  color?: Color;
  bold?: boolean;
  dim?: boolean;
  inverse?: boolean;
}

export type Line = readonly Span[];

export function widthOfLine(line: Line): number {
  return line.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** Cuts the line at `width` columns. */
export function clip(line: Line, width: number): Line {
  const clipped: Span[] = [];
  let room = width;
  for (const span of line) {
    if (room <= 0) break;
    const text = takeColumns(span.text, room);
    clipped.push({ ...span, text });
    room -= displayWidth(text);
  }
  return clipped;
}

/**
 * Draws a line as selected: inverted, as wide as the screen, and without colours or faint text, which are hard to read
 * when they are inverted.
 */
export function selectedLine(line: Line, width: number): Line {
  const rest = Math.max(0, width - widthOfLine(line));
  return [...line, { text: ' '.repeat(rest) }].map(({ text, bold }) => ({
    text,
    inverse: true,
    ...(bold === undefined ? {} : { bold }),
  }));
}

/** The lines for a terminal without Unicode. */
export function asciiLines(lines: readonly Line[]): Line[] {
  return lines.map((line) => line.map((span) => ({ ...span, text: toAscii(span.text) })));
}
