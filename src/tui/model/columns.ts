/** Which columns of the table there is room for. */

export type ColumnId = 'status' | 'name' | 'interval' | 'last' | 'left' | 'bar' | 'history' | 'tags';

export interface Column {
  id: ColumnId;
  title: string;
  width: number;
}

/** Columns that mark the selected and the marked rows, before the first column. */
export const GUTTER = 2;

/** Between two columns. */
export const GAP = 1;

const NAME_LEAST = 12;
const NAME_MOST = 48;
const TAGS_LEAST = 10;

const FIXED: readonly Column[] = [
  { id: 'status', title: 'STATUS', width: 9 },
  { id: 'name', title: 'NAME', width: NAME_LEAST },
  { id: 'interval', title: 'INTERVAL', width: 9 },
  { id: 'last', title: 'LAST', width: 6 },
  { id: 'left', title: 'LEFT', width: 6 },
  { id: 'bar', title: '', width: 8 },
  { id: 'history', title: 'HISTORY', width: 12 },
  { id: 'tags', title: 'TAGS', width: TAGS_LEAST },
];

/** Dropped in this order as the terminal gets narrower: what is left at 40 columns says what is wrong, and since when. */
const DROPPED_FIRST: readonly ColumnId[] = ['tags', 'bar', 'history', 'interval', 'left', 'last'];

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

/** Names get what is left over, up to a width that reads well; then the tags. */
function spread(columns: readonly Column[], spare: number): readonly Column[] {
  const hasTags = columns.some(({ id }) => id === 'tags');
  const forName = hasTags ? Math.min(Math.ceil(spare * 0.6), NAME_MOST - NAME_LEAST) : spare;
  return columns.map((column) => {
    if (column.id === 'name') return { ...column, width: Math.max(1, column.width + forName) };
    return column.id === 'tags' ? { ...column, width: column.width + spare - forName } : column;
  });
}
