/** Chooses the columns of the table that fit into the screen. */

export type ColumnId = 'status' | 'name' | 'interval' | 'last' | 'due' | 'bar' | 'history' | 'tags' | 'said';

export interface Column {
  id: ColumnId;
  title: string;
  width: number;
}

/** The width of the signs for selected and marked rows, before the first column. */
export const GUTTER = 2;

/** The width of the gap between two columns. */
export const GAP = 1;

const NAME_LEAST = 12;

const FIXED: readonly Column[] = [
  { id: 'status', title: 'STATUS', width: 9 },
  { id: 'name', title: 'NAME', width: NAME_LEAST },
  { id: 'interval', title: 'INTERVAL', width: 9 },
  { id: 'last', title: 'LAST', width: 6 },
  { id: 'due', title: 'DUE', width: 6 },
  { id: 'bar', title: '', width: 8 },
  { id: 'history', title: 'HISTORY', width: 12 },
  { id: 'tags', title: 'TAGS', width: 10 },
  { id: 'said', title: 'SAID', width: 24 },
];

/**
 * Columns are dropped in this order as the terminal gets narrower. What is left at 40 columns says what is wrong, and
 * since when.
 */
const DROPPED_FIRST: readonly ColumnId[] = ['said', 'tags', 'bar', 'history', 'interval', 'due', 'last'];

/** Spare width goes to these columns in this order, each up to a width that is useful for it. */
const GROWING: readonly { id: ColumnId; most: number }[] = [
  { id: 'name', most: 32 },
  { id: 'tags', most: 20 },
  { id: 'history', most: 24 },
  { id: 'said', most: 32 },
  { id: 'name', most: 48 },
  { id: 'history', most: 40 },
  { id: 'tags', most: 32 },
  { id: 'said', most: 1_000 },
];

export function columnsFor(width: number): readonly Column[] {
  let columns = FIXED;
  for (const id of DROPPED_FIRST) {
    if (widthOf(columns) <= width) break;
    columns = columns.filter((column) => column.id !== id);
  }
  return spread(columns, width - widthOf(columns));
}

function widthOf(columns: readonly Column[]): number {
  return GUTTER + columns.reduce((sum, column) => sum + column.width, 0) + GAP * (columns.length - 1);
}

/** If the terminal is too narrow even for the columns that always stay, the name is cut to what fits. */
function spread(columns: readonly Column[], spare: number): readonly Column[] {
  const widths = new Map(columns.map(({ id, width }) => [id, width]));
  let left = spare;
  for (const { id, most } of [...GROWING, { id: 'name', most: Number.POSITIVE_INFINITY } as const]) {
    const width = widths.get(id);
    if (width === undefined || left <= 0) continue;
    const added = Math.min(left, Math.max(0, most - width));
    widths.set(id, width + added);
    left -= added;
  }
  if (left < 0) widths.set('name', Math.max(1, NAME_LEAST + left));
  return columns.map((column) => ({ ...column, width: widths.get(column.id) ?? column.width }));
}
