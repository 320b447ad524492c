/** How output is shown: the width and colours of the terminal, and the present time for relative times. */
import { type Signs, signsFor } from '../../text/signs.ts';

export type Paint = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'dim' | 'bold';

const CODES: Record<Paint, readonly [on: number, off: number]> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
};

export interface Style {
  /** Whether a person reads the output, who gets relative times, symbols, and lines cut to the width. */
  terminal: boolean;
  color: boolean;
  signs: Signs;
  /** Columns of the terminal; infinite without one. */
  width: number;
  /** Milliseconds since the epoch. */
  now: number;
}

export interface Stream {
  isTTY?: boolean;
  columns?: number;
}

export function styleOf(stream: Stream, env: NodeJS.ProcessEnv, now: number): Style {
  const terminal = stream.isTTY === true;
  return {
    terminal,
    color: terminal && !env.NO_COLOR && env.TERM !== 'dumb',
    signs: signsFor(env),
    width: widthOf(stream, env),
    now,
  };
}

/** COLUMNS counts even without a terminal, for those who want lines of a certain length in a pipe. */
function widthOf({ isTTY, columns }: Stream, { COLUMNS }: NodeJS.ProcessEnv): number {
  if (isTTY && columns) return columns;
  return COLUMNS && /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : Number.POSITIVE_INFINITY;
}

export function paint(style: Pick<Style, 'color'>, colour: Paint | null, text: string): string {
  if (!style.color || colour === null || text === '') return text;
  const [on, off] = CODES[colour];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
