/** What the mouse does: a click selects, one on the selected row opens it, one on a title sorts, the wheel scrolls. */
import { columnsFor } from './columns.ts';
import { layoutOf } from './layout.ts';
import { scrollBy } from './movement.ts';
import { openSelected, sortBy } from './press.ts';
import { cursorIndex, selectIndex } from './selection.ts';
import { type State, type Step, stay } from './state.ts';
import { sortKeyAt } from './table-lines.ts';

/** @param at the place on the screen, from 0 */
export function clickAt(state: State, at: { row: number; column: number }): Step {
  const { bodyTop, bodyHeight } = layoutOf(state);
  const line = at.row - bodyTop - 1;
  if (!state.overlay && line === -1 && state.screen.kind === 'table') {
    return stay(clickTitle(state, at.column));
  }
  if (state.overlay || line < 0 || line >= bodyHeight - 1) return stay(state);
  if (state.screen.kind === 'alerts') {
    return stay({ ...state, screen: { ...state.screen, cursor: state.screen.top + line } });
  }
  if (state.screen.kind !== 'table') return stay(state);
  const index = state.top + line;
  if (index >= state.collection.shown.length) return stay(state);
  if (state.cursor !== null && index === cursorIndex(state)) return openSelected(state);
  return stay(selectIndex(state, index));
}

/** Sorts by the column, or reverses the order if the table is sorted by it already. */
function clickTitle(state: State, column: number): State {
  const sort = sortKeyAt(column, columnsFor(state.size.columns));
  if (sort === undefined) return state;
  const { arrangement } = state.collection;
  return sortBy(state, { sort, reverse: arrangement.sort === sort && !arrangement.reverse });
}

/** Rows per notch of the wheel. */
const NOTCH = 3;

export function wheel(state: State, by: number): State {
  return scrollBy(state, by * NOTCH);
}
