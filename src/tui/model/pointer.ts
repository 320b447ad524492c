/** What the mouse does: a click selects, a click on the selected row opens it, the wheel scrolls. */
import { layoutOf } from './layout.ts';
import { scrollBy } from './movement.ts';
import { openSelected } from './press.ts';
import { cursorIndex, selectIndex } from './selection.ts';
import { type State, type Step, stay } from './state.ts';

/** @param row the row of the screen, from 0 */
export function clickAt(state: State, row: number): Step {
  const { bodyTop, bodyHeight } = layoutOf(state);
  const line = row - bodyTop - 1;
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

/** Rows per notch of the wheel. */
const NOTCH = 3;

export function wheel(state: State, by: number): State {
  return scrollBy(state, by * NOTCH);
}
