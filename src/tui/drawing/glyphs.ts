/** The characters and colours of the dashboard, for terminals with and without Unicode. */
import type { WireStatus } from '../../api/wire.ts';
import { ASCII_SIGNS, STATUS_COLORS, UNICODE_SIGNS } from '../../text/signs.ts';
import type { PeriodOutcome } from './strip.ts';

/** Only the 16 colours that every terminal has, so that its user's palette decides how they look. */
export type Color = 'red' | 'yellow' | 'green' | 'cyan' | 'magenta' | 'blue' | 'gray';

export interface Glyphs {
  unicode: boolean;
  status: Record<WireStatus, string>;
  period: Record<PeriodOutcome, string>;
  /** The characters from almost empty to full. */
  bar: readonly string[];
  barRest: string;
  spark: readonly string[];
  ellipsis: string;
  cursor: string;
  mark: string;
  silenced: string;
  dot: string;
  rule: string;
  /** Marks the title of the column by which the table is sorted. */
  sorted: { down: string; up: string };
}

export const STATUS_COLOR: Record<WireStatus, Color> = STATUS_COLORS;

export const PERIOD_COLOR: Record<PeriodOutcome, Color> = {
  met: 'green',
  missed: 'red',
  errored: 'yellow',
  paused: 'magenta',
  open: 'cyan',
  unknown: 'gray',
};

export const UNICODE: Glyphs = {
  unicode: true,
  status: UNICODE_SIGNS.status,
  period: { met: '■', missed: '✗', errored: '▲', paused: '‖', open: '·', unknown: ' ' },
  bar: ['╸', '━'],
  barRest: '·',
  spark: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  ellipsis: '…',
  cursor: '❯',
  mark: '●',
  silenced: '◌',
  dot: '·',
  rule: '─',
  sorted: { down: '▾', up: '▴' },
};

export const ASCII: Glyphs = {
  unicode: false,
  status: ASCII_SIGNS.status,
  period: { met: '#', missed: 'X', errored: '!', paused: '=', open: '.', unknown: ' ' },
  bar: ['#'],
  barRest: '.',
  spark: ['_', '.', '-', '~', '=', '+', '*', '#'],
  ellipsis: '~',
  cursor: '>',
  mark: '*',
  silenced: 'z',
  dot: '-',
  rule: '-',
  sorted: { down: 'v', up: '^' },
};
