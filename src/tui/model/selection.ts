/** The snitch that the keys act on. */

import { clamp, scrollTo } from '../drawing/window.ts';
import type { Entry } from './entry.ts';
import { listHeight } from './layout.ts';
import type { State } from './state.ts';

/** The index of the selected row among those shown; 0 if nothing is selected or shown. */
export function cursorIndex({ cursor, collection: { shown } }: State): number {
  if (cursor === null) return 0;
  return Math.max(
    0,
    shown.findIndex(({ token }) => token === cursor),
  );
}

export function selectIndex(state: State, index: number): State {
  const { shown } = state.collection;
  const bounded = clamp(index, 0, shown.length - 1);
  const top = scrollTo(bounded, state.top, listHeight(state), shown.length);
  return { ...state, cursor: shown[bounded]?.token ?? null, top };
}

/**
 * Keeps the selection on its snitch when the list changes. If the snitch is gone, the row in its place is selected, so
 * that a key never acts on a snitch somewhere else on the screen.
 */
export function keepSelection(before: State, after: State): State {
  const { shown } = after.collection;
  const marks = keepExisting(after);
  if (after.cursor === null) return { ...after, marks, top: scrollTo(0, after.top, 1, shown.length) };
  const isShown = shown.some(({ token }) => token === after.cursor);
  return selectIndex({ ...after, marks }, isShown ? cursorIndex(after) : cursorIndex(before));
}

function keepExisting({ marks, collection: { entries } }: State): ReadonlySet<string> {
  if ([...marks].every((token) => entries.has(token))) return marks;
  return new Set([...marks].filter((token) => entries.has(token)));
}

/** The snitch that the keys of this screen act on. */
export function selected(state: State): Entry | undefined {
  const { entries, shown } = state.collection;
  if (state.screen.kind === 'detail') return entries.get(state.screen.token);
  return shown[cursorIndex(state)];
}

/** The marked snitches, or else the selected one. */
export function targets(state: State): readonly string[] {
  if (state.screen.kind === 'table' && state.marks.size > 0) return [...state.marks];
  const entry = selected(state);
  return entry ? [entry.token] : [];
}

/** `nightly-backup`, or `3 snitches` */
export function nameOf(state: State, tokens: readonly string[]): string {
  const [only] = tokens;
  if (tokens.length !== 1 || only === undefined) return `${tokens.length} snitches`;
  return state.collection.entries.get(only)?.name ?? only;
}

/** The rows of the table that are on the screen. */
export function visibleEntries(state: State): readonly Entry[] {
  return state.collection.shown.slice(state.top, state.top + listHeight(state));
}
