/** Rows in columns that fit the width of the terminal. */
import { printable } from '../../text/printable.ts';
import { displayWidth, pad, truncate } from '../../text/width.ts';
import { type Paint, paint, type Style } from './style.ts';

export interface Column<T> {
  header: string;
  /** The text of the cell as received: the table makes it safe to show. */
  cell(item: T, style: Style): string;
  paint?(item: T): Paint | null;
  align?: 'left' | 'right';
  /** Whether the rows are in the order of this column. The header shows it to people, but not to programs. */
  ascending?: boolean;
  /** Shown only in the format `wide`. */
  wide?: boolean;
  /** The width, in columns of the terminal, down to which the column may be cut if the line is too long. */
  shrinkTo?: number;
  /**
   * Whether the column is left out if that is not enough: the last one first, and `dear` ones only after all others.
   */
  optional?: boolean | 'dear';
}

const GAP = 2;

interface Prepared<T> {
  column: Column<T>;
  width: number;
}

/**
 * The lines without line breaks; none if there are no items. Each is made when it is asked for, and its cells a second
 * time: those of a long table take more memory than there may be.
 */
export function* tableLines<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  style: Style,
): Generator<string> {
  if (items.length === 0) return;
  const fitting = fit(
    columns.map((column) => prepare(items, column, style)),
    style.width,
  );
  const heading = fitting.map(({ column, width }) =>
    pad(truncate(column.header, width, style.signs.ellipsis), width, column.align),
  );
  yield paint(style, 'dim', cut(heading.join(' '.repeat(GAP)), style));
  for (const item of items) yield renderRow(fitting, item, style);
}

function prepare<T>(items: readonly T[], column: Column<T>, style: Style): Prepared<T> {
  const header =
    column.ascending && style.terminal ? `${column.header} ${style.signs.ascending}` : column.header;
  const width = items.reduce(
    (widest, item) => Math.max(widest, displayWidth(cellOf(item, column, style))),
    header.length,
  );
  return { column: { ...column, header }, width };
}

function cellOf<T>(item: T, column: Column<T>, style: Style): string {
  return printable(column.cell(item, style)) || '-';
}

function totalWidth<T>(prepared: readonly Prepared<T>[]): number {
  return prepared.reduce((sum, { width }) => sum + width + GAP, -GAP);
}

/** Cuts the widest column that may be cut until the line fits, and after that leaves out what is optional. */
function fit<T>(prepared: readonly Prepared<T>[], limit: number): Prepared<T>[] {
  const fitting = prepared.map((one) => ({ ...one }));
  let excess = totalWidth(fitting) - limit;
  while (excess > 0) {
    const [widest] = fitting
      .filter(({ column, width }) => column.shrinkTo !== undefined && width > column.shrinkTo)
      .sort((one, other) => other.width - one.width);
    if (!widest) break;
    const least = widest.column.shrinkTo ?? 0;
    widest.width -= Math.min(excess, widest.width - least, Math.max(1, Math.ceil(excess / 2)));
    excess = totalWidth(fitting) - limit;
  }
  if (excess <= 0) return fitting;
  const cheap = prepared.findLastIndex(({ column }) => column.optional === true);
  const last = cheap < 0 ? prepared.findLastIndex(({ column }) => column.optional) : cheap;
  return last < 0 ? fitting : fit(prepared.toSpliced(last, 1), limit);
}

function renderRow<T>(prepared: readonly Prepared<T>[], item: T, style: Style): string {
  const cells = prepared.map(({ column, width }) => ({
    colour: column.paint?.(item) ?? null,
    text: pad(truncate(cellOf(item, column, style), width, style.signs.ellipsis), width, column.align),
  }));
  // Colour codes have no width, so they are added after the line was cut.
  const plain = cells.map(({ text }) => text).join(' '.repeat(GAP));
  if (displayWidth(plain) > style.width) return cut(plain, style);
  return cells
    .map(({ colour, text }, index) => {
      const shown = index === cells.length - 1 ? text.trimEnd() : text;
      return paint(style, colour, shown);
    })
    .join(' '.repeat(GAP));
}

function cut(line: string, { width, signs }: Style): string {
  return truncate(line.trimEnd(), width, signs.ellipsis);
}
