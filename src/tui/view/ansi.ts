/** Turns a line and its styles into sequences that a terminal understands. */
import type { Color } from '../drawing/glyphs.ts';
import type { Line, Span } from '../drawing/line.ts';

const COLORS: Record<Color, number> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  gray: 90,
};

/** Which styles a terminal gets: all, all but colours, or nothing but the text. */
export type Styling = 'color' | 'plain' | 'none';

export function ansiOf(line: Line, styling: Styling): string {
  return line.map((span) => (styling === 'none' ? span.text : styled(span, styling))).join('');
}

function styled({ text, color, bold, dim, inverse }: Span, styling: Styling): string {
  if (text === '') return '';
  let result = text;
  if (dim || bold) result = `${dim ? '\u001b[2m' : ''}${bold ? '\u001b[1m' : ''}${result}\u001b[22m`;
  if (color && styling === 'color') result = `\u001b[${COLORS[color]}m${result}\u001b[39m`;
  return inverse ? `\u001b[7m${result}\u001b[27m` : result;
}
