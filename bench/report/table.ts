/** Figures of rounds as lines of a table. Pure. */
import type { Case, Figures, Line, Sizes, Unit } from '../cases/case.ts';
import { median } from '../quantile.ts';

/** What the rounds of one case measured, for the program here and for the one beside it. */
export interface Outcome {
  case: Case;
  here: readonly Figures[];
  /** Empty if no other commit was named. */
  beside: readonly Figures[];
  /** What went wrong, if it did not finish; otherwise null. */
  problem: string | null;
}

export const COLUMNS = [
  'Case',
  'What',
  'Measured',
  'Smallest and largest',
  'Beside it',
  'Ratio',
  'Aim',
  'Met',
] as const;

/** The columns that a named commit adds. */
export function columnsBeside(commit: string): string[] {
  return [`At ${commit}`, 'Here to there'];
}

const ABSENT = '–';

/** @param withBeside whether another commit was named */
export function rowsOf(outcome: Outcome, sizes: Sizes, withBeside: boolean): string[][] {
  return outcome.case.lines(sizes).map((line) => rowOf(line, outcome, withBeside));
}

function rowOf(line: Line, outcome: Outcome, withBeside: boolean): string[] {
  const {
    case: { name },
    here,
    beside,
    problem,
  } = outcome;
  const own = medianOf(here, line.figure);
  const other = line.beside ? medianOf(here, line.beside.figure) : Number.NaN;
  const there = medianOf(beside, line.figure);
  const figure = here.length === 0 && problem !== null ? 'failed' : formatted(own, line.unit);
  return [
    `\`${name}\``,
    line.what,
    figure,
    range(here, line),
    besideOf(line, other),
    ratio(own, other),
    aimOf(line),
    verdict(line, own, other),
    ...(withBeside ? [formatted(there, line.unit), ratio(own, there)] : []),
  ];
}

function medianOf(rounds: readonly Figures[], figure: string): number {
  return median(rounds.map((figures) => figures[figure] ?? Number.NaN));
}

/** The smallest and the largest of the rounds, if there was more than one. */
function range(rounds: readonly Figures[], { figure, unit }: Line): string {
  const values = rounds.map((figures) => figures[figure] ?? Number.NaN);
  if (values.length < 2) return '';
  return [Math.min(...values), Math.max(...values)].map((value) => formatted(value, unit)).join(', ');
}

function besideOf({ beside, unit }: Line, value: number): string {
  if (!beside) return '';
  return `${beside.name}: ${formatted(value, unit)}`;
}

function ratio(own: number, other: number): string {
  const value = own / other;
  return Number.isFinite(value) ? value.toFixed(value < 10 ? 2 : 0) : '';
}

export function formatted(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return ABSENT;
  switch (unit) {
    case 'a second':
      return `${Math.round(value).toLocaleString('en-US')}/s`;
    case 'µs':
      return `${digits(value)} µs`;
    case 'ms':
      return `${digits(value)} ms`;
    case 's':
      return `${digits(value)} s`;
    case 'bytes':
      return `${digits(value / 1e6)} MB`;
  }
}

function digits(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

function aimOf({ aim, unit }: Line): string {
  if (!aim) return '';
  const [sign, bound] = aim.least === undefined ? ['≤', aim.most ?? Number.NaN] : ['≥', aim.least];
  if (aim.of === 'ratio') return `ratio ${sign} ${bound}`;
  const text =
    unit === 'bytes'
      ? `${plain(bound / 1e6)} MB`
      : `${plain(bound)}${unit === 'a second' ? '/s' : ` ${unit}`}`;
  return aim.of === 'difference' ? `${sign} ${text} more` : `${sign} ${text}`;
}

function plain(value: number): string {
  return value.toLocaleString('en-US');
}

function verdict({ aim }: Line, own: number, other: number): string {
  if (!aim) return '';
  const value = { figure: own, ratio: own / other, difference: own - other }[aim.of];
  if (Number.isNaN(value)) return '';
  const isMet =
    value >= (aim.least ?? Number.NEGATIVE_INFINITY) && value <= (aim.most ?? Number.POSITIVE_INFINITY);
  return isMet ? 'yes' : 'no';
}

/** For a terminal: columns of equal width. */
export function plainTable(columns: readonly string[], rows: readonly string[][]): string {
  const all = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll('`', '')));
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function markdownTable(columns: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`.replace(/ {2}\|/g, ' |');
  return [line(columns), `|${columns.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}
