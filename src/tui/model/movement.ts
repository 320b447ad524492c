/** Moving through a list or a text with keys and wheel. */

import { UNICODE } from '../drawing/glyphs.ts';
import { clamp, scrollTo } from '../drawing/window.ts';
import { detailLines } from './detail-lines.ts';
import { layoutOf, listHeight } from './layout.ts';
import { helpLines } from './prompt-lines.ts';
import { cursorIndex, selectIndex } from './selection.ts';
import type { AlertsScreen, State } from './state.ts';

export type Move = 'down' | 'up' | 'page-down' | 'page-up' | 'first' | 'last';

const MOVES: readonly string[] = ['down', 'up', 'page-down', 'page-up', 'first', 'last'] satisfies Move[];

export function isMove<T extends string>(action: T): action is T & Move {
  return MOVES.includes(action);
}

export function move(state: State, action: Move): State {
  const page = Math.max(1, listHeight(state) - 1);
  const by: Record<Move, number> = {
    down: 1,
    up: -1,
    'page-down': page,
    'page-up': -page,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
  };
  return scrollBy(state, by[action]);
}

/** Moves the selection of a list, or scrolls a text. */
export function scrollBy(state: State, by: number): State {
  const { screen, overlay } = state;
  if (overlay?.kind === 'help') {
    return { ...state, overlay: { ...overlay, scroll: clamp(overlay.scroll + by, 0, mostScroll(state)) } };
  }
  if (overlay) return state;
  if (screen.kind === 'detail') {
    return { ...state, screen: { ...screen, scroll: clamp(screen.scroll + by, 0, mostScroll(state)) } };
  }
  if (screen.kind === 'alerts') return { ...state, screen: moveInAlerts(screen, by, listHeight(state)) };
  return selectIndex(state, clamp(cursorIndex(state) + by, 0, state.collection.shown.length));
}

/** How far the text can be scrolled. Without this limit, scrolling back would at first do nothing visible. */
function mostScroll(state: State): number {
  const { screen, overlay, now } = state;
  const { bodyHeight } = layoutOf(state);
  if (overlay?.kind === 'help') return Math.max(0, helpLines(state, UNICODE).length - bodyHeight);
  const entry = screen.kind === 'detail' ? state.collection.entries.get(screen.token) : undefined;
  if (screen.kind !== 'detail' || !entry) return 0;
  const lines = detailLines(entry, screen, { width: state.size.columns, glyphs: UNICODE, now });
  return Math.max(0, lines.length - bodyHeight);
}

export function moveInAlerts(screen: AlertsScreen, by: number, height: number): AlertsScreen {
  const count = (screen.tab === 'alerts' ? screen.alerts : screen.deliveries)?.length ?? 0;
  const cursor = clamp(screen.cursor + by, 0, count - 1);
  return {
    ...screen,
    cursor: Math.max(0, cursor),
    top: scrollTo(Math.max(0, cursor), screen.top, height, count),
  };
}
